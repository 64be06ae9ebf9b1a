"""Columns of arrays and frames: kinds, missing values, dates, and infinity named by its column and row."""

import numpy as np
import pytest

from mercer.data.calendar import DATE_PARTS, calendar
from mercer.data.raw_table import RawTable
from mercer.learners.local.table_columns import TableColumn


def test_an_array_has_columns_of_numbers():
    table = RawTable.of("owner", np.arange(6.0).reshape(3, 2))
    assert table.kinds == ["number", "number"]
    assert [column.tolist() for column in table.values] == [[0, 2, 4], [1, 3, 5]]
    assert [column.tolist() for column in table.some(np.array([2, 0])).values] == [[4, 0], [5, 1]]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_numbers_dates_and_categories(library):
    frames = pytest.importorskip(library)
    dates = np.array(["1970-01-02T12:00", "2001-01-01T00:00"], dtype="datetime64[us]")
    frame = frames.DataFrame({"n": [1, 2], "t": dates, "c": ["a", None], "b": [True, False]})
    table = RawTable.of("owner", frame)
    assert table.kinds == ["number", "date", "categories", "number"]
    assert table.values[1].tolist() == [1.5, 11323.0]
    assert table.values[2].tolist() == ["a", None]


def test_infinity_is_named_by_its_column_and_row():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="owner: X contains infinity in column 'b', row 1"):
        RawTable.of("owner", pandas.DataFrame({"a": [0.0, 1.0], "b": [0.0, np.inf]}))


def test_a_missing_number_is_the_median_with_a_column_of_its_own():
    values = np.array([1.0, np.nan, 3.0, 8.0])
    column = TableColumn.of(values, "number", 32, np.ones(4))
    assert column.names("x") == ["x", "x is missing"]
    assert column.numbers(values).tolist() == [[1, 0], [3, 1], [3, 0], [8, 0]]
    heavy = TableColumn.of(values, "number", 32, np.array([1.0, 1.0, 1.0, 9.0]))
    assert heavy.fill == 8


def test_dates_have_the_parts_of_the_calendar_and_missing_ones_a_column():
    days = np.array([0.25, 11323.0, np.nan])
    column = TableColumn.of(days, "date", 32, np.ones(3))
    assert column.names("t") == [*(f"t {part}" for part in DATE_PARTS), "t is missing"]
    expected = calendar(np.array([0.25, 11323.0, (0.25 + 11323.0) / 2]))
    np.testing.assert_array_equal(column.numbers(days), np.column_stack([expected, [0, 0, 1]]))


def test_the_most_frequent_categories_have_columns():
    values = np.array(["b", "a", "b", "c", None], dtype=object)
    column = TableColumn.of(values, "categories", 2, np.ones(5))
    assert column.categories == ["a", "b"]
    assert column.numbers(values).tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]


def test_frequent_categories_have_columns_beyond_the_most_frequent_ones():
    values = np.array(["b", "a", "b", "c", "c", "d"], dtype=object)
    weight = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.5])
    assert TableColumn.of(values, "categories", 1, weight, frequent=1.5).categories == ["b", "c", "d"]
    assert TableColumn.of(values, "categories", 1, weight, frequent=3.0).categories == ["b"]
