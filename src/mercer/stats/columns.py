"""Mean, variance and range of columns with missing values."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from mercer._typing import Array, Csr, Rows


@dataclass
class ColumnMoments:
    r"""For each column: the number of values n, their mean m, :math:`\sum (x_i - m)^2`, the minimum and the maximum.

    NaN is a missing value and is not counted. Statistics are merged by the formula of Chan, Golub and LeVeque (1983),
    which stays accurate if the mean is large compared with the standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.stats import ColumnMoments
    >>> moments = ColumnMoments.of(2).update(np.array([[1.0, np.nan], [3.0, 5.0]]))
    >>> moments.mean.tolist(), moments.count.tolist(), moments.deviation.tolist()
    ([2.0, 5.0], [2, 1], [1.0, 0.0])
    """

    count: Array
    mean: Array
    squares: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, n_columns: int) -> Self:
        """Return the empty statistic."""
        count = np.zeros(n_columns, dtype=np.int64)
        zeros = np.zeros(n_columns), np.zeros(n_columns)
        return cls(count, *zeros, np.full(n_columns, np.inf), np.full(n_columns, -np.inf))

    def zero(self) -> Self:
        """Return the empty statistic of the same number of columns."""
        return self.of(len(self.mean))

    def update(self, X: Rows) -> Self:
        """Add rows, an array or a CSR matrix; zeros of a CSR matrix are values."""
        if X.shape[0] == 0:
            return self
        # An infinite entry makes the mean infinite; callers check for that.
        with np.errstate(invalid="ignore", over="ignore"):
            part = self._of_csr(X) if sparse.issparse(X) else self._of_rows(np.asarray(X, dtype=np.float64))
            return self.merge(part)

    @classmethod
    def _of_rows(cls, X: Array) -> Self:
        low, high = X.min(axis=0), X.max(axis=0)  # NaN where a value is missing
        if not np.isnan(low).any():
            mean = X.mean(axis=0)
            return cls(np.full(X.shape[1], len(X)), mean, ((X - mean) ** 2).sum(axis=0), low, high)
        missing = np.isnan(X)
        count = len(X) - missing.sum(axis=0)
        mean = np.where(missing, 0, X).sum(axis=0) / np.maximum(count, 1)
        squares = (np.where(missing, 0, X - mean) ** 2).sum(axis=0)
        low, high = np.where(missing, np.inf, X).min(axis=0), np.where(missing, -np.inf, X).max(axis=0)
        return cls(count, mean, squares, low, high)

    @classmethod
    def _of_csr(cls, X: Csr) -> Self:
        n_rows, n_columns = X.shape
        mean = np.bincount(X.indices, X.data, n_columns) / n_rows
        stored = np.bincount(X.indices, minlength=n_columns)
        squares = np.bincount(X.indices, (X.data - mean[X.indices]) ** 2, n_columns) + (n_rows - stored) * mean**2
        low, high = (part.toarray().ravel() for part in (X.min(axis=0), X.max(axis=0)))
        return cls(np.full(n_columns, n_rows), mean, squares, low, high)

    def merge(self, other: Self) -> Self:
        """Add the moments of other rows."""
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        apart = other.mean - self.mean
        self.mean = self.mean + share * apart
        self.squares = self.squares + other.squares + apart**2 * self.count * share
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self.count = count
        return self

    @property
    def deviation(self) -> Array:
        """The standard deviation of each column, of the population."""
        return np.asarray(np.sqrt(self.squares / np.maximum(self.count, 1)))
