"""The regularisation path of ridge regression from one reduction to a tridiagonal matrix, without eigenvectors."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal, lapack, solveh_banded

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.ridge.gcv import ScoredPath, largest, rounding_floor

# Smallest eigenvalue of T, relative to the largest, for which T has a Cholesky factor in spite of rounding.
_SHIFT = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class TridiagonalPath(ScoredPath):
    r"""G = Q T Q^T, T tridiagonal, and P = Q^T H: the solution of every alpha is Q (T + alpha I)^-1 P.

    Given T, generalised cross-validation costs O(D) per alpha and target. The reduction to T takes less than half the
    time of the eigenvectors, which only leave-one-out needs (``RidgePath``).

    Attributes
    ----------
    reflectors, scales : ndarray
        Q in the format of LAPACK: a product of reflections.
    band : ndarray of shape (2, D)
        The diagonal of T and its subdiagonal.
    projected : ndarray of shape (D, n_targets)
    eigenvalues : ndarray of shape (r,)
        All r = D eigenvalues, or the largest r if the rank of G is known.
    floor : float
        Eigenvalues up to this size are rounding.
    """

    reflectors: Array
    scales: Array
    band: Array
    projected: Array
    eigenvalues: Array
    floor: float = 0.0

    def coefs(self, alphas: Array) -> Array:
        """Return the coefficients of each alpha, of shape (n_alphas, D, n_targets)."""
        n_targets = self.projected.shape[1]
        solved = np.hstack([self._solved(alpha, self.projected) for alpha in alphas])
        with one_blas_thread():
            coefs = _reflected(self.reflectors, self.scales, solved, "N")
        return np.moveaxis(coefs.reshape(-1, len(alphas), n_targets), 1, 0)

    def _explained(self, alpha: float, low: float) -> tuple[Array, Array]:
        solved = self._solved(alpha, self.projected)
        twice = self._solved(low, solved)
        explained = np.einsum("ij,ij->j", self.projected + alpha * solved, solved)
        growth = np.einsum("ij,ij->j", (alpha + low) * solved + low * (alpha - low) * twice, twice)
        return explained, (alpha - low) * growth

    def _solved(self, alpha: float, right: Array) -> Array:
        """Return (T + alpha I)^-1 times some columns."""
        shifted = self.band.copy()
        shifted[0] += alpha
        if shifted.shape[1] == 1:  # the wrappers of LAPACK refuse this size
            return np.asarray(right / shifted[0])
        solved: Array = solveh_banded(shifted, right, lower=True)
        return solved


def tridiagonal_path(gram: Array, cross: Array, rank: int | None = None) -> TridiagonalPath:
    """Reduce a positive semi-definite G, in 4/3 D^3 multiplications, of which half are bound by memory.

    If G has at most ``rank`` eigenvalues other than 0, only these are kept.

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
    # Negative eigenvalues are rounding: after a shift, T + alpha I has a factor for every alpha > 0.
    band = np.vstack([diagonal, np.append(below, 0.0)])
    band[0] += max(0.0, _SHIFT * float(np.abs(eigenvalues).max()) - float(eigenvalues[0]))
    kept = np.maximum(eigenvalues[len(gram) - largest(len(gram), rank) :], 0.0)
    return TridiagonalPath(reflectors, scales, band, projected, kept, rounding_floor(eigenvalues))


def _reflected(reflectors: Array, scales: Array, columns: Array, trans: str) -> Array:
    """Return Q (trans "N") or Q^T ("T") times the columns; the reflections do not change the first row."""
    if len(columns) == 1:
        return columns
    rest = np.asfortranarray(columns[1:])
    below = np.asfortranarray(reflectors[1:, :-1])
    rest, _, _ = lapack.dormqr("L", trans, below, scales, rest, 64 * rest.shape[1], overwrite_c=1)
    reflected: Array = np.vstack([columns[:1], rest])
    return reflected
