"""Readers: every kind of source gives the same rows, and its faults are named."""

import bz2
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, dataset, parquet
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from mercer.data import SvmlightReader, as_blocks

rng = np.random.RandomState(0)
X = np.round(rng.standard_normal((23, 3)), 3)
X[:, 2] = rng.randint(5, size=23)
Y = rng.randint(2, size=23)
NAMES = ("a", "b", "c")


def _table(dtype=np.float64):
    columns = {name: X[:, j].astype(dtype) for j, name in enumerate(NAMES)}
    return pa.table({**columns, "target": Y})


def _saved(folder, kind):
    path = folder / f"rows.{kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "csv":
        csv.write_csv(_table(), path)
    elif kind == "parquet":
        parquet.write_table(_table(), path, row_group_size=5)
    elif kind == "svm":
        dump_svmlight_file(X, Y, str(path), zero_based=False)
    return path


def _folder(folder):
    for i in range(3):
        parquet.write_table(_table().slice(8 * i, 8), folder / f"part{i}.parquet")
    return folder


SOURCES = {
    "memmap": lambda folder: (np.load(_saved(folder, "npy"), mmap_mode="r"), Y),
    "npy": lambda folder: (_saved(folder, "npy"), Y),
    "npy by name": lambda folder: (str(_saved(folder, "npy")), Y),
    "list": lambda folder: (X.tolist(), Y),
    "pandas": lambda folder: (_table().to_pandas(), "target"),
    "polars": lambda folder: (pl.from_arrow(_table()), "target"),
    "table": lambda folder: (_table(), "target"),
    "parquet": lambda folder: (_saved(folder, "parquet"), "target"),
    "parquet folder": lambda folder: (_folder(folder), "target"),
    "parquet dataset": lambda folder: (dataset.dataset(_saved(folder, "parquet")), "target"),
    "csv": lambda folder: (_saved(folder, "csv"), "target"),
    "svmlight": lambda folder: (_saved(folder, "svm"), None),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_rows_and_labels(tmp_path, kind):
    source, y = SOURCES[kind](tmp_path)
    blocks = as_blocks(source, y, block_rows=6)
    assert (blocks.width, blocks.dtype) == (3, np.float64)
    for _ in range(2):
        parts = list(blocks.labelled())
        assert [part.n_rows for part in parts] == [6, 6, 6, 5]
        np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), Y)
        rows = np.vstack([part.X.toarray() if blocks.is_sparse else part.X for part in parts])
        np.testing.assert_array_equal(rows, X)
    assert (blocks.n_rows, len(blocks)) == (23, 4)
    assert blocks.names == (NAMES if isinstance(y, str) else None)


@pytest.mark.parametrize("make", [lambda t: t, lambda t: t.to_pandas(), pl.from_arrow])
def test_float32_columns_stay_and_mixed_ones_become_float64(make):
    for dtype in (np.float32, np.int16):
        frame = make(_table(dtype).drop(["target"]))
        expected = np.float32 if dtype == np.float32 else np.float64
        assert as_blocks(frame).dtype == next(iter(as_blocks(frame))).dtype == expected
    assert as_blocks(make(_table(np.float32)), "target").dtype == np.float32
    assert as_blocks(make(_table(np.float32))).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64, bool])
def test_numbers_of_any_type_in_a_file(tmp_path, dtype):
    values = (np.arange(12).reshape(6, 2) % 5).astype(dtype)
    np.save(tmp_path / "rows.npy", values)
    blocks = as_blocks(tmp_path / "rows.npy", block_rows=4)
    assert blocks.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(np.vstack(list(blocks)), values)


def test_a_column_of_weights():
    blocks = as_blocks(_table(), "target", sample_weight="c", block_rows=10)
    assert blocks.names == ("a", "b")
    np.testing.assert_array_equal(np.concatenate([b.sample_weight for b in blocks.labelled()]), X[:, 2])


@pytest.mark.parametrize("opener", [open, gzip.open, bz2.open])
@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_files_with_comments_compressed_and_of_both_origins(tmp_path, opener, zero_based):
    path = tmp_path / ("a9a" + {gzip.open: ".gz", bz2.open: ".bz2"}.get(opener, ""))
    dense = np.zeros((9, 4))
    dense[1, 0], dense[7, 3] = 2.5, -1  # the first block alone would not show the width
    with opener(path, "wb") as file:
        file.write(b"# a comment\n")
        dump_svmlight_file(sparse.csr_matrix(dense), np.arange(9), file, zero_based=zero_based)
    blocks = as_blocks(SvmlightReader(path, dtype=np.float32), block_rows=3)
    assert (blocks.width, blocks.n_rows, blocks.dtype) == (4, 9, np.float32)
    np.testing.assert_array_equal(np.vstack([block.toarray() for block in blocks]), dense)
    assert as_blocks(SvmlightReader(path, n_features=6)).width == 6
    with pytest.raises(ValueError, match=r"n_features must be at least the columns of .*, 4, got 2"):
        SvmlightReader(path, n_features=2)


def _frame(**columns):
    return pd.DataFrame({"a": [1.0, 2.0], **columns})


FAULTS = [
    (lambda: as_blocks(_frame(city=["x", "y"])), r"X holds text or objects in column 'city' \("),
    (lambda: as_blocks(pl.from_pandas(_frame(city=["x", "y"]))), "text or objects in column 'city'"),
    (lambda: as_blocks(pa.table(_frame(city=["x", "y"]))), "text or objects in column 'city'"),
    (lambda: as_blocks(_frame(), "b"), r"y must name a column, got 'b'. The columns are \['a'\]"),
    (lambda: as_blocks(_frame(), sample_weight="w"), "sample_weight must name a column, got 'w'"),
    (lambda: list(as_blocks(_frame(b=pd.array([1, None], dtype="Int64")))), "X contains NaN at row 1, column 1"),
    (lambda: list(as_blocks(pl.DataFrame({"a": [1, None]}))), "X contains NaN at row 1, column 0"),
    (lambda: list(as_blocks(pa.table({"a": [1, None]}))), "X contains NaN at row 1, column 0"),
    (lambda: as_blocks("rows.xyz"), "X names a file that does not exist"),
    (lambda: as_blocks(Path(__file__)), "file of unknown kind, .* known are .npy, .parquet, .csv"),
    (lambda: as_blocks(np.array([["x"]])), "X holds text"),
    (lambda: as_blocks(np.eye(2) + 1j), "Complex data not supported"),
]


@pytest.mark.parametrize(("make", "message"), FAULTS, ids=range(len(FAULTS)))
def test_faults_are_named(make, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        list(make())
