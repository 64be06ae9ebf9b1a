"""The range of each column."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._typing import Array, Rows

# Length of row from which NumPy's minimum runs at full speed: several narrow rows are viewed as one wide row.
_WIDE = 1024


def extremes(X: Array) -> tuple[Array, Array]:
    """Return the minimum and the maximum of each column of an array with at least one row.

    Ten times as fast as ``X.min(axis=0)`` for few columns: the loop of NumPy runs along rows, and is slow on short
    rows.
    """
    n_rows, n_columns = X.shape
    n_joined = min(_WIDE // max(n_columns, 1), n_rows)
    if n_joined < 2 or not X.flags.c_contiguous:
        return X.min(axis=0), X.max(axis=0)
    whole = n_rows - n_rows % n_joined
    wide = X[:whole].reshape(-1, n_joined * n_columns)
    low, high = wide.min(axis=0).reshape(n_joined, n_columns), wide.max(axis=0).reshape(n_joined, n_columns)
    rest = X[whole:]
    return np.vstack([low, rest]).min(axis=0), np.vstack([high, rest]).max(axis=0)


@dataclass
class ColumnRanges:
    """The minimum and the maximum of each column of rows without missing values, in float64.

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

    def update(self, rows: Rows) -> Self:
        """Add rows, an array or a CSR matrix."""
        if rows.shape[0] == 0:
            return self
        if isinstance(rows, np.ndarray):
            return self.merge(type(self)(*extremes(rows)))
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
