"""Generalised cross-validation, shared by the paths of ridge regression."""

import numpy as np

from mercer._typing import Array

# Lower bound of a residual: its increase from this fraction of alpha to alpha. If the features interpolate y, the bound
# is the residual up to a millionth.
_PART_OF_ALPHA = 1e-3
# Differences below this fraction of a sum of squares are rounding.
_NOISE = 32 * float(np.finfo(np.float64).eps)


class ScoredPath:
    r"""Scores of the solutions w of :math:`(G + \alpha I) w = H`, one for each alpha, without cancellation.

    The textbook formulas have two differences that rounding spoils if few rows have many features: the residual (the
    sum of squares minus the explained part), and the remaining degrees of freedom (rows minus a sum over the
    eigenvalues). A residual of 0 would then make the smallest alpha the best. Here, a residual is at least its increase
    from a smaller alpha, which is a sum of squares, and the degrees of freedom are a sum over the eigenvalues that are
    not 0.

    Attributes
    ----------
    eigenvalues : ndarray of shape (r,)
        The eigenvalues of G, at least all that can differ from 0.
    floor : float
        Eigenvalues up to this size are rounding.
    """

    eigenvalues: Array
    floor: float

    def degrees_of_freedom(self, alpha: float) -> float:
        """Return trace(G (G + alpha I)^-1)."""
        return float(np.sum(self.eigenvalues / (self.eigenvalues + alpha)))

    def residual(self, alpha: float, squares: Array) -> Array:
        """Return the residual sum of squares of each target; ``squares`` are the sums of squares of the targets."""
        explained, growth = self._explained(alpha, _PART_OF_ALPHA * alpha)
        return np.maximum(squares - explained - _NOISE * squares, growth)

    def _explained(self, alpha: float, low: float) -> tuple[Array, Array]:
        r"""Return the explained part of the sums of squares, and the increase of the residual from a lower alpha.

        With p = V^T H: the sums over the eigenvalues of :math:`p^2 (l + 2 \alpha) / (l + \alpha)^2`, and of
        :math:`p^2 (\alpha - a) ((\alpha + a) l + 2 \alpha a) / (l + \alpha)^2 (l + a)^2` for the lower alpha, a.
        """
        raise NotImplementedError

    def gcv(self, alpha: float, squares: Array, weight: float, n_free: int = 1) -> float:
        r"""Return the generalised cross-validation score, summed over the targets.

        :math:`W \, \mathrm{RSS} / (W - \mathrm{df} - n_{free})^2` (Golub, Heath and Wahba, 1979) with W the sum of the
        weights, and n_free the number of unpenalised parameters (1 for an intercept). With l the r eigenvalues of G
        that are not 0, :math:`W - \mathrm{df} = (W - r) + \sum_j \alpha / (l_j + \alpha)`.
        """
        counted = self.eigenvalues[self.eigenvalues > self.floor]
        left = weight - n_free - len(counted) + float(np.sum(alpha / (counted + alpha)))
        return gcv_score(float(self.residual(alpha, squares).sum()), left, weight)


def gcv_score(residual: float, left: float, weight: float) -> float:
    """Return W RSS / left^2; infinity if no degree of freedom is left."""
    return weight * residual / left**2 if left > 0 else np.inf


def rounding_floor(eigenvalues: Array) -> float:
    """Return the size below which eigenvalues of a float64 matrix are rounding."""
    return len(eigenvalues) * float(np.finfo(np.float64).eps) * float(np.abs(eigenvalues).max(initial=0.0))


def largest(width: int, rank: int | None) -> int:
    """Return the largest number of eigenvalues that can differ from 0, given the width and the rank (if known)."""
    return width if rank is None else min(width, max(rank, 0))
