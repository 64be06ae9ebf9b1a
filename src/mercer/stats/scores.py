"""Scores of predictions as statistics: accuracy and R^2, for rows that come in blocks."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from mercer._typing import Array
from mercer.stats.base import as_columns


@dataclass
class Accuracy:
    """The weight of all rows, and of the rows whose prediction is their label.

    >>> import numpy as np
    >>> from mercer.stats import Accuracy
    >>> Accuracy().update(np.array(["a", "b"]), np.array(["a", "a"])).value
    0.5
    """

    weight: float = 0.0
    right: float = 0.0

    def zero(self) -> Self:
        """Return the empty statistic."""
        return type(self)()

    def update(self, y: Array, predicted: Array, sample_weight: Array | None = None) -> Self:
        """Add rows: labels, predictions and weights."""
        right = np.asarray(y).ravel() == predicted
        weight = np.ones(len(right)) if sample_weight is None else sample_weight
        self.weight += float(weight.sum())
        self.right += float(weight[right].sum())
        return self

    def merge(self, other: Self) -> Self:
        """Add other rows."""
        self.weight += other.weight
        self.right += other.right
        return self

    @property
    def value(self) -> float:
        """The share of the weight that is predicted right; NaN without rows."""
        return self.right / self.weight if self.weight else float("nan")


@dataclass
class Determination:
    r"""The coefficient of determination, :math:`R^2 = 1 - \sum w (y - p)^2 / \sum w (y - \bar y)^2`, of each target.

    Squares about the mean are merged by Chan's formula, so that a large mean of y costs no digits.

    References
    ----------
    T. Chan, G. Golub and R. LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.

    >>> import numpy as np
    >>> from mercer.stats import Determination
    >>> Determination().update(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0])).value
    0.5
    """

    weight: float = 0.0
    n_rows: int = 0
    mean: Array = field(default_factory=lambda: np.zeros(1))
    squares: Array = field(default_factory=lambda: np.zeros(1))
    residual: Array = field(default_factory=lambda: np.zeros(1))

    def zero(self) -> Self:
        """Return the empty statistic."""
        return type(self)()

    def update(self, y: Array, predicted: Array, sample_weight: Array | None = None) -> Self:
        """Add rows: targets, predictions and weights."""
        Y, P = as_columns(y), as_columns(predicted)
        weight = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        total = float(weight.sum())
        mean = weight @ Y / total if total else np.zeros(Y.shape[1])
        squares, residual = weight @ np.square(Y - mean), weight @ np.square(Y - P)
        return self.merge(type(self)(total, len(Y), mean, squares, residual))

    def merge(self, other: Self) -> Self:
        """Add other rows."""
        weight = self.weight + other.weight
        if other.weight and self.weight:
            apart = other.mean - self.mean
            self.squares = self.squares + other.squares + self.weight * other.weight / weight * apart**2
            self.mean = self.mean + other.weight / weight * apart
            self.residual = self.residual + other.residual
        elif other.weight:
            self.mean, self.squares, self.residual = other.mean, other.squares, other.residual
        self.weight = weight
        self.n_rows += other.n_rows
        return self

    @property
    def value(self) -> float:
        """The mean of R^2 over the targets; NaN for fewer than two rows. A target that is constant counts 1 or 0."""
        if self.n_rows < 2:
            return float("nan")
        constant = np.where(self.residual == 0, 1.0, 0.0)
        varies = self.squares > 0
        return float(np.where(varies, 1.0 - self.residual / np.where(varies, self.squares, 1.0), constant).mean())
