"""Tensor Sketch and convolutions: compiled against reference."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from oracle import (
    BUCKETS,
    COLUMNS,
    ROWS,
    assert_agrees,
    convolution_terms,
    draw_csr,
    draw_hashes,
    draw_rows,
    empty,
    strided,
)
from scipy import sparse

from mercer import _core, reference

DEGREES = (1, 2, 3, 4, 5)


@pytest.mark.parametrize("constant", [0.0, 0.75])
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("n_buckets", BUCKETS)
def test_dense(level, dtype, n_buckets, degree, constant):
    rng = np.random.default_rng([n_buckets, degree])
    X = draw_rows(rng, 17, 20, dtype)
    index, sign = draw_hashes(rng, (degree, 20 + (constant != 0)), n_buckets)
    got, expected = empty((17, n_buckets), dtype), empty((17, n_buckets), dtype)
    _core.tensor_sketch(X, index, sign, 0.5, constant, got)
    reference.tensor_sketch(X, index, sign, 0.5, constant, expected)
    assert_agrees(got, expected, convolution_terms(20, n_buckets, degree))


@pytest.mark.parametrize("n", ROWS)
@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("degree", [2, 3])
def test_odd_shapes(level, dtype, n, d, degree):
    rng = np.random.default_rng([n, d])
    X = strided(draw_rows(rng, n, d, dtype))
    X.flags.writeable = False
    index, sign = draw_hashes(rng, (degree, d + 1), 60)
    got, expected = strided(empty((n, 60), dtype)), empty((n, 60), dtype)
    _core.tensor_sketch(X, index, sign, 1.5, -0.5, got)
    reference.tensor_sketch(X, index, sign, 1.5, -0.5, expected)
    assert_agrees(got, expected, convolution_terms(d, 60, degree))
    assert np.isnan(got.base[:, 60:]).all()


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("constant", [0.0, 0.75])
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("n_buckets", [1, 2, 15, 64, 250])
def test_csr(level, dtype, n_buckets, degree, constant, index_dtype):
    rng = np.random.default_rng([n_buckets, degree])
    rows = draw_csr(rng, 19, 30, dtype, index_dtype)
    index, sign = draw_hashes(rng, (degree, 30 + (constant != 0)), n_buckets)
    got, expected = empty((19, n_buckets), dtype), empty((19, n_buckets), dtype)
    _core.tensor_sketch_csr(*rows, index, sign, 0.5, constant, got)
    reference.tensor_sketch_csr(*rows, index, sign, 0.5, constant, expected)
    assert_agrees(got, expected, convolution_terms(30, n_buckets, degree))


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("n_buckets", BUCKETS)
def test_convolve(level, dtype, n_buckets, degree):
    rng = np.random.default_rng([n_buckets, degree])
    sketches = rng.standard_normal((degree, 9, n_buckets + 2)).astype(dtype)[:, :, 1:-1]
    got, expected = empty((9, n_buckets), dtype), empty((9, n_buckets), dtype)
    _core.convolve(sketches, got)
    reference.convolve(sketches, expected)
    assert_agrees(got, expected, convolution_terms(0, n_buckets, degree))


@pytest.mark.parametrize(("d", "degree"), [(1, 2), (9, 2), (40, 2), (3, 3), (12, 3), (2, 5), (6, 5)])
@pytest.mark.parametrize("n_buckets", [2, 60, 64, 1024])
def test_term_by_term_and_by_transforms(level, dtype, n_buckets, d, degree):
    """Widths on both sides of where short rows turn from products of entries to transforms."""
    rng = np.random.default_rng([n_buckets, d, degree])
    X = draw_rows(rng, 11, d, dtype)
    index, sign = draw_hashes(rng, (degree, d + 1), n_buckets)
    got, expected = empty((11, n_buckets), dtype), empty((11, n_buckets), dtype)
    _core.tensor_sketch(X, index, sign, 0.5, 0.75, got)
    reference.tensor_sketch(X, index, sign, 0.5, 0.75, expected)
    assert_agrees(got, expected, convolution_terms(d, n_buckets, degree))


@pytest.mark.parametrize("degree", [2, 3])
def test_a_short_sparse_row_beside_long_ones(level, dtype, degree):
    """Empty and short rows go term by term, long ones by transforms; no row's bits depend on its neighbours."""
    rng = np.random.default_rng(degree)
    X = draw_rows(rng, 21, 200, dtype)
    X[rng.random((21, 200)) < np.linspace(0, 1, 21)[:, None]] = 0
    rows = sparse.csr_array(X)
    index, sign = draw_hashes(rng, (degree, 201), 250)
    got, expected = empty((21, 250), dtype), empty((21, 250), dtype)
    parts = rows.data, rows.indices, rows.indptr
    _core.tensor_sketch_csr(*parts, index, sign, 0.5, 0.75, got)
    reference.tensor_sketch_csr(*parts, index, sign, 0.5, 0.75, expected)
    assert_agrees(got, expected, convolution_terms(200, 250, degree))
    for row in range(21):
        alone = empty((1, 250), dtype)
        _core.tensor_sketch_csr(*parts[:2], rows.indptr[row : row + 2], index, sign, 0.5, 0.75, alone)
        np.testing.assert_array_equal(alone[0], got[row])


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("n_buckets", [27, 64, 250])
def test_a_row_does_not_depend_on_the_others(level, dtype, degree, n_buckets):
    """Bitwise, also next to rows that are larger by many orders of magnitude, or not finite."""
    rng = np.random.default_rng(degree)
    X = draw_rows(rng, 33, 20, dtype)
    X[1::2] *= 1e6
    X[5] = np.nan
    index, sign = draw_hashes(rng, (degree, 20), n_buckets)
    together = empty((33, n_buckets), dtype)
    _core.tensor_sketch(X, index, sign, 1.0, 0.0, together)
    for row in range(33):
        alone = empty((1, n_buckets), dtype)
        _core.tensor_sketch(X[row : row + 1], index, sign, 1.0, 0.0, alone)
        np.testing.assert_array_equal(alone[0], together[row])


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_a_slice_of_pointers_is_a_slice_of_rows(level, dtype, degree):
    rng = np.random.default_rng(0)
    rows = draw_csr(rng, 33, 50, dtype)
    index, sign = draw_hashes(rng, (degree, 50), 64)
    whole, part = empty((33, 64), dtype), empty((11, 64), dtype)
    _core.tensor_sketch_csr(*rows, index, sign, 1.0, 0.0, whole)
    _core.tensor_sketch_csr(rows.data, rows.indices, rows.indptr[9:21], index, sign, 1.0, 0.0, part)
    np.testing.assert_array_equal(part, whole[9:20])


def test_threads_share_nothing(level, dtype):
    """Scratch and plans belong to a thread: blocks and lengths in flight at once do not disturb each other."""
    rng = np.random.default_rng(0)
    X = draw_rows(rng, 256, 30, dtype)
    tables = {n_buckets: draw_hashes(rng, (3, 30), n_buckets) for n_buckets in (64, 250, 1024)}

    def sketch(n_buckets):
        out = empty((256, n_buckets), dtype)
        _core.tensor_sketch(X, *tables[n_buckets], 1.0, 0.0, out)
        return out

    alone = {n_buckets: sketch(n_buckets) for n_buckets in tables}
    lengths = [*tables] * 8
    with ThreadPoolExecutor(4) as pool:
        for n_buckets, out in zip(lengths, pool.map(sketch, lengths), strict=True):
            np.testing.assert_array_equal(out, alone[n_buckets])
