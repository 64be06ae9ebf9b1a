"""Scores that any model of a table should beat: a constant, and a linear model."""

import numpy as np

from mercer._typing import Array
from mercer.solvers import singular_path

# Penalties that the linear model chooses from, in units of the largest eigenvalue.
_PENALTIES = np.logspace(-8, 1, 19)


def linear_score(X: Array, y: Array, *, is_classification: bool) -> float:
    """Return the leave-one-out R^2 or accuracy of linear ridge regression, on labels coded by 0 and 1 for classes.

    The penalty is the one of the best score. Time n d min(n, d).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite numbers of about one scale.
    y : ndarray of shape (n,)
        Numbers, or labels.
    is_classification : bool

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(0).standard_normal((100, 2))
    >>> round(linear_score(X, X[:, 0], is_classification=False), 3)
    1.0
    >>> linear_score(X, X[:, 0] > 0, is_classification=True) > 0.8
    True
    """
    codes = np.unique(y, return_inverse=True)[1] if is_classification else None
    Y = np.asarray(y, dtype=np.float64)[:, None] if codes is None else np.eye(int(codes.max()) + 1)[codes]
    Z, T = X - X.mean(axis=0), Y - Y.mean(axis=0)
    path = singular_path(np.asarray(Z, dtype=np.float64), T)
    if not len(path.eigenvalues):  # constant columns
        return _constant(Y, codes)
    A = Z @ path.vectors
    scores = []
    for alpha in _PENALTIES * path.eigenvalues.max():
        shrunk = 1 / (path.eigenvalues + alpha)
        leverage = np.minimum(A**2 @ shrunk + 1 / len(Z), 1 - 1e-9)
        residuals = (T - A @ (path.projected * shrunk[:, None])) / (1 - leverage)[:, None]
        if codes is None:
            scores.append(1 - float(np.sum(residuals**2) / max(np.sum(T**2), 1e-300)))
        else:
            scores.append(float(np.mean(np.argmax(Y - residuals, axis=1) == codes)))
    return max(scores)


def _constant(Y: Array, codes: Array | None) -> float:
    return 0.0 if codes is None else float(Y.mean(axis=0).max())
