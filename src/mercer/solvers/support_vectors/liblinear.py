"""Support vector problems by scikit-learn's LIBLINEAR: what is left where the core was not compiled."""

from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC, LinearSVR

from mercer._typing import Array
from mercer.solvers.solution import Solution


def liblinear(
    Z: Any, targets: Array, cost: Array, *, loss: str, epsilon: float = 0.0, tol: float = 1e-4, max_iter: int = 1000
) -> Solution:
    r"""Minimise :math:`\frac12 \|w_k\|^2 + \sum_i c_i \ell(t_{ik}, \langle w_k, z_i \rangle)`, one problem at a time.

    The objective is that of ``coordinate_descent``; ``tol`` is LIBLINEAR's, on the projected gradient, and no gap is
    known.

    Parameters
    ----------
    Z : ndarray or CSR array of shape (n, D)
    targets : ndarray of shape (n, K)
    cost : ndarray of shape (n,)
    loss : one of ``LOSSES``
    epsilon, tol, max_iter : see ``sklearn.svm.LinearSVR``

    Returns
    -------
    Solution
        ``value`` (K, D + 1), the weight of the constant feature last.

    References
    ----------
    R.-E. Fan et al., "LIBLINEAR: a library for large linear classification", JMLR 9, 2008.
    """
    options = {"loss": loss, "dual": True, "tol": tol, "max_iter": max_iter, "random_state": 0}
    value = np.zeros((targets.shape[1], Z.shape[1] + 1))
    epochs = 0
    for k, target in enumerate(targets.T):
        model = LinearSVC(**options) if "hinge" in loss else LinearSVR(epsilon=epsilon, **options)
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # said by our own status
            model.fit(Z, target, cost)
        value[k, :-1], value[k, -1] = np.ravel(model.coef_), np.ravel(model.intercept_)[0]
        epochs = max(epochs, int(model.n_iter_))
    details = {"solver": "liblinear"}
    if epochs < max_iter:
        return Solution(value, iterations=epochs, details=details)
    advice = f"{max_iter} epochs were not enough: raise max_iter or tol, lower C, or scale the features."
    return Solution(value, "iteration limit", epochs, (), advice, details)
