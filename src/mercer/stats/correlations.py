"""Correlations of the columns of two matrices with the same rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._typing import Array


@dataclass
class Correlations:
    r"""Weights, means, squares about the means and products about the means of pairs of columns :math:`a_j, b_j`.

    Statistics of different rows are merged by the formula of Chan, Golub and LeVeque: columns far from zero lose no
    digits.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.stats import Correlations
    >>> a, b = np.array([[1.0], [2.0]]), np.array([[3.0], [1.0]])
    >>> Correlations.of(1).update(a, b).values().tolist()
    [-1.0]
    """

    weight: float
    means: Array  # of a, then of b
    squares: Array
    products: Array

    @classmethod
    def of(cls, n_pairs: int) -> Self:
        """Return the empty statistic."""
        return cls(0.0, np.zeros((2, n_pairs)), np.zeros((2, n_pairs)), np.zeros(n_pairs))

    def zero(self) -> Self:
        """Return the empty statistic of the same shape."""
        return self.of(len(self.products))

    def update(self, A: Array, B: Array, sample_weight: Array | None = None) -> Self:
        """Add rows of both matrices, and weights."""
        weight = np.ones(len(A)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        total = float(weight.sum())
        if total == 0:
            return self
        both = np.stack([A, B]).astype(np.float64)
        means = np.einsum("n,vnk->vk", weight, both) / total
        both -= means[:, None]
        squares = np.einsum("n,vnk->vk", weight, both**2)
        return self.merge(type(self)(total, means, squares, weight @ (both[0] * both[1])))

    def merge(self, other: Self) -> Self:
        """Add the statistic of other rows."""
        if other.weight == 0:
            return self
        total = self.weight + other.weight
        gap, share = other.means - self.means, other.weight / total
        self.squares += other.squares + self.weight * share * gap**2
        self.products += other.products + self.weight * share * gap[0] * gap[1]
        self.means = other.means.copy() if self.weight == 0 else self.means + share * gap
        self.weight = total
        return self

    def values(self) -> Array:
        """Return the correlation of each pair of columns; a constant column has correlation 0."""
        apart = self.squares[0] * self.squares[1]
        return np.asarray(np.where(apart > 0, self.products / np.sqrt(np.where(apart > 0, apart, 1.0)), 0.0))
