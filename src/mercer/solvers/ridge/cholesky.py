"""Ridge systems by Cholesky factorisation."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.ridge.ridge_path import ridge_path
from mercer.solvers.solution import Solution


def cholesky(gram: Array, cross: Array, alpha: float) -> Solution:
    """Solve (G + alpha I) w = H for a positive semi-definite G, in D^3 / 3 multiplications and one copy of G.

    Where rounding leaves G + alpha I without a factor (alpha far below the rounding of G), negative eigenvalues of G
    are set to 0 instead, and the status says so.

    >>> import numpy as np
    >>> cholesky(np.eye(2), np.ones((2, 1)), 1.0).value.ravel().round(12).tolist()
    [0.5, 0.5]
    """
    shifted = gram.copy()
    shifted[np.diag_indices_from(shifted)] += alpha
    with one_blas_thread():
        try:
            value = cho_solve(cho_factor(shifted, lower=True, overwrite_a=True), cross)
            return Solution(value, details={"solver": "cholesky"})
        except LinAlgError:
            value = ridge_path(gram, cross).coef(alpha)
    advice = f"alpha={alpha:g} is below the rounding of the features' Gram matrix: raise it, or pass float64 rows."
    return Solution(value, status="ill-conditioned", advice=advice, details={"solver": "eigh"})
