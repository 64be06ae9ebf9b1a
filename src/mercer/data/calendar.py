"""Dates as numbers: days since 1970, and the place in the year, in the week and in the day."""

import re
from collections.abc import Sequence

import numpy as np

from mercer._typing import Array

# The columns of numbers that a date becomes, in order.
DATE_PARTS = ("days", "year sin", "year cos", "week sin", "week cos", "day sin", "day cos")
_DAY, _EPOCH = np.timedelta64(1, "D"), np.datetime64(0, "D")
# Days from 1970 beyond which the calendar ends: about the years -800 and 4700.
_LAST_DAY = 1e6
_ISO = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?:Z|([+-])(\d{2}):?(\d{2}))?)?", re.ASCII
)


def calendar(days: Array) -> Array:
    """Return (n, 7) numbers for days since 1970 (n,): the days, and three places on a circle as sine and cosine.

    The days carry the trend and the year. The circles are the day of the year, the day of the week, and the time of the
    day: the last day of December is next to the first of January, and Sunday next to Monday. NaN gives NaN.

    >>> calendar(np.array([4.5])).round(2).tolist()  # noon of 5 January 1970, a Monday
    [[4.5, 0.07, 1.0, 0.0, 1.0, 0.0, -1.0]]
    """
    days = np.asarray(days, dtype=np.float64)
    whole = np.floor(np.clip(days, -_LAST_DAY, _LAST_DAY))
    dates = _EPOCH + np.nan_to_num(whole).astype(np.int64) * _DAY
    years = dates.astype("datetime64[Y]")
    first, following = years.astype("datetime64[D]"), (years + np.timedelta64(1, "Y")).astype("datetime64[D]")
    in_year = (dates - first) / (following - first)
    in_week = (whole + 3) % 7 / 7  # 1 January 1970 was a Thursday, and Monday is 0
    turns = 2 * np.pi * np.stack([in_year, in_week, days - np.floor(days)])
    out = np.column_stack([days, *(part for turn in turns for part in (np.sin(turn), np.cos(turn)))])
    out[np.isnan(days)] = np.nan
    return out


def days_of_text(values: Sequence[str]) -> Array | None:
    """Return ISO 8601 dates (2024-03-31, 2024-03-31 18:30:00, also with a zone) as days since 1970.

    None where a text is not such a date. A time with a zone is counted in UTC.

    >>> days_of_text(["1970-01-02", "1970-01-03T12:00:00"]).tolist(), days_of_text(["3/4/70"])
    ([1.0, 2.5], None)
    """
    out = np.empty(len(values))
    for i, value in enumerate(values):
        found = _ISO.fullmatch(value)
        if found is None:
            return None
        date, time, sign, hours, minutes = found.groups()
        try:
            moment = np.datetime64(date if time is None else f"{date}T{time}")
        except ValueError:  # such as 30 February
            return None
        out[i] = (moment - _EPOCH) / _DAY
        if sign is not None:
            out[i] -= (1 if sign == "+" else -1) * (int(hours) + int(minutes) / 60) / 24
    return out
