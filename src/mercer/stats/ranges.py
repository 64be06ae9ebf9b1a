"""The range of each column."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from mercer._typing import Array


@dataclass
class ColumnRanges:
    """The least and the greatest value of each column of rows without missing values, in float64.

    Zeros of a CSR matrix are values. Time O(entries + columns) per update.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.stats import ColumnRanges
    >>> ranges = ColumnRanges.of(2).update(np.array([[1.0, 5.0], [3.0, 4.0]]))
    >>> ranges.low.tolist(), ranges.high.tolist()
    ([1.0, 4.0], [3.0, 5.0])
    """

    low: Array
    high: Array

    @classmethod
    def of(cls, n_columns: int) -> Self:
        """Return the empty statistic."""
        return cls(np.full(n_columns, np.inf), np.full(n_columns, -np.inf))

    def zero(self) -> Self:
        """Return the empty statistic of the same number of columns."""
        return self.of(len(self.low))

    def update(self, rows: Any) -> Self:
        """Add rows, an array or a CSR matrix."""
        if rows.shape[0] == 0:
            return self
        if not sparse.issparse(rows):
            return self.merge(type(self)(rows.min(axis=0), rows.max(axis=0)))
        part = self.zero()
        np.minimum.at(part.low, rows.indices, rows.data)
        np.maximum.at(part.high, rows.indices, rows.data)
        has_zeros = np.bincount(rows.indices, minlength=rows.shape[1]) < rows.shape[0]
        part.low[has_zeros] = np.minimum(part.low[has_zeros], 0.0)
        part.high[has_zeros] = np.maximum(part.high[has_zeros], 0.0)
        return self.merge(part)

    def merge(self, other: Self) -> Self:
        """Add the ranges of other rows."""
        self.low = np.minimum(self.low, other.low, dtype=np.float64)
        self.high = np.maximum(self.high, other.high, dtype=np.float64)
        return self
