"""Sums of a loss and its gradient over rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._typing import Array
from mercer.stats.base import add_product, as_columns


@dataclass
class Gradient:
    r"""The sum of losses :math:`L = \sum_i l_i` and :math:`g = \sum_i z_i r_i^T`, with r the derivative by the scores.

    Also what a product with Z^T Z needs: with r = Z v the sum is Z^T Z v.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.stats import Gradient
    >>> Gradient.of(2, 1).update(np.eye(2), np.ones((2, 1)), 0.5).vector.tolist()
    [[1.0], [1.0]]
    """

    loss: float
    vector: Array

    @classmethod
    def of(cls, n_features: int, n_outputs: int) -> Self:
        """Return the empty statistic."""
        return cls(0.0, np.zeros((n_features, n_outputs)))

    def zero(self) -> Self:
        """Return the empty statistic of the same shape."""
        return self.of(*self.vector.shape)

    def update(self, Z: Any, residuals: Any, loss: float = 0.0) -> Self:
        """Add rows of features, dense or CSR, with their derivatives and the sum of their losses."""
        residuals = as_columns(residuals).astype(Z.dtype, copy=False)
        self.loss += loss
        add_product(self.vector, Z, residuals)
        return self

    def merge(self, other: Self) -> Self:
        """Add the sums of other rows."""
        self.loss += other.loss
        self.vector += other.vector
        return self
