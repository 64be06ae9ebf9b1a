"""The whole regularisation path of ridge regression from one eigendecomposition."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh, svd

from mercer._typing import Array
from mercer.parallel import one_blas_thread


@dataclass(frozen=True)
class RidgePath:
    r"""G = V diag(l) V^T and P = V^T H: the solution of every alpha is V (P / (l + alpha)).

    Attributes
    ----------
    eigenvalues : ndarray of shape (r,)
        All r = D of them, or those that are not 0 for sure.
    vectors : ndarray of shape (D, r)
    projected : ndarray of shape (r, n_targets)
    """

    eigenvalues: Array
    vectors: Array
    projected: Array

    def coef(self, alpha: float) -> Array:
        """Return the coefficients, of shape (D, n_targets)."""
        coef: Array = self.vectors @ (self.projected / self._shifted(alpha)[:, None])
        return coef

    def degrees_of_freedom(self, alpha: float) -> float:
        """Return trace(G (G + alpha I)^-1)."""
        return float(np.sum(self.eigenvalues / self._shifted(alpha)))

    def residual(self, alpha: float, squares: Array) -> Array:
        """Return the residual sum of squares of each target, whose own sums of squares are given."""
        shifted = self._shifted(alpha)
        explained = (self.eigenvalues + 2 * alpha) / shifted**2
        residual: Array = np.maximum(squares - explained @ self.projected**2, 0.0)
        return residual

    def gcv(self, alpha: float, squares: Array, weight: float, n_free: int = 1) -> float:
        r"""Return the generalised cross-validation score, summed over the targets.

        :math:`W \, \mathrm{RSS} / (W - \mathrm{df} - n_{free})^2` (Golub, Heath and Wahba, 1979) with W the sum of the
        weights, and n_free the unpenalised parameters: 1 for an intercept.
        """
        left = weight - self.degrees_of_freedom(alpha) - n_free
        return float(weight * self.residual(alpha, squares).sum() / left**2) if left > 0 else np.inf

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

        with u_i = ``left_out``, by default min(w_i, 1), and each square counted w_i times: a row of weight 2 is two
        rows, of which one is left out. Time n D^2 once, and n D for each alpha and target.
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

    def for_rows_of(self, dtype: Any) -> Self:
        """Return the path with its vectors in the precision of the features, for ``leave_one_out`` of many blocks."""
        return replace(self, vectors=self.vectors.astype(dtype, copy=False))

    def _shifted(self, alpha: float) -> Array:
        shifted: Array = self.eigenvalues + alpha
        return shifted


def ridge_path(gram: Array, cross: Array) -> RidgePath:
    """Decompose a positive semi-definite G, in about 9 D^3 multiplications; negative eigenvalues are rounding, and 0.

    >>> import numpy as np
    >>> path = ridge_path(np.diag([1.0, 3.0]), np.ones((2, 1)))
    >>> path.coef(1.0).ravel().tolist(), path.degrees_of_freedom(1.0)
    ([0.5, 0.25], 1.25)
    """
    with one_blas_thread():
        eigenvalues, vectors = eigh(gram, driver="evd")
        return RidgePath(np.maximum(eigenvalues, 0.0), vectors, vectors.T @ cross)


def singular_path(Z: Array, Y: Array) -> RidgePath:
    """Decompose the rows Z of G = Z^T Z, where H = Z^T Y: for few rows, with half the digits lost to a small alpha.

    >>> import numpy as np
    >>> path = singular_path(np.diag([1.0, 3**0.5]), np.ones((2, 1)) / [[1.0], [3**0.5]])
    >>> path.coef(1.0).ravel().round(12).tolist(), round(path.degrees_of_freedom(1.0), 12)
    ([0.5, 0.25], 1.25)
    """
    with one_blas_thread():
        U, singular, Vt = svd(Z, full_matrices=False)
        return RidgePath(singular**2, Vt.T, singular[:, None] * (U.T @ Y))
