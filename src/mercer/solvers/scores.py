"""Linear scores of rows of features, for all solvers that read rows."""

import numpy as np

from mercer import core
from mercer._typing import Array, Rows


def linear_scores(Z: Rows, coef: Array, intercept: Array) -> Array:
    """Return Z W + b in float64, by a product in the precision of Z.

    Parameters
    ----------
    Z : ndarray or CSR array of shape (n, D)
    coef : ndarray of shape (D, k)
    intercept : ndarray of shape (k,)

    >>> import numpy as np
    >>> linear_scores(np.eye(2), np.array([[1.0], [2.0]]), np.array([0.5])).ravel().tolist()
    [1.5, 2.5]
    """
    scores: Array = core.scores(Z, coef.astype(Z.dtype, copy=False)).astype(np.float64) + intercept
    return scores
