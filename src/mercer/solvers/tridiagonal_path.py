"""The regularisation path of ridge regression from one reduction to a tridiagonal matrix, without eigenvectors."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal, lapack, solveh_banded

from mercer._typing import Array
from mercer.parallel import one_blas_thread


@dataclass(frozen=True)
class TridiagonalPath:
    r"""G = Q T Q^T, T tridiagonal, and P = Q^T H: the solution of every alpha is Q (T + alpha I)^-1 P.

    All that generalised cross-validation asks for costs D for each alpha and target once T is there, for less than
    half of what the eigenvectors cost, which leave-one-out needs (``RidgePath``).

    Attributes
    ----------
    reflectors, scales : ndarray
        Q as LAPACK keeps it, a product of reflections.
    band : ndarray of shape (2, D)
        The diagonal of T and the one below it.
    projected : ndarray of shape (D, n_targets)
    eigenvalues : ndarray of shape (D,)
    """

    reflectors: Array
    scales: Array
    band: Array
    projected: Array
    eigenvalues: Array

    def coefs(self, alphas: Array) -> Array:
        """Return the coefficients of each alpha, of shape (n_alphas, D, n_targets)."""
        n_targets = self.projected.shape[1]
        solved = np.hstack([self._solved(alpha) for alpha in alphas])
        with one_blas_thread():
            coefs = _reflected(self.reflectors, self.scales, solved, "N")
        return np.moveaxis(coefs.reshape(-1, len(alphas), n_targets), 1, 0)

    def degrees_of_freedom(self, alpha: float) -> float:
        """Return trace(G (G + alpha I)^-1)."""
        return float(np.sum(self.eigenvalues / (self.eigenvalues + alpha)))

    def residual(self, alpha: float, squares: Array) -> Array:
        """Return the residual sum of squares of each target, whose own sums of squares are given."""
        solved = self._solved(alpha)
        explained = np.einsum("ij,ij->j", self.projected + alpha * solved, solved)
        residual: Array = np.maximum(squares - explained, 0.0)
        return residual

    def gcv(self, alpha: float, squares: Array, weight: float, n_free: int = 1) -> float:
        r"""Return the generalised cross-validation score, summed over the targets.

        :math:`W \, \mathrm{RSS} / (W - \mathrm{df} - n_{free})^2` (Golub, Heath and Wahba, 1979) with W the sum of the
        weights, and n_free the unpenalised parameters: 1 for an intercept.
        """
        left = weight - self.degrees_of_freedom(alpha) - n_free
        return float(weight * self.residual(alpha, squares).sum() / left**2) if left > 0 else np.inf

    def _solved(self, alpha: float) -> Array:
        shifted = self.band.copy()
        shifted[0] += alpha
        if shifted.shape[1] == 1:  # which LAPACK's wrappers refuse
            return np.asarray(self.projected / shifted[0])
        solved: Array = solveh_banded(shifted, self.projected, lower=True)
        return solved


def tridiagonal_path(gram: Array, cross: Array) -> TridiagonalPath:
    """Reduce a positive semi-definite G, in 4/3 D^3 multiplications, half of them bound by memory.

    References
    ----------
    L. Elden, "Algorithms for the regularization of ill-conditioned least squares problems", 1977.

    >>> import numpy as np
    >>> path = tridiagonal_path(np.diag([1.0, 3.0]), np.ones((2, 1)))
    >>> path.coefs(np.array([1.0])).ravel().round(12).tolist(), round(path.degrees_of_freedom(1.0), 12)
    ([0.5, 0.25], 1.25)
    """
    with one_blas_thread():
        work, _ = lapack.dsytrd_lwork(len(gram), lower=1)
        reflectors, diagonal, below, scales, _ = lapack.dsytrd(gram, lower=1, lwork=int(work))
        eigenvalues = diagonal if len(gram) == 1 else eigvalsh_tridiagonal(diagonal, below, lapack_driver="sterf")
        projected = _reflected(reflectors, scales, np.array(cross, dtype=np.float64, order="F"), "T")
    # Negative eigenvalues are rounding: a shift by as much leaves a factor for every alpha > 0.
    band = np.vstack([diagonal, np.append(below, 0.0)])
    band[0] += max(0.0, -float(eigenvalues[0]))
    return TridiagonalPath(reflectors, scales, band, projected, np.maximum(eigenvalues, 0.0))


def _reflected(reflectors: Array, scales: Array, columns: Array, trans: str) -> Array:
    """Return Q (trans "N") or Q^T ("T") times the columns: the reflections leave the first row alone."""
    if len(columns) == 1:
        return columns
    rest = np.asfortranarray(columns[1:])
    below = np.asfortranarray(reflectors[1:, :-1])
    rest, _, _ = lapack.dormqr("L", trans, below, scales, rest, 64 * rest.shape[1], overwrite_c=1)
    reflected: Array = np.vstack([columns[:1], rest])
    return reflected
