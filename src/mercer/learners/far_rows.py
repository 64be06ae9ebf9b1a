"""Rows far from the training rows, where random Fourier features do not follow the kernel.

Where the kernel between a row and nearly all training rows is 0, the exact kernel machine returns to its mean. Cosines
and sines do not decay: a linear function of them has a value there that few training rows have determined.

The rule: the bulk of a column is the range of the training rows without the 0.5 % least and the 0.5 % greatest values.
A row is far if one of its columns lies outside the bulk by more than the width of the bulk, and by so much that the
kernel between the row and every row of the bulk is below 0.01. So it is below 0.01 for 99 % of the training rows.
In a normal column, values are far beyond 7.7 standard deviations or more; in an exponential column, beyond 10.6. Where
the bulk has no width, as in columns of rare categories, the range of all training rows replaces the bulk.

A training row may be far too, and a prediction of it warns as well. A model fits its own outliers closely, but to tell
them from other far rows it would have to keep all training rows.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from warnings import warn

import numpy as np
from scipy import sparse

from mercer._typing import Array, Csr, Rows
from mercer.features import FeatureMap
from mercer.fitting import Survey
from mercer.learners.callers import caller_level
from mercer.state import Reals, Stored
from mercer.stats import ColumnRanges
from mercer.stats.ranges import extremes

# The part of the training rows that lies outside the bulk on each side of a column.
_TAIL = 0.005
# The kernel between a far row and the rows of the bulk is below this part of k(x, x).
LEVEL = 0.01
# Columns named in a warning.
_NAMED = 5
_NOWHERE = np.zeros(0, dtype=np.intp)


def far_limits(reaches: Array | None, ranges: ColumnRanges, sample: Rows | None = None) -> Array | None:
    """Return the limits (2, d) beyond which a row is far, or None where features follow the kernel.

    Without a sample the bulk is the range of all rows.
    """
    return None if reaches is None else _limits_and_margins(reaches, ranges, sample)[0]


def _limits_and_margins(reaches: Array, ranges: ColumnRanges, sample: "Rows | None") -> tuple[Array, Array]:
    """Return the limits (2, d), and how far they are from the bulk of each column (d,)."""
    low, high = ranges.low, ranges.high
    if sample is not None and sample.shape[0]:
        bulk = bulk_of(sample)
        wide = bulk[1] > bulk[0]
        low, high = np.where(wide, bulk[0], low), np.where(wide, bulk[1], high)
    margin = np.maximum(reaches, high - low)
    return np.stack([low - margin, high + margin]), margin


def bulk_of(X: Rows) -> Array:
    """Return the least and the greatest value (2, d) of each column without 0.5 % of the rows on each side.

    Time O(n d) for arrays; O(N log N + d) for the N entries of a CSR matrix, whose zeros are values.
    """
    n_rows = X.shape[0]
    ranks = np.array([int(_TAIL * n_rows), n_rows - 1 - int(_TAIL * n_rows)])
    if sparse.issparse(X):
        return _bulk_of_csr(X, ranks)
    return np.asarray(np.partition(X, ranks, axis=0)[ranks], dtype=np.float64)


def _bulk_of_csr(X: Csr, ranks: Array) -> Array:
    by_column = np.lexsort((X.data, X.indices))
    values = np.append(X.data[by_column], 0.0).astype(np.float64)
    n_stored = np.bincount(X.indices, minlength=X.shape[1])
    n_negative = np.bincount(X.indices[X.data < 0], minlength=X.shape[1])
    starts, n_zeros = np.cumsum(n_stored) - n_stored, X.shape[0] - n_stored
    bulk = np.zeros((2, X.shape[1]))
    for side, rank in zip(bulk, ranks, strict=True):
        # in order: the negative entries, the zeros that are not stored, the others
        below, above = rank < n_negative, rank >= n_negative + n_zeros
        place = np.where(below, starts + rank, np.where(above, starts + rank - n_zeros, len(values) - 1))
        side[:] = values[place]
    return bulk


class FarRows:
    """Counts the rows of a prediction that are far from the training rows; blocks may come from any thread."""

    def __init__(self, limits: Array | None):
        self._limits = limits
        self._lock = threading.Lock()
        self._n_rows = self._n_far = 0
        self._shrinks = False
        self._columns: set[int] = set()
        if limits is not None:
            low, high = limits
            # columns where 0 is far: there, rows of a CSR matrix must store an entry
            self._zero_is_far = np.flatnonzero((low > 0) | (high < 0))

    def see(self, X: Rows) -> tuple[Array, Array]:
        """Count the far rows of a block, an array or a CSR matrix; return the rows and columns of its far entries."""
        if self._limits is None:
            return _NOWHERE, _NOWHERE
        rows, columns = self._far_entries_of_csr(X) if sparse.issparse(X) else self._far_entries(X)
        n_far, found = (len(np.unique(rows)), np.unique(columns).tolist()) if len(rows) else (0, [])
        with self._lock:
            self._n_rows += X.shape[0]
            self._n_far += n_far
            self._columns.update(found)
        return rows, columns

    def see_shrunk(self, n_more: int, shrinks: bool = True) -> None:
        """Count rows whose leverage alone shows them to be far, and keep that predictions of far rows are shrunk."""
        with self._lock:
            self._n_far += n_more
            self._shrinks = shrinks

    def _far_entries(self, X: Array) -> tuple[Array, Array]:
        """Return the rows and columns of the far entries; most blocks have none by the ranges of their columns."""
        low, high = self._limits  # type: ignore[misc]
        least, greatest = extremes(X)
        columns = ((least < low) | (greatest > high)).nonzero()[0]
        if not len(columns):
            return columns, columns
        some = X[:, columns]
        rows, places = np.nonzero((some < low[columns]) | (some > high[columns]))
        return rows, columns[places]

    def _far_entries_of_csr(self, X: Csr) -> tuple[Array, Array]:
        low, high = self._limits  # type: ignore[misc]
        far = np.flatnonzero((X.data < low[X.indices]) | (X.data > high[X.indices]))
        rows, columns = np.searchsorted(X.indptr, far, side="right") - 1, X.indices[far]
        if len(self._zero_is_far):
            missing = np.nonzero(X[:, self._zero_is_far].toarray() == 0)
            rows = np.concatenate([rows, missing[0]])
            columns = np.concatenate([columns, self._zero_is_far[missing[1]]])
        return rows, columns

    def warn(self, owner: str, names: Sequence[str] | Array | None = None) -> None:
        """Warn once of all far rows, with their number and their columns, unless a caller gathers several calls."""
        gathering = _gathering.get()
        if names is None and gathering is not None:
            names = gathering.names
        columns = [str(column if names is None else names[column]) for column in sorted(self._columns)]
        if gathering is not None:
            gathering.add(self._n_rows, self._n_far, columns, self._shrinks)
        elif self._n_far:
            _warn(owner, self._n_rows, self._n_far, columns, self._shrinks)


# What a fit keeps of its training rows; and what an online learner keeps of the rows it has seen and of its kernel.
LIMITS = Stored(
    far_limits=Reals((2, "d"), finite=False, attribute="_far_limits", optional=True),
    far_margins=Reals(("d",), positive=True, finite=False, attribute="_far_margins", optional=True),
)
RANGES = Stored(
    column_ranges=Reals((2, "d"), attribute="_column_ranges", optional=True),
    reaches=Reals(("d",), finite=False, attribute="_reaches", optional=True),
)


class KnowsFarRows:
    """The limits that a learner keeps of its training rows, beyond which rows are far."""

    # Beyond these values of a column a row is far, and their distance from the bulk; None where features follow the
    # kernel.
    _far_limits: Array | None = None
    _far_margins: Array | None = None

    def _set_far_limits(self, feature_map: FeatureMap, survey: Survey) -> None:
        sample = survey.sample.counted
        reaches = feature_map.reaches(sample.shape[1], LEVEL)
        if reaches is not None:
            self._far_limits, self._far_margins = _limits_and_margins(reaches, survey.ranges, sample)

    def _far_rows(self) -> FarRows:
        """Return what counts the far rows of a prediction."""
        return FarRows(self._far_limits)


class GatheredFarRows:
    """The far rows of several calls, for one warning of all of them.

    Parameters
    ----------
    names : list of str, optional
        Names of the columns, for learners that do not know them.

    >>> gathered = GatheredFarRows()
    >>> with gathered.collecting():
    ...     pass  # calls of predict
    >>> gathered.warn("TableModel")
    """

    def __init__(self, names: Sequence[str] | None = None) -> None:
        self.names = names
        self._n_rows = self._n_far = 0
        self._shrinks = False
        self._columns: dict[str, None] = {}

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect the far rows of the calls inside the ``with`` block, in place of a warning for each call."""
        token = _gathering.set(self)
        try:
            yield
        finally:
            _gathering.reset(token)

    def warn(self, owner: str) -> None:
        """Warn once of all far rows that were gathered."""
        if self._n_far:
            _warn(owner, self._n_rows, self._n_far, list(self._columns), self._shrinks)

    def add(self, n_rows: int, n_far: int, columns: list[str], shrinks: bool = False) -> None:
        """Add the far rows of a call: how many of how many rows, and the columns in which they are far."""
        self._shrinks |= shrinks
        self._n_rows += n_rows
        self._n_far += n_far
        self._columns.update(dict.fromkeys(columns))


_gathering: ContextVar[GatheredFarRows | None] = ContextVar("mercer_far_rows", default=None)


def _warn(owner: str, n_rows: int, n_far: int, columns: list[str], shrinks: bool) -> None:
    more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
    where = f", in column{'s' if len(columns) > 1 else ''} {', '.join(columns[:_NAMED])}{more}" if columns else ""
    shrunk = "Their predictions are shrunk towards the mean of the training rows (far_rows='keep' leaves them)."
    kept = "Results may be wrong, unless the model was trained on these very rows."
    warn(
        f"{owner}: {n_far} of {n_rows} rows lie far from the training rows{where}: random Fourier features do not "
        f"decay where the kernel does. {shrunk if shrinks else kept} Clip or transform columns with long tails "
        "(sklearn.preprocessing.QuantileTransformer), choose alpha='loo' in ridge regression, or take "
        "features=Nystroem(...), whose features return to 0 with the kernel.",
        UserWarning,
        stacklevel=caller_level(),
    )
