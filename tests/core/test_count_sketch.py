"""Count sketches: compiled against reference."""

import numpy as np
import pytest
from oracle import BUCKETS, COLUMNS, ROWS, assert_agrees, draw_csr, draw_hashes, draw_rows, empty, strided, to_dense

from mercer import _core, reference


@pytest.mark.parametrize("n", ROWS)
@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("n_buckets", [1, 3, 8, 27, 128])
def test_dense(level, dtype, n, d, n_buckets):
    rng = np.random.default_rng([n, d, n_buckets])
    X = draw_rows(rng, n, d, dtype)
    index, sign = draw_hashes(rng, d, n_buckets)
    got, expected = empty((n, n_buckets), dtype), empty((n, n_buckets), dtype)
    _core.count_sketch(X, index, sign, got)
    reference.count_sketch(X, index, sign, expected)
    assert_agrees(got, expected, terms=d)


@pytest.mark.parametrize("n_buckets", [*BUCKETS, 7, 1009])
def test_any_number_of_buckets(level, dtype, n_buckets):
    rng = np.random.default_rng(n_buckets)
    X = strided(draw_rows(rng, 19, 40, dtype))
    X.flags.writeable = False
    index, sign = draw_hashes(rng, 40, n_buckets)
    got, expected = strided(empty((19, n_buckets), dtype)), empty((19, n_buckets), dtype)
    _core.count_sketch(X, index, sign, got)
    reference.count_sketch(X, index, sign, expected)
    assert_agrees(got, expected, terms=40)
    assert np.isnan(got.base[:, n_buckets:]).all()


@pytest.mark.parametrize("n", ROWS)
@pytest.mark.parametrize("d", COLUMNS)
def test_csr(level, dtype, n, d):
    rng = np.random.default_rng([n, d])
    rows = draw_csr(rng, n, d, dtype, np.int64 if n % 2 else np.int32)
    index, sign = draw_hashes(rng, d, 27)
    got, expected, dense = (empty((n, 27), dtype) for _ in range(3))
    _core.count_sketch_csr(*rows, index, sign, got)
    reference.count_sketch_csr(*rows, index, sign, expected)
    reference.count_sketch(to_dense(rows, d), index, sign, dense)
    assert_agrees(got, expected, terms=d)
    assert_agrees(got, dense, terms=2 * d)


def test_a_slice_of_pointers_is_a_slice_of_rows(level, dtype):
    rng = np.random.default_rng(0)
    rows = draw_csr(rng, 33, 50, dtype)
    index, sign = draw_hashes(rng, 50, 64)
    whole, part = empty((33, 64), dtype), empty((11, 64), dtype)
    _core.count_sketch_csr(*rows, index, sign, whole)
    _core.count_sketch_csr(rows.data, rows.indices, rows.indptr[9:21], index, sign, part)
    np.testing.assert_array_equal(part, whole[9:20])


def test_no_rows(level, dtype):
    index, sign = draw_hashes(np.random.default_rng(0), 5, 8)
    out = empty((0, 8), dtype)
    _core.count_sketch(np.empty((0, 5), dtype), index, sign, out)
    pointers = np.zeros(1, dtype=np.int32)
    _core.count_sketch_csr(np.empty(0, dtype), pointers[:0], pointers, index, sign, out)
