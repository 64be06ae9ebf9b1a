"""Generalised cross-validation, as the paths of ridge regression share it."""

import numpy as np

from mercer._typing import Array

# A residual is at least what it grows by from this part of alpha to alpha. Where the features can interpolate y, that
# is all of it but a millionth.
_PART_OF_ALPHA = 1e-3
# Part of a sum of squares below which a difference from it is rounding.
_NOISE = 32 * float(np.finfo(np.float64).eps)


class ScoredPath:
    r"""Scores of the solutions w of :math:`(G + \alpha I) w = H`, one for each alpha, without cancellation.

    Two differences of the textbook are lost to rounding where few rows have many features: the residual, of the sum of
    squares and what the model explains of it, and the degrees of freedom that are left, of rows and eigenvalues. A
    residual of 0 would then win for the smallest alpha. A residual is therefore at least what
    it grows by from a smaller alpha, a sum of squares, and the freedom is counted by the eigenvalues that there are.

    Attributes
    ----------
    eigenvalues : ndarray of shape (r,)
        Those of G that can differ from 0, at least.
    floor : float
        Eigenvalues up to here are rounding.
    """

    eigenvalues: Array
    floor: float

    def degrees_of_freedom(self, alpha: float) -> float:
        """Return trace(G (G + alpha I)^-1)."""
        return float(np.sum(self.eigenvalues / (self.eigenvalues + alpha)))

    def residual(self, alpha: float, squares: Array) -> Array:
        """Return the residual sum of squares of each target, whose own sums of squares are given."""
        explained, growth = self._explained(alpha, _PART_OF_ALPHA * alpha)
        return np.maximum(squares - explained - _NOISE * squares, growth)

    def _explained(self, alpha: float, low: float) -> tuple[Array, Array]:
        r"""Return what the solution takes off the sums of squares, and the residual of alpha less that of a lower one.

        With p = V^T H: the sums over the eigenvalues of :math:`p^2 (l + 2 \alpha) / (l + \alpha)^2`, and of
        :math:`p^2 (\alpha - a) ((\alpha + a) l + 2 \alpha a) / (l + \alpha)^2 (l + a)^2` for the lower alpha, a.
        """
        raise NotImplementedError

    def gcv(self, alpha: float, squares: Array, weight: float, n_free: int = 1) -> float:
        r"""Return the generalised cross-validation score, summed over the targets.

        :math:`W \, \mathrm{RSS} / (W - \mathrm{df} - n_{free})^2` (Golub, Heath and Wahba, 1979) with W the sum of the
        weights, and n_free the unpenalised parameters: 1 for an intercept. With the eigenvalues l of G that are not 0,
        r of them, :math:`W - \mathrm{df} = (W - r) + \sum_j \alpha / (l_j + \alpha)`.
        """
        counted = self.eigenvalues[self.eigenvalues > self.floor]
        left = weight - n_free - len(counted) + float(np.sum(alpha / (counted + alpha)))
        return gcv_score(float(self.residual(alpha, squares).sum()), left, weight)


def gcv_score(residual: float, left: float, weight: float) -> float:
    """Return W RSS / left^2, inf where no degree of freedom is left."""
    return weight * residual / left**2 if left > 0 else np.inf


def rounding_floor(eigenvalues: Array) -> float:
    """Return the size below which eigenvalues of a float64 matrix are rounding."""
    return len(eigenvalues) * float(np.finfo(np.float64).eps) * float(np.abs(eigenvalues).max(initial=0.0))


def largest(width: int, rank: int | None) -> int:
    """Return how many eigenvalues of a matrix of some width, and of a rank if that is known, can differ from 0."""
    return width if rank is None else min(width, max(rank, 0))
