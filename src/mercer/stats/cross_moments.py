"""Second moments between two sets of features of the same rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._typing import Array, Rows
from mercer.stats.base import add_product, weighted


@dataclass
class CrossMoments:
    r"""Weighted sums :math:`W = \sum w_i`, :math:`s_a = \sum w_i a_i`, :math:`s_b = \sum w_i b_i` and
    :math:`C = \sum w_i a_i b_i^T` of two views a, b of the same rows, in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.stats import CrossMoments
    >>> CrossMoments.of(2, 1).update(np.eye(2), np.ones((2, 1))).covariance().tolist()
    [[0.0], [0.0]]
    """  # noqa: D205

    weight: float
    sum_a: Array
    sum_b: Array
    product: Array

    @classmethod
    def of(cls, n_a: int, n_b: int) -> Self:
        """Return the empty statistic."""
        return cls(0.0, np.zeros(n_a), np.zeros(n_b), np.zeros((n_a, n_b)))

    def zero(self) -> Self:
        """Return the empty statistic of the same shape."""
        return self.of(len(self.sum_a), len(self.sum_b))

    def update(self, A: Rows, B: Rows, sample_weight: Array | None = None) -> Self:
        """Add rows of both views, dense or CSR, and weights."""
        weight = np.ones(A.shape[0]) if sample_weight is None else sample_weight
        self.weight += float(weight.sum())
        self.sum_a += np.asarray(A.T @ weight).ravel()
        self.sum_b += np.asarray(B.T @ weight).ravel()
        add_product(self.product, weighted(A, sample_weight), B)
        return self

    def merge(self, other: Self) -> Self:
        """Add the moments of other rows."""
        self.weight += other.weight
        self.sum_a += other.sum_a
        self.sum_b += other.sum_b
        self.product += other.product
        return self

    def covariance(self) -> Array:
        """Return the weighted covariance of the two views."""
        covariance: Array = (self.product - np.outer(self.sum_a, self.sum_b) / self.weight) / self.weight
        return covariance
