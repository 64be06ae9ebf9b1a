"""Inverses of approximate Hessians, for conjugate gradients."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.smooth.low_rank import LowRank
from mercer.solvers.smooth.newton_cg import Preconditioner


def gram_preconditioner(gram: Array, penalty: float, intercept_penalty: float = 0.0) -> Preconditioner:
    """Return the function from a total curvature c to the inverse of c G + diag(p, ..., p, q).

    G is the mean of a a^T over some rows, a = (z, 1): with their own curvatures in the place of the mean one, and all
    rows in the place of some, this would be the Hessian itself. Given the diagonal of G alone, the inverse is of that.
    A D x D factor takes D^3 / 3 multiplications for each c, and D^2 for each product.

    References
    ----------
    A. Rudi, L. Carratino and L. Rosasco, "FALKON: an optimal large scale kernel method", 2017.

    >>> import numpy as np
    >>> gram_preconditioner(np.eye(2), 1.0)(3.0)(np.ones((2, 1))).ravel().round(12).tolist()
    [0.25, 0.333333333333]
    """
    diagonal = np.diag(gram) if gram.ndim == 2 else gram
    ridge = np.append(np.full(len(diagonal) - 1, penalty), intercept_penalty)

    def at(curvature: float) -> Callable[[Array], Array]:
        # Nothing but a positive definite approximation is needed: a vanishing curvature may be any small one.
        curvature = max(curvature, float(np.finfo(np.float64).eps))
        if gram.ndim == 2:
            shifted = curvature * gram
            shifted[np.diag_indices_from(shifted)] += ridge
            try:
                with one_blas_thread():
                    factor = cho_factor(shifted, lower=True, overwrite_a=True)
                return lambda right: np.asarray(cho_solve(factor, right))
            except LinAlgError:  # rounding of float32 features larger than the penalty: the diagonal still helps
                pass
        inverse = 1.0 / (curvature * diagonal + ridge)[:, None]
        return lambda right: inverse * right

    return at


def low_rank_preconditioner(part: LowRank, penalty: float, intercept_penalty: float = 0.0) -> Preconditioner:
    r"""Return the function from a total curvature c to the inverse of an approximate Hessian, without a D x D matrix.

    With C the covariance of sampled rows and m their mean, the Hessian of all rows with their mean curvature is

    .. math:: \begin{pmatrix} c (C + m m^T) + p I & c m \\ c m^T & c + q \end{pmatrix}.

    Eliminating the intercept leaves c C + p I plus a term of rank one, c q / (c + q) m m^T, which is at most q m m^T
    and is dropped. C is known by its leading eigenvectors. Each product takes 2 r D multiplications per column.

    >>> import numpy as np
    >>> part = LowRank(np.eye(2), np.array([2.0, 1.0]), np.zeros(2))
    >>> low_rank_preconditioner(part, 1.0)(3.0)(np.ones((3, 1))).ravel().round(12).tolist()
    [0.142857142857, 0.25, 0.333333333333]
    """
    mean = part.mean[:, None]

    def at(curvature: float) -> Callable[[Array], Array]:
        c = max(curvature, float(np.finfo(np.float64).eps))
        inverse, total = part.inverse(c, penalty), c + intercept_penalty

        def apply(right: Array) -> Array:
            constant = right[-1:]
            coef = inverse(right[:-1] - (c / total) * mean * constant)
            return np.vstack([coef, (constant - c * (mean.T @ coef)) / total])

        return apply

    return at
