"""From what a user gives to a source: files, frames, blocks; columns that are missing, unknown or ignored."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer.data import Block, Reader, TableError, TableWarning, as_blocks
from mercer.learners.table_source import matched, opened, without


class _Squares(Reader):
    width, dtype = 2, np.dtype(float)

    def pieces(self, block_rows):
        yield Block(np.eye(2))


@pytest.fixture
def frame():
    return pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})


def test_frames_files_and_blocks_have_the_same_columns(frame, tmp_path):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    blocks = as_blocks(tmp_path / "rows.csv", ignore=["b"])
    for table in (frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy(), tmp_path / "rows.csv", blocks):
        assert opened("owner", table).kinds == {"a": "number", "b": "category"}
    with pytest.raises(TableError, match="owner: _Squares has no named columns"):
        opened("owner", as_blocks(_Squares()))


def test_ignored_columns_of_frames_are_left_out_at_once(frame):
    table, ignored = without("owner", frame, ["b"])
    assert (table.names, ignored) == (["a"], ["b"])
    with pytest.raises(TableError, match="the column to ignore 'c' is not a column"):
        without("owner", frame, ["c"])


def test_new_rows_have_the_columns_of_the_model(frame):
    source = matched("owner", frame[["b", "a"]], {"a": "number", "b": "categories"}, ())
    assert (source.columns.numbers, source.columns.categories) == (("a",), ("b",))
    with pytest.warns(TableWarning, match="owner: columns that the model does not know, ignored: 'b'"):
        matched("owner", frame, {"a": "number"}, ())
    matched("owner", frame, {"a": "number"}, ("b",))
    with pytest.raises(TableError, match=r"owner: the model needs the column 'aa'"):
        matched("owner", frame[["a"]], {"aa": "number"}, ("a",))
