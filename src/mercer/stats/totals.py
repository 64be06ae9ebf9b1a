"""Sums of numbers over rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._typing import Array


@dataclass
class Totals:
    """The sums of the columns of rows, in float64.

    >>> import numpy as np
    >>> from mercer.stats import Totals
    >>> Totals.of(2).update(np.ones((3, 2))).values.tolist()
    [3.0, 3.0]
    """

    values: Array

    @classmethod
    def of(cls, n_columns: int) -> Self:
        """Return the empty statistic."""
        return cls(np.zeros(n_columns))

    def zero(self) -> Self:
        """Return the empty statistic of the same shape."""
        return self.of(len(self.values))

    def update(self, rows: Array) -> Self:
        """Add rows."""
        self.values += np.sum(rows, axis=0, dtype=np.float64)
        return self

    def merge(self, other: Self) -> Self:
        """Add the sums of other rows."""
        self.values += other.values
        return self
