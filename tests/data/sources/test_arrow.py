"""pyarrow's tables and datasets."""

import decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, dataset, parquet

from mercer.data import as_blocks
from mercer.structures import Strings
from mercer.testing import check_reader

from .conftest import NAMES


@pytest.mark.parametrize("kind", ["table", "parquet", "csv"])
def test_the_laws_of_a_source(given, tmp_path, kind):
    def make(X):
        if kind == "table":
            return given.table(X)
        path = tmp_path / f"rows{len(list(tmp_path.iterdir()))}"
        (parquet.write_table if kind == "parquet" else csv.write_csv)(given.table(X), path)
        return dataset.dataset(path, format=kind)

    whole, hole = make(given.X), make(given.hole)
    check_reader(
        lambda: as_blocks(whole, target="target", ignore=["text"]),
        given.X,
        given.y,
        names=NAMES,
        missing=(lambda: as_blocks(hole, target="target", ignore=["text"]), 17),
    )


@pytest.mark.parametrize(
    "kind", [pa.float32(), pa.int8(), pa.bool_(), pa.decimal128(9, 3), pa.dictionary(pa.int8(), pa.float64())]
)
def test_numbers_of_every_type(kind):
    values = [1, 0, None, 1] if kind == pa.bool_() else [1, 3, None, 2]
    column = pa.array([None if v is None else _value(kind, v) for v in values], type=kind)
    source = as_blocks(pa.table({"a": column})).reader
    (piece,) = source.pieces(9)
    assert piece.X.dtype == (np.float32 if kind == pa.float32() else np.float64)
    np.testing.assert_array_equal(piece.X[:, 0], [np.nan if v is None else v for v in values])


def _value(kind, value):
    return {pa.bool_(): bool, pa.decimal128(9, 3): decimal.Decimal}.get(kind, lambda v: v)(value)


def test_labels_keep_their_type():
    columns = {"i": [1, 2], "t": ["u", "v"], "b": [True, False], "d": pa.array(["u", "v"]).dictionary_encode()}
    table = pa.table({"x": [0.0, 1.0], **columns})
    for name, dtype in {"i": np.int64, "t": object, "b": bool, "d": object}.items():
        (block,) = as_blocks(table, target=name, columns=["x"]).labelled()
        assert block.y.dtype == dtype
        assert block.y.tolist() == table.column(name).to_pylist()


def test_a_name_that_is_there_twice_is_refused():
    with pytest.raises(ValueError, match="the column 'a' is there twice"):
        as_blocks(pa.table([[1.0], [2.0]], names=["a", "a"]))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int8(), pa.string())])
def test_a_column_of_text_as_objects(tmp_path, kind):
    texts = ["one", "", "\u00e9", "two"] * 3
    given = [text.encode() for text in texts] if kind == pa.binary() else texts
    y = np.arange(12)
    table = pa.table({"text": pa.array(given).cast(kind), "y": y})
    path = tmp_path / "texts.parquet"
    parquet.write_table(table, path)
    check_reader(lambda: as_blocks(table.slice(0), target="y", text="text"), Strings(texts), y)
    check_reader(lambda: as_blocks(path, target="y", text=0), Strings(texts), y)


def test_a_missing_text_is_named():
    table = pa.table({"text": pa.array(["a"] * 5 + [None] + ["b"] * 3)})
    with pytest.raises(ValueError, match="column 'text' misses its text in row 5"):
        list(as_blocks(table, text="text", block_rows=2))
