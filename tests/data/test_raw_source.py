"""Tables in memory as sources: the rows of a frame, with the kinds of their values."""

import numpy as np
import pandas as pd
import pytest

from mercer.data import Choice, TableError, TableWarning
from mercer.data.raw_source import RawSource
from mercer.data.raw_table import RawTable, read_table


def _source(**columns):
    return RawSource("rows", RawTable.of("rows", pd.DataFrame(columns)))


def test_rows_of_all_kinds_come_back():
    source = _source(a=[1.0, 2.0, 3.0], when=["2020-01-01", None, "2020-01-02"], city=["x", None, "y"], y=[0, 1, 0])
    assert source.kinds == {"a": "number", "when": "date", "city": "category", "y": "number"}
    chosen = source.choose(Choice("y").of(source))
    pieces = list(chosen.pieces(2))
    assert [piece.n_rows for piece in pieces] == [2, 1]
    np.testing.assert_array_equal(pieces[0].X, [[1, 18262], [2, np.nan]])
    table, y, _ = read_table(chosen)
    assert table.values[2].tolist() == ["x", None, "y"]
    assert y.tolist() == [0, 1, 0]


def test_a_column_twice_is_refused():
    table = RawTable([np.zeros(1)] * 2, ["number"] * 2, ["a", "a"])
    with pytest.raises(TableError, match="rows: the frame has the column 'a' twice"):
        RawSource("rows", table)


@pytest.mark.parametrize(
    ("values", "warns"), [(["1"] * 30 + ["x"], True), (["1"] * 3 + ["x"], False), (["1"] * 30, False)]
)
def test_numbers_with_a_few_texts_are_told_of(values, warns, recwarn):
    source = _source(a=values, b=np.arange(len(values)))
    source.choose(Choice().of(source)).warn_of_doubts()
    told = [str(warning.message) for warning in recwarn if warning.category is TableWarning]
    assert len(told) == warns
    if warns:
        assert "rows row 31: column 'a' is read as text because of 'x' there; 1 of the first 31 values" in told[0]
