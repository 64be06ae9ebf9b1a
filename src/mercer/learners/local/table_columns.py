"""The columns of arrays and data frames as numbers: values, dates, categories, and what is missing."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

import numpy as np

from mercer._typing import Array
from mercer.learners.local.scaling import weighted_median
from mercer.state import Flag, Many, OneOf, Real, Stored, Text, part
from mercer.validation import is_date

_DAY = np.timedelta64(1, "D")


@part("TableColumn")
@dataclass(frozen=True)
class TableColumn:
    """How one column becomes columns of numbers.

    A number stays one column; where values are missing in the training rows, a second column is 1 there, and the median
    takes their place. A date becomes days since 1970, the month, the day of the week and the hour. Text and categories
    become a column of 0 and 1 for each category, the most frequent ones; a missing value is a category too.

    Attributes
    ----------
    kind : {"number", "date", "categories"}
    categories : list of str
    has_missing : bool
        Whether a missing value has a column of its own.
    fill : float
        What takes the place of a missing number or date (in days).
    """

    _stored = Stored(
        kind=OneOf(("number", "date", "categories")),
        categories=Many(Text()),
        has_missing=Flag(),
        fill=Real(),
    )

    kind: str
    categories: list[str]
    has_missing: bool
    fill: float

    @classmethod
    def of(cls, values: Array, kind: str, max_categories: int, weight: Array) -> "TableColumn":
        """Learn from the values of a column, as ``RawTable`` holds them, with the weights of its rows."""
        if kind == "categories":
            counts: Counter[str] = Counter()
            for value, count in zip(values.tolist(), weight.tolist(), strict=True):
                if value is not None:
                    counts[value] += count
            frequent = sorted(counts, key=lambda value: (-counts[value], value))[:max_categories]
            return cls(kind, sorted(frequent), any(value is None for value in values.tolist()), 0.0)
        missing = np.isnan(values)
        fill = 0.0 if missing.all() else weighted_median(values[~missing], weight[~missing])
        return cls(kind, [], bool(missing.any()), fill)

    def names(self, name: str) -> list[str]:
        """Return the names of the columns of numbers."""
        own = {"number": [name], "categories": [f"{name}={value}" for value in self.categories]}
        own["date"] = [f"{name} {unit}" for unit in ("days", "month", "weekday", "hour")]
        return [*own[self.kind], *([f"{name} is missing"] if self.has_missing else [])]

    def numbers(self, values: Array) -> Array:
        """Return the columns of numbers, float64."""
        if self.kind == "categories":
            place = {value: j for j, value in enumerate(self.categories)}
            codes = np.array([place.get(value, -1) for value in values.tolist()], dtype=np.int64)
            out = (codes[:, None] == np.arange(len(self.categories))).astype(np.float64)
            missing = np.array([value is None for value in values.tolist()])
        else:
            missing = np.isnan(values)
            filled = np.where(missing, self.fill, values)
            out = filled[:, None] if self.kind == "number" else _calendar(filled)
        return np.column_stack([out, missing]) if self.has_missing else out


class Frame(Protocol):
    """What a data frame of pandas or polars has."""

    @property
    def columns(self) -> Iterable[object]:
        """The names of the columns."""

    @property
    def dtypes(self) -> Iterable[object]:
        """The types of the columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""


@dataclass(frozen=True)
class RawTable:
    """The columns of a table, with the kind of each.

    Numbers and days since 1970 are float64, with NaN where a value is missing; categories are text, or None.
    """

    values: list[Array]
    kinds: list[str]

    @classmethod
    def of(cls, owner: str, X: Array | Frame) -> "RawTable":
        """Take the columns of an array or a data frame."""
        if not is_frame(X):
            return cls(list(np.asarray(X).T), ["number"] * X.shape[1])
        found = [_frame_column(X, j) for j in range(X.shape[1])]
        for (values, kind), name in zip(found, X.columns, strict=True):
            if kind != "categories" and np.isinf(values).any():
                raise ValueError(
                    f"{owner}: X contains infinity in column {name!r}, row {int(np.argmax(np.isinf(values)))}. Replace "
                    "it by a missing value, or clip it."
                )
        return cls([values for values, _ in found], [kind for _, kind in found])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values[0])

    def some(self, rows: Array) -> "RawTable":
        """Return some rows, given by their numbers or by a mask."""
        return RawTable([column[rows] for column in self.values], self.kinds)


def is_frame(X: object) -> TypeGuard[Frame]:
    """Tell a pandas or polars data frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and not hasattr(X, "todense")


def _frame_column(X: Any, j: int) -> tuple[Array, str]:
    is_pandas = hasattr(X, "iloc")
    column = X.iloc[:, j] if is_pandas else X[:, j]
    dtype = column.dtype
    if str(dtype) == "Time":  # of polars: nanoseconds since midnight
        return _floats(column.to_physical(), is_pandas=False) / 3600e9, "number"
    if is_date(dtype):
        return _days(column), "date" if not _is_duration(dtype) else "number"
    kind = getattr(dtype, "kind", "O")
    if (is_pandas and kind in "biuf") or (not is_pandas and (dtype.is_numeric() or str(dtype) == "Boolean")):
        return _floats(column, is_pandas=is_pandas), "number"
    missing = (column.isna() if is_pandas else column.is_null()).to_numpy()
    values = column.tolist() if is_pandas else column.to_list()
    out = np.empty(len(values), dtype=object)
    out[:] = [None if gone else str(value) for value, gone in zip(values, missing, strict=True)]
    return out, "categories"


def _floats(column: Any, *, is_pandas: bool) -> Array:
    if is_pandas:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    values = column.to_list()
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _is_duration(dtype: object) -> bool:
    return getattr(dtype, "kind", "") == "m" or str(dtype).startswith("Duration")


def _days(column: Any) -> Array:
    """Return dates as days since 1970, durations as days; NaN for what is missing."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_localize(None)  # of pandas: the time on the clocks there
    elif getattr(column.dtype, "time_zone", None) is not None:
        column = column.dt.replace_time_zone(None)
    values = np.asarray(column.to_numpy())
    epoch = np.datetime64(0, "D") if values.dtype.kind == "M" else np.timedelta64(0, "D")
    days = (values - epoch) / _DAY
    return np.asarray(days, dtype=np.float64)  # NaT becomes NaN


def _calendar(days: Array) -> Array:
    whole = np.floor(days)
    dates = np.datetime64(0, "D") + np.clip(whole, -1e6, 1e6).astype(np.int64) * _DAY
    month = (dates.astype("datetime64[M]").astype(np.int64) % 12) + 1
    weekday = (whole.astype(np.int64) + 3) % 7  # 1 January 1970 was a Thursday, and Monday is 0
    return np.column_stack([days, month, weekday, 24 * (days - whole)])
