"""The whole regularisation path of ridge regression from one eigendecomposition."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import svd

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.ridge.gcv import ScoredPath, largest, rounding_floor


@dataclass(frozen=True)
class RidgePath(ScoredPath):
    r"""G = V diag(l) V^T and P = V^T H: the solution of every alpha is V (P / (l + alpha)).

    Attributes
    ----------
    eigenvalues : ndarray of shape (r,)
        All r = D eigenvalues, or the largest r if the rank of G is known.
    vectors : ndarray of shape (D, r)
    projected : ndarray of shape (r, n_targets)
    floor : float
        Eigenvalues up to this size are rounding.
    """

    eigenvalues: Array
    vectors: Array
    projected: Array
    floor: float = 0.0

    def coef(self, alpha: float) -> Array:
        """Return the coefficients, of shape (D, n_targets)."""
        coef: Array = self.vectors @ (self.projected / self._shifted(alpha)[:, None])
        return coef

    def _explained(self, alpha: float, low: float) -> tuple[Array, Array]:
        shifted, squares = self._shifted(alpha), self.projected**2
        explained = (self.eigenvalues + 2 * alpha) / shifted**2
        growth = (alpha - low) * ((alpha + low) * self.eigenvalues + 2 * alpha * low)
        growth /= (shifted * self._shifted(low)) ** 2
        return explained @ squares, growth @ squares

    def leave_one_out(
        self,
        Z: Array,
        Y: Array,
        alphas: Array,
        weight: float,
        sample_weight: Array | None = None,
        left_out: Array | None = None,
    ) -> Array:
        r"""Return for each alpha the sum of squared leave-one-out errors of some rows, about the means of the fit.

        .. math:: e_i = \frac{y_i - f_i}{1 - u_i (h_i + 1/W)}, \quad h_i = \sum_j \frac{(Z V)_{ij}^2}{l_j + \alpha},

        with u_i = ``left_out``, by default min(w_i, 1). Each square counts w_i times: a row of weight 2 is two rows,
        and one of them is left out. Time n D^2, plus n D per alpha and target.
        """
        A = Z @ self.vectors.astype(Z.dtype, copy=False)
        inverse = 1.0 / (self.eigenvalues[:, None] + alphas)
        count = np.ones(len(Y)) if sample_weight is None else sample_weight
        errors = np.empty((Y.shape[1], len(Y), len(alphas)))
        for k in range(Y.shape[1]):
            predicted = A @ (self.projected[:, k, None] * inverse).astype(Z.dtype, copy=False)
            np.subtract(Y[:, k, None], predicted, out=errors[k])
        leverage = np.square(A, out=A) @ inverse.astype(Z.dtype, copy=False) + 1.0 / weight
        taken = np.minimum(count, 1.0) if left_out is None else left_out
        remains = np.maximum(1.0 - taken[:, None] * leverage, np.finfo(Z.dtype).eps)
        totals: Array = np.sum([count @ np.square(error / remains) for error in errors], axis=0)
        return totals

    def for_rows_of(self, dtype: DTypeLike) -> Self:
        """Return the path with its vectors in the precision of the features, for ``leave_one_out`` of many blocks."""
        return replace(self, vectors=self.vectors.astype(dtype, copy=False))

    def _shifted(self, alpha: float) -> Array:
        shifted: Array = self.eigenvalues + alpha
        return shifted


def ridge_path(gram: Array, cross: Array, rank: int | None = None) -> RidgePath:
    """Decompose a positive semi-definite G, in about 9 D^3 multiplications. Negative eigenvalues (rounding) become 0.

    If G has at most ``rank`` eigenvalues other than 0, only these are kept.

    >>> import numpy as np
    >>> path = ridge_path(np.diag([1.0, 3.0]), np.ones((2, 1)))
    >>> path.coef(1.0).ravel().tolist(), path.degrees_of_freedom(1.0)
    ([0.5, 0.25], 1.25)
    """
    with one_blas_thread():
        eigenvalues, vectors = np.linalg.eigh(gram)  # SciPy's holds the lock of the interpreter
        kept = slice(len(gram) - largest(len(gram), rank), None)
        values, vectors = np.maximum(eigenvalues[kept], 0.0), vectors[:, kept]
        return RidgePath(values, vectors, vectors.T @ cross, rounding_floor(eigenvalues))


def singular_path(Z: Array, Y: Array, rank: int | None = None) -> RidgePath:
    """Return the path of G = Z^T Z and H = Z^T Y from the singular values of Z: for few rows, and more accurate than G.

    >>> import numpy as np
    >>> path = singular_path(np.diag([1.0, 3**0.5]), np.ones((2, 1)) / [[1.0], [3**0.5]])
    >>> path.coef(1.0).ravel().round(12).tolist(), round(path.degrees_of_freedom(1.0), 12)
    ([0.5, 0.25], 1.25)
    """
    with one_blas_thread():
        U, singular, Vt = svd(Z, full_matrices=False)
        kept = singular[: largest(len(singular), rank)]
        kept = kept[kept > max(Z.shape) * np.finfo(np.float64).eps * kept.max(initial=0.0)]
        r = len(kept)
        return RidgePath(kept**2, Vt[:r].T, kept[:, None] * (U[:, :r].T @ Y))
