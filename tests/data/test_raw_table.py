"""Tables in memory: blocks of sources, other kinds of columns, and errors that name the column and the row."""

import numpy as np
import pandas as pd
import pytest

from mercer.data import Choice, TableError, open_source
from mercer.data.raw_table import RawTable, read_table

TEXT = "when,city,a,y\n2020-01-01,Rome,1,2\n,,2,3\n2020-01-03 12:00:00,Oslo,,4\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(TEXT)
    opened = open_source(path)
    return opened.choose(Choice("y").of(opened))


def test_a_file_becomes_a_table_in_the_order_of_its_columns(source):
    table, y, weight = read_table(source)
    assert (table.names, table.kinds) == (["when", "city", "a"], ["date", "categories", "number"])
    np.testing.assert_array_equal(table.values[0], [18262.0, np.nan, 18264.5])
    assert table.values[1].tolist() == ["Rome", None, "Oslo"]
    np.testing.assert_array_equal(y, [2, 3, 4])
    assert weight is None
    assert table.missing == {"when": (1, 2), "city": (1, 2), "a": (1, 3)}


def test_a_frame_of_the_same_rows_is_the_same_table(source, tmp_path):
    table, _, _ = read_table(source)
    frame = RawTable.of("frame", pd.read_csv(tmp_path / "rows.csv"), only=["when", "city", "a"])
    assert (frame.names, frame.kinds) == (table.names, table.kinds)
    for one, other in zip(frame.values, table.values, strict=True):
        np.testing.assert_array_equal(one, other)


def test_columns_that_are_not_asked_for_are_never_looked_at():
    frame = pd.DataFrame({"a": [1.0], "b": [np.inf]})
    assert RawTable.of("owner", frame, only=["a"]).names == ["a"]
    with pytest.raises(ValueError, match="infinity in column 'b', row 0"):
        RawTable.of("owner", frame)


def _text(*values):
    return np.array(values, dtype=object)


CONVERSIONS = [
    (_text("1", "2.5", None), "categories", "number", [1.0, 2.5, np.nan]),
    (_text("True", "false"), "categories", "number", [1.0, 0.0]),
    (_text("1970-01-02", None), "categories", "date", [1.0, np.nan]),
    (np.array([1.0, np.nan, 2.5]), "number", "categories", ["1", None, "2.5"]),
    (np.array([np.nan]), "number", "date", [np.nan]),
    (np.array([np.nan]), "number", "categories", [None]),
    (_text(None), "categories", "number", [np.nan]),
]


@pytest.mark.parametrize(("values", "kind", "other", "expected"), CONVERSIONS, ids=range(len(CONVERSIONS)))
def test_values_become_the_kind_of_the_training_rows(values, kind, other, expected):
    (found,) = RawTable([values], [kind], ["c"]).as_kinds("owner", [other]).values
    np.testing.assert_array_equal(found, np.array(expected, dtype=found.dtype))


FAULTS = [
    (_text("1", "x"), "categories", "number", "owner: column 'c' holds 'x' in row 12, and held numbers in training"),
    (_text("2020-01-01", "soon"), "categories", "date", "column 'c' holds 'soon' in row 12, and held dates"),
    (_text("inf"), "categories", "number", "column 'c' holds 'inf' in row 11"),
    (np.array([1.0]), "number", "date", "column 'c' holds numbers, and held dates in training. Convert it"),
    (np.array([1.0]), "date", "categories", "column 'c' holds dates, and held text in training"),
]


@pytest.mark.parametrize(("values", "kind", "other", "message"), FAULTS, ids=range(len(FAULTS)))
def test_what_does_not_convert_is_named_with_its_row(values, kind, other, message):
    with pytest.raises(TableError, match=message):
        RawTable([values], [kind], ["c"]).as_kinds("owner", [other], first_row=10)


def test_columns_are_matched_by_name():
    table = RawTable([np.zeros(1), np.ones(1)], ["number", "number"], ["a", "b"])
    assert [column.tolist() for column in table.matched("owner", {"b": "number", "a": "number"}).values] == [[1], [0]]
    with pytest.raises(TableError, match=r"owner: the model needs the column 'aa'. Did you mean 'a'"):
        table.matched("owner", {"aa": "number"})
