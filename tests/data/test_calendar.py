"""Dates as numbers: circles close, missing dates stay missing, and text is a date only if all of it is ISO 8601."""

import numpy as np
import pytest

from mercer.data.calendar import DATE_PARTS, calendar, days_of_text


def _days(*dates):
    return np.array([(np.datetime64(date) - np.datetime64(0, "D")) / np.timedelta64(1, "D") for date in dates])


def test_the_circles_close_at_the_end_of_the_year_the_week_and_the_day():
    last, first = calendar(_days("2023-12-31T23:59:59", "2024-01-01T00:00:01"))
    near = np.abs(last - first)
    assert near[DATE_PARTS.index("year sin")] < 2 * np.pi / 365
    assert near[DATE_PARTS.index("week sin")] < 2 * np.pi / 7  # Sunday and Monday
    assert near[DATE_PARTS.index("day sin")] < 1e-3
    assert calendar(_days("2024-01-01"))[0, 3:5].tolist() == [0, 1]  # a Monday


@pytest.mark.parametrize(
    ("date", "fraction"), [("2023-07-02", 182 / 365), ("2024-07-01", 182 / 366), ("1960-01-01", 0)]
)
def test_the_place_in_the_year_counts_leap_days(date, fraction):
    parts = calendar(_days(date))[0]
    np.testing.assert_allclose(parts[1:3], [np.sin(2 * np.pi * fraction), np.cos(2 * np.pi * fraction)], atol=1e-12)


def test_a_missing_date_is_missing_in_every_part_and_far_dates_are_finite():
    assert np.isnan(calendar(np.array([np.nan]))).all()
    assert np.isfinite(calendar(np.array([-1e12, 1e12]))).all()


def test_text_is_a_date_if_all_of_it_is():
    given = [
        "1970-01-02",
        "1970-01-02 12:00",
        "1970-01-02T12:00:00.5",
        "1970-01-02T12:00:00Z",
        "1970-01-02T12:00:00+06:00",
    ]
    expected = [1, 1.5, 1.5 + 0.5 / 86400, 1.5, 1.25]
    np.testing.assert_allclose(days_of_text(given), expected, rtol=1e-15)
    for wrong in ("", "1970", "1970-01", "today", "NaT", "02/01/1970", "1970-02-30", "1970-01-02x", "١٩٧٠-01-02"):
        assert days_of_text([*given, wrong]) is None
