"""What one pass over a table finds: moments of numbers, counts of categories, and missing values."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows
from mercer.data.calendar import calendar
from mercer.data.columns import Codes, Columns, TableError
from mercer.data.sources.base import Block, Source
from mercer.stats import ColumnMoments

# Distinct values of a column at which the rarer half of them is forgotten, so that names of rows do not fill memory.
_MOST_COUNTED = 2**20


class TableSummary:
    """The summary of the rows of a source with chosen columns.

    Attributes
    ----------
    moments : ColumnMoments
        Of the columns of numbers, then of the parts of each date.
    counts : list of Counter
        Of the categories of each column of text.
    missing : dict
        From a column to how many values it misses, and the row of the first.
    """

    def __init__(self, source: Source):
        self.name, self.is_sparse, self.columns = source.name, source.is_sparse, source.columns
        self.moments = ColumnMoments.of(expanded(np.empty((0, source.width)), self.columns).shape[1])
        self.counts: list[Counter[str]] = [Counter() for _ in self.columns.categories]
        self.missing: dict[str, list[int]] = {}
        self.n_rows = 0

    def update(self, piece: Block) -> None:
        """Add rows."""
        self.moments.update(expanded(piece.X, self.columns))
        if not np.isfinite(self.moments.mean).all():
            self._refuse_infinity(piece)
        if isinstance(piece.X, np.ndarray):
            gone = np.isnan(piece.X)
            names = (*self.columns.numbers, *self.columns.dates)
            for j in np.flatnonzero(gone.any(axis=0)):
                self._count_missing(names[j], gone[:, j])
        for name, counts, column in zip(self.columns.categories, self.counts, piece.categories, strict=True):
            self._count(name, counts, column)
        self.n_rows += piece.n_rows

    def merge(self, other: "TableSummary") -> "TableSummary":
        """Add the summary of rows that follow."""
        self.moments.merge(other.moments)
        for name, (n_missing, row) in other.missing.items():
            self.missing.setdefault(name, [0, self.n_rows + row])[0] += n_missing
        for counts, found in zip(self.counts, other.counts, strict=True):
            counts.update(found)
            _forget_rare(counts)
        self.n_rows += other.n_rows
        return self

    def _count(self, name: str, counts: Counter[str], column: Codes) -> None:
        missing = column.codes < 0
        if missing.any():
            self._count_missing(name, missing)
        numbers = np.bincount(column.codes[~missing], minlength=len(column.values))
        counts.update({value: int(n) for value, n in zip(column.values, numbers, strict=True) if n})
        _forget_rare(counts)

    def _count_missing(self, name: str, missing: Array) -> None:
        entry = self.missing.setdefault(name, [0, self.n_rows + int(np.argmax(missing)) + 1])
        entry[0] += int(missing.sum())

    def _refuse_infinity(self, piece: Block) -> None:
        if isinstance(piece.X, np.ndarray):
            row, column = (int(i) for i in np.argwhere(np.isinf(piece.X))[0])
        else:
            values = piece.X.tocoo()
            at = int(np.argmin(np.isfinite(values.data)))
            row, column = int(values.row[at]), int(values.col[at])
        name = (*self.columns.numbers, *self.columns.dates)[column]
        raise TableError(
            f"{self.name}: column {name!r} holds a number that is not finite in row {self.n_rows + row + 1}. Correct "
            f"it, or leave the column out (ignore=[{name!r}], in the shell --ignore {name})."
        )

    def check(self, *, refuse_missing: bool) -> None:
        """Refuse an empty table and, where this is asked for, missing values."""
        if self.n_rows == 0:
            raise TableError(f"{self.name}: there are no rows.")
        if self.missing and refuse_missing:
            raise missing_refused(self.name, self.missing, self.n_rows)


def _forget_rare(counts: Counter[str]) -> None:
    if len(counts) > _MOST_COUNTED:
        for value, _ in counts.most_common()[_MOST_COUNTED // 2 :]:
            del counts[value]


def missing_refused(owner: str, missing: Mapping[str, Sequence[int]], n_rows: int) -> TableError:
    """Return the error of missing values: for each column how many, and the row of the first."""
    listed = [f"{name!r} ({'all' if n == n_rows else n}, first in row {row})" for name, (n, row) in missing.items()]
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    return TableError(
        f"{owner}: values are missing in {', '.join(listed[:5])}{more}. Fill them in, leave the columns out "
        "(--ignore), or allow them: missing='indicate' (in the shell --missing indicate)."
    )


def expanded(X: Rows, columns: Columns) -> Rows:
    """Return the columns of numbers, with the parts of each date after them."""
    if not columns.dates:
        return X
    numbers = X if isinstance(X, np.ndarray) else X.toarray()
    start = len(columns.numbers)
    return np.column_stack([numbers[:, :start], *(calendar(days) for days in numbers[:, start:].T)])


def standardised(X: Rows, mean: Array, scale: Array) -> Rows:
    """Return rows in units of the standard deviation about the mean; sparse rows are not centred."""
    if sparse.issparse(X):
        return sparse.csr_matrix(sparse.csr_matrix(X).multiply(1 / scale), dtype=np.float32)
    standard: Array = np.subtract(X, mean, dtype=np.float64)
    standard /= scale
    return standard
