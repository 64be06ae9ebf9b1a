"""Columns of data frames by what they hold: pandas and polars give the same kinds and values."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer.data.frame_columns import column_of_objects, frame_column, is_frame
from mercer.validation import collected

COLUMNS = {
    "number": ([1.5, None, 2.0], "number", [1.5, np.nan, 2.0]),
    "truth": ([True, None, False], "number", [1.0, np.nan, 0.0]),
    "date": ([datetime.date(1970, 1, 2), None, datetime.date(1970, 1, 3)], "date", [1.0, np.nan, 2.0]),
    "time": ([datetime.datetime(1970, 1, 2, 12), None, None], "date", [1.5, np.nan, np.nan]),
    "text of dates": (["1970-01-02", None, "1970-01-03 12:00:00"], "date", [1.0, np.nan, 2.5]),
    "text": (["a", None, "1970-01-02"], "categories", ["a", None, "1970-01-02"]),
    "text of numbers": (["1", "2", None], "categories", ["1", "2", None]),
}


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("name", COLUMNS)
def test_the_values_decide_the_kind(library, name):
    values, kind, expected = COLUMNS[name]
    options = {"dtype": object} if library is pd else {}
    frame = library.DataFrame({"c": library.Series(values, **options)})
    found, found_kind = frame_column(frame, 0)
    assert found_kind == kind
    assert found.dtype == (object if kind == "categories" else np.float64)
    np.testing.assert_array_equal(found, np.array(expected, dtype=found.dtype))


@pytest.mark.parametrize("library", [pd, pl])
def test_a_declared_category_stays_one(library):
    frame = pd.DataFrame({"c": pd.Categorical([2.0, None, 1.0])}) if library is pd else None
    if library is pl:
        frame = pl.DataFrame({"c": pl.Series(["2020-01-01", None, "2020-01-02"], dtype=pl.Categorical)})
    values, kind = frame_column(frame, 0)
    assert kind == "categories"
    assert values.tolist() == (["2", None, "1"] if library is pd else ["2020-01-01", None, "2020-01-02"])


def test_zones_are_counted_in_utc():
    moment = pd.Timestamp("1970-01-02 12:00", tz="Europe/Rome")  # an hour ahead
    assert frame_column(pd.DataFrame({"t": [moment]}), 0)[0].tolist() == [pytest.approx(1.5 - 1 / 24)]
    frame = pl.DataFrame({"t": [datetime.datetime(1970, 1, 2, 12)]}).with_columns(
        pl.col("t").dt.replace_time_zone("Europe/Rome")
    )
    assert frame_column(frame, 0)[0].tolist() == [pytest.approx(1.5 - 1 / 24)]


def test_values_that_have_no_hash_are_text():
    values, kind = column_of_objects([[1], None])
    assert (kind, values.tolist()) == ("categories", ["[1]", None])


def test_lazy_frames_are_collected_and_arrays_are_no_frames():
    lazy = pl.DataFrame({"a": [1.0]}).lazy()
    assert is_frame(collected(lazy))
    assert not is_frame(lazy)
    assert not is_frame(np.eye(2))
