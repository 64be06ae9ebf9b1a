"""One column of a pandas or polars data frame as numbers, days or text, by what it holds."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from numbers import Real
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import DTypeLike

from mercer._typing import Array
from mercer.data.calendar import days_of_text
from mercer.data.columns import printed
from mercer.validation import is_date

_DAY = np.timedelta64(1, "D")


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


class PandasFrame(Frame, Protocol):
    """What else is used of a data frame of pandas."""

    @property
    def index(self) -> Sequence[object]:
        """The names of the rows."""

    @property
    def dtypes(self) -> Iterable[np.dtype[np.generic]]:
        """The types of the columns."""

    def to_numpy(self, *, dtype: DTypeLike, na_value: float) -> Array:
        """Return the entries as an array of one type."""


def is_frame(X: object) -> TypeGuard[Frame]:
    """Tell a pandas or polars data frame."""
    # The shape first: lazy frames have none, and warn when they are asked for their columns.
    return hasattr(X, "shape") and hasattr(X, "columns") and hasattr(X, "dtypes") and not hasattr(X, "todense")


def frame_column(X: Any, j: int) -> tuple[Array, str]:
    """Return column j of a data frame, and its kind: "number", "date" or "categories".

    Numbers and days since 1970 are float64, with NaN where a value is missing; categories are text, or None. Objects
    that are all truth values or numbers are numbers; text that is all ISO dates is a date, as in csv files.
    """
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
    given: list[object] = [None if gone else value for value, gone in zip(values, missing, strict=True)]
    if type(dtype).__name__ in ("CategoricalDtype", "Categorical", "Enum"):
        return _texts(given), "categories"
    return column_of_objects(given)


def column_of_objects(values: list[object]) -> tuple[Array, str]:
    """Return values of any type, None where one is missing, as a column, and its kind.

    >>> column_of_objects([True, None, False])
    (array([ 1., nan,  0.]), 'number')
    >>> column_of_objects(["2020-01-01", None])[1], column_of_objects(["Rome", None])[1]
    ('date', 'categories')
    """
    try:
        distinct: list[object] = [value for value in dict.fromkeys(values) if value is not None]
    except TypeError:  # lists and dicts
        return _texts(values), "categories"
    if distinct and all(isinstance(value, Real) for value in distinct):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64), "number"
    if distinct and all(isinstance(value, date) for value in distinct):
        moments = [value.replace(tzinfo=None) if isinstance(value, datetime) else value for value in distinct]
        days = (np.array(moments, dtype="datetime64[us]") - np.datetime64(0, "D")) / _DAY
    else:
        texts = [value for value in distinct if isinstance(value, str)]
        found = days_of_text(texts) if texts and len(texts) == len(distinct) else None
        if found is None:
            return _texts(values), "categories"
        days = found
    known = dict(zip(distinct, days.tolist(), strict=True))
    return np.array([np.nan if value is None else known[value] for value in values]), "date"


def _texts(values: list[object]) -> Array:
    out = np.empty(len(values), dtype=object)
    out[:] = [None if value is None else printed(value) for value in values]
    return out


def _floats(column: Any, *, is_pandas: bool) -> Array:
    if is_pandas:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    values = column.to_list()
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _is_duration(dtype: object) -> bool:
    return getattr(dtype, "kind", "") == "m" or str(dtype).startswith("Duration")


def _days(column: Any) -> Array:
    """Return dates as days since 1970, durations as days; NaN for what is missing. Zones are counted in UTC."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert(None)  # of pandas
    elif getattr(column.dtype, "time_zone", None) is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    values = np.asarray(column.to_numpy())
    epoch = np.datetime64(0, "D") if values.dtype.kind == "M" else np.timedelta64(0, "D")
    days = (values - epoch) / _DAY
    return np.asarray(days, dtype=np.float64)  # NaT becomes NaN
