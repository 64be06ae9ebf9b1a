"""Sums of a loss and its gradient over rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._typing import Array, Rows
from mercer.stats.base import add_product, as_columns


@dataclass
class Gradient:
    r"""Sums :math:`L = \sum_i l_i`, :math:`g = \sum_i z_i r_i^T`, :math:`b = \sum_i r_i` and :math:`\sum_i c_i`.

    With l losses, r their derivatives by the scores and c their second ones, g and b are the gradient by the
    coefficients and by the intercepts. With r = Z v the sum g is the product Z^T Z v.
    Losses and curvatures are numbers, or arrays with one number per output.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.stats import Gradient
    >>> Gradient.of(2, 1).update(np.eye(2), np.ones((2, 1)), 0.5).vector.tolist()
    [[1.0], [1.0]]
    """

    loss: float | Array
    vector: Array
    constant: Array
    curvature: float | Array = 0.0

    @classmethod
    def of(cls, n_features: int, n_outputs: int) -> Self:
        """Return the empty statistic."""
        return cls(0.0, np.zeros((n_features, n_outputs)), np.zeros(n_outputs))

    def zero(self) -> Self:
        """Return the empty statistic of the same shape."""
        return self.of(*self.vector.shape)

    def update(self, Z: Rows, residuals: Array, loss: float | Array = 0.0, curvature: float | Array = 0.0) -> Self:
        """Add rows of features, dense or CSR, with their derivatives and the sums of their losses and curvatures."""
        residuals = as_columns(residuals)
        self.loss = self.loss + loss
        self.curvature = self.curvature + curvature
        self.constant += residuals.sum(axis=0)
        add_product(self.vector, Z, residuals.astype(Z.dtype, copy=False))
        return self

    def merge(self, other: Self) -> Self:
        """Add the sums of other rows."""
        self.loss = self.loss + other.loss
        self.curvature = self.curvature + other.curvature
        self.vector += other.vector
        self.constant += other.constant
        return self
