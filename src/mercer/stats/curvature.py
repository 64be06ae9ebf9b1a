"""Sums of losses, their gradients and their Hessians over rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._typing import Array, Rows
from mercer.stats.base import add_product, weighted


@dataclass
class Curvature:
    r"""For k columns of scores: :math:`\sum_i l_{ij}`, :math:`\sum_i z_i r_{ij}` and :math:`\sum_i c_{ij} z_i z_i^T`.

    r and c are the first and second derivatives of the losses by the scores. Gradients are summed in float64 even if
    the features are float32, because stopping rules compare them with tolerances.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.stats import Curvature
    >>> ones = np.ones((2, 1))
    >>> Curvature.of(2, 1).update(np.eye(2), ones, ones, ones).hessians.tolist()
    [[[1.0, 0.0], [0.0, 1.0]]]
    """

    values: Array
    gradients: Array
    hessians: Array

    @classmethod
    def of(cls, n_features: int, n_outputs: int) -> Self:
        """Return the empty statistic."""
        return cls(
            np.zeros(n_outputs), np.zeros((n_features, n_outputs)), np.zeros((n_outputs, n_features, n_features))
        )

    def zero(self) -> Self:
        """Return the empty statistic of the same shape."""
        return self.of(*self.gradients.shape)

    def update(self, Z: Rows, losses: Array, first: Array, second: Array) -> Self:
        """Add rows of features, dense or CSR, with their losses and the derivatives of those, (n, k) each."""
        self.values += losses.sum(axis=0)
        add_product(self.gradients, Z, first)
        for hessian, weight in zip(self.hessians, second.T, strict=True):
            root = weighted(Z, weight, 0.5)
            add_product(hessian, root, root)
        return self

    def merge(self, other: Self) -> Self:
        """Add the sums of other rows."""
        self.values += other.values
        self.gradients += other.gradients
        self.hessians += other.hessians
        return self
