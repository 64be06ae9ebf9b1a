"""svmlight files."""

import bz2
import gzip
import io

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from mercer.data import SvmlightReader, TableError, as_blocks
from mercer.testing import check_reader


def _text(X, y, *, zero_based=False):
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, zero_based=zero_based)
    return file.getvalue()


def _zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": _zstd}


@pytest.mark.parametrize("suffix", PACKERS)
def test_the_laws_of_a_source(given, tmp_path, suffix):
    path, hole = tmp_path / f"rows.svm{suffix}", tmp_path / f"hole.libsvm{suffix}"
    path.write_bytes(PACKERS[suffix](_text(given.X, given.y)))
    lines = _text(given.X, given.y).splitlines()
    lines[17] = b"1 2:nan"
    hole.write_bytes(PACKERS[suffix](b"\n".join(lines)))
    X = sparse.csr_array(given.X)
    check_reader(lambda: path, X, given.y.astype(float), missing=(lambda: hole, 17))
    check_reader(lambda: as_blocks(path, columns=[2, 0]), X[:, [2, 0]], given.y.astype(float))
    check_reader(lambda: as_blocks(path, target=1, ignore=["x0"]), X[:, [2]], given.X[:, 1])


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("zero_based", [True, False])
def test_comments_any_name_and_columns_of_both_origins(tmp_path, suffix, zero_based):
    path = tmp_path / f"a9a{suffix}"
    dense = np.zeros((9, 4))
    dense[1, 0], dense[7, 3] = 2.5, -1  # the first block alone would not show the width
    text = b"# a comment\n" + _text(sparse.csr_matrix(dense), np.arange(9), zero_based=zero_based)
    path.write_bytes(PACKERS[suffix](text))
    blocks = as_blocks(SvmlightReader(path, dtype=np.float32), block_rows=3)
    assert (blocks.width, blocks.n_rows, blocks.dtype) == (4, 9, np.float32)
    np.testing.assert_array_equal(np.vstack([block.toarray() for block in blocks]), dense)
    assert as_blocks(SvmlightReader(path, n_features=6)).width == 6
    with pytest.raises(ValueError, match=r"n_features must be at least the columns of .*, 4, got 2"):
        SvmlightReader(path, n_features=2)


FAULTS = {
    "another format": ("1 1:2\nthis is no svmlight\n", "line 2: not svmlight"),
    "no rows": ("# nothing\n", "there are no rows"),
    "empty": ("", "the file is empty"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(tmp_path, fault):
    text, message = FAULTS[fault]
    (tmp_path / "rows.svm").write_text(text)
    with pytest.raises(TableError, match=f"rows.svm.*{message}"):
        as_blocks(tmp_path / "rows.svm")
