"""Ridge systems by Cholesky factorisation."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.ridge.ridge_path import ridge_path
from mercer.solvers.solution import Remedy, Solution, Status


def cholesky(gram: Array, cross: Array, alpha: float) -> Solution:
    """Solve (G + alpha I) w = H for a positive semi-definite G, in D^3 / 3 multiplications and one copy of G.

    If alpha is far below the rounding of G, then G + alpha I may have no factor. The negative eigenvalues of G are then
    set to 0, and the status is "ill-conditioned".

    >>> import numpy as np
    >>> cholesky(np.eye(2), np.ones((2, 1)), 1.0).value.ravel().round(12).tolist()
    [0.5, 0.5]
    """
    shifted = gram.copy()
    shifted[np.diag_indices_from(shifted)] += alpha
    with one_blas_thread():
        try:
            value = cho_solve(cho_factor(shifted, lower=True, overwrite_a=True), cross)
            return Solution.converged(value, "cholesky")
        except LinAlgError:
            value = ridge_path(gram, cross).coef(alpha)
    left = f"alpha={alpha:g} is below the rounding of the features' Gram matrix"
    return Solution.stopped(value, "eigh", Status.ILL_CONDITIONED, left, [Remedy.ALPHA, Remedy.FLOAT64])
