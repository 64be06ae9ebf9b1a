"""What the first pass over the rows finds, before there is a map."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._typing import Array
from mercer.stats import ColumnRanges, RowSample


@dataclass
class Survey:
    """A statistic of rows: their weight, the ranges of their columns, a uniform sample, and what a learner looks for.

    Attributes
    ----------
    weight : float
        The sum of the weights.
    ranges : ColumnRanges
        Of the rows whose weight is not 0.
    sample : RowSample
        With the weights of the sampled rows for values.
    found : statistic or None
        What the learner finds in y.
    """

    weight: float
    ranges: ColumnRanges
    sample: RowSample
    found: Any = None

    @classmethod
    def of(cls, n_columns: int, size: int, seed: int, found: Any = None) -> Self:
        """Return the survey of no rows, with a sample of ``size``."""
        return cls(0.0, ColumnRanges.of(n_columns), RowSample(size, seed), found)

    def zero(self) -> Self:
        """Return the empty survey that merges with this one."""
        found = None if self.found is None else self.found.zero()
        return type(self)(0.0, self.ranges.zero(), self.sample.zero(), found)

    def update(self, X: Any, first_row: int, weight: Array) -> Self:
        """Add rows; what the learner looks for is the learner's to add."""
        self.weight += float(weight.sum())
        counts = weight > 0
        self.ranges.update(X if counts.all() else X[counts])
        self.sample.update(X, first_row, weight)
        return self

    def merge(self, other: Self) -> Self:
        """Add the survey of later rows."""
        self.weight += other.weight
        self.ranges.merge(other.ranges)
        self.sample.merge(other.sample)
        if self.found is not None:
            self.found.merge(other.found)
        return self

    @property
    def rows(self) -> Any:
        """The sampled rows."""
        return self.sample.rows

    @property
    def row_weights(self) -> Array:
        """Their weights; all 1 where the sample has none but rows of weight 0."""
        weight = self.sample.values
        return weight if weight.any() else np.ones(len(weight))
