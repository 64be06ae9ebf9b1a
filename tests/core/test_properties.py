"""Every compiled function against its NumPy twin, over shapes, types, strides, degrees and CSR patterns."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import assert_agrees, convolution_terms, draw_csr, draw_hashes, draw_rows, empty, strided, to_dense

from mercer import _core, reference

SMOOTH = [n for n in range(1, 200) if _core.is_smooth(n)]
dtypes = st.sampled_from([np.float32, np.float64])
index_dtypes = st.sampled_from([np.int32, np.int64])
seeds = st.integers(0, 2**32 - 1)
# The level fixture changes only how a call is computed, so that it may serve all examples of a test.
properties = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def shaped(array, stride):
    """Return the array with rows further apart, or frozen, or as it is."""
    if stride == "gap":
        return strided(array)
    array = array.copy()
    array.flags.writeable = stride != "read-only"
    return array


strides = st.sampled_from(["plain", "gap", "read-only"])


@pytest.mark.usefixtures("level")
@properties
@given(seeds, dtypes, strides, st.integers(1, 40), st.integers(1, 50), st.integers(1, 300))
def test_count_sketch(seed, dtype, stride, n, d, n_buckets):
    rng = np.random.default_rng(seed)
    X = draw_rows(rng, n, d, dtype)
    index, sign = draw_hashes(rng, d, n_buckets)
    out, expected = strided(empty((n, n_buckets), dtype)), empty((n, n_buckets), dtype)
    _core.count_sketch(shaped(X, stride), index, sign, out)
    reference.count_sketch(X, index, sign, expected)
    assert_agrees(out, expected, d)


@pytest.mark.usefixtures("level")
@properties
@given(seeds, dtypes, strides, st.integers(1, 40), st.integers(1, 50), st.sampled_from(SMOOTH), st.integers(1, 6))
def test_tensor_sketch(seed, dtype, stride, n, d, n_buckets, degree):
    rng = np.random.default_rng(seed)
    constant = float(rng.choice([0.0, 0.7]))
    X = draw_rows(rng, n, d, dtype)
    index, sign = draw_hashes(rng, (degree, d + (constant > 0)), n_buckets)
    out, expected = strided(empty((n, n_buckets), dtype)), empty((n, n_buckets), np.float64)
    _core.tensor_sketch(shaped(X, stride), index, sign, 0.5, constant, out)
    reference.tensor_sketch(X.astype(np.float64), index, sign, 0.5, constant, expected)
    size = bound_of_spectrum(X, 0.5, constant, degree)
    tolerance = 8 * np.finfo(dtype).eps * np.sqrt(convolution_terms(d, n_buckets, degree) + 1)
    assert np.isfinite(out).all()
    assert (np.abs(out - expected) <= tolerance * size).all()


def bound_of_spectrum(X, scale, constant, degree):
    """The largest that any number on the way may be: rounding errors are relative to it, not to a small result."""
    return (scale * np.abs(X.astype(np.float64)).sum(axis=1, keepdims=True) + constant) ** degree


@pytest.mark.usefixtures("level")
@properties
@given(seeds, dtypes, index_dtypes, st.integers(1, 40), st.integers(1, 50), st.sampled_from(SMOOTH), st.integers(1, 6))
def test_csr_equals_dense(seed, dtype, index_dtype, n, d, n_buckets, degree):
    """A range of CSR rows with empty rows, unsorted and repeated columns, as the dense rows they stand for."""
    rng = np.random.default_rng(seed)
    rows = draw_csr(rng, n, d, dtype, index_dtype)
    first = int(rng.integers(0, n))
    part = rows._replace(indptr=rows.indptr[first:])
    X = to_dense(rows, d)[first:].astype(dtype)
    index, sign = draw_hashes(rng, (degree, d), n_buckets)
    out, expected = empty((n - first, n_buckets), dtype), empty((n - first, n_buckets), dtype)
    _core.tensor_sketch_csr(*part, index, sign, 1.0, 0.0, out)
    _core.tensor_sketch(X, index, sign, 1.0, 0.0, expected)
    one_norm = (
        np.add.reduceat(np.abs(np.append(rows.data, 0)), rows.indptr[:-1])[:, None]
        * (np.diff(rows.indptr) > 0)[:, None]
    )
    size = one_norm[first:].astype(np.float64) ** degree
    tolerance = 8 * np.finfo(dtype).eps * np.sqrt(convolution_terms(d, n_buckets, degree) + 1)
    assert (np.abs(out - expected) <= tolerance * size).all()
    _core.count_sketch_csr(*part, index[0], sign[0], out)
    _core.count_sketch(X, index[0], sign[0], expected)
    assert (np.abs(out - expected) <= tolerance * one_norm[first:]).all()


@pytest.mark.usefixtures("level")
@properties
@given(seeds, dtypes, st.integers(1, 40), st.integers(1, 30), st.lists(st.integers(1, 90), max_size=4))
def test_products_of_projections(seed, dtype, n, d, widths):
    rng = np.random.default_rng(seed)
    widths = np.array(sorted(widths, reverse=True), dtype=np.int64)
    width = int(widths.max(initial=0)) + int(rng.integers(0, 5)) or 1
    rows = draw_csr(rng, n, d, dtype)
    X = to_dense(rows, d).astype(dtype)
    W = rng.choice([-1, 1], (d, int(widths.sum()))).astype(dtype)
    dense, csr, expected = (empty((n, width), t) for t in (dtype, dtype, np.float64))
    codes = np.packbits(W > 0, axis=0, bitorder="little")
    _core.sign_products(X, codes, widths, np.ones(int(widths.max(initial=0)), dtype), dense)
    _core.project_product_csr(*rows, W, widths, csr)
    reference.project_product(X.astype(np.float64), W.astype(np.float64), widths, expected)
    bound = empty((n, width), np.float64)
    entries = np.add.reduceat(np.abs(np.append(rows.data, 0)), rows.indptr[:-1]) * (np.diff(rows.indptr) > 0)
    reference.project_product(entries[:, None].astype(float), np.ones((1, W.shape[1])), widths, bound)
    tolerance = 8 * np.finfo(dtype).eps * np.sqrt(len(widths) * d + 1)
    assert (np.abs(dense - expected) <= tolerance * bound).all()
    assert (np.abs(csr - expected) <= tolerance * bound).all()


@pytest.mark.usefixtures("level")
@properties
@given(seeds, dtypes, st.integers(1, 40), st.integers(0, 60), st.integers(0, 60))
def test_cosines_and_sines(seed, dtype, n, n_pairs, n_single):
    n_single = n_single or (0 if n_pairs else 1)
    rng = np.random.default_rng(seed)
    turns = (rng.uniform(-1000, 1000, (n, 2 * n_pairs + n_single))).astype(dtype)
    offsets = rng.uniform(0, 1, n_single).astype(dtype)
    out, expected = strided(turns), turns.astype(np.float64)
    _core.cos_sin(out, offsets, 0.7)
    reference.cos_sin(expected, offsets.astype(np.float64), 0.7)
    # The promise of the primitive, and one more rounding where an offset is added to the fraction of a turn.
    tolerance = {np.float32: 2e-7, np.float64: 5e-16}[dtype]
    assert (np.abs(out - expected)[:, : 2 * n_pairs] <= tolerance).all()
    assert (np.abs(out - expected)[:, 2 * n_pairs :] <= tolerance + 2 * np.pi * np.finfo(dtype).eps).all()


@pytest.mark.usefixtures("level")
@properties
@given(seeds, dtypes, st.integers(1, 40), st.integers(1, 300), st.integers(1, 150), st.integers(1, 3), st.booleans())
def test_hadamard_features(seed, dtype, n, d, m, n_stages, permuted):
    rng = np.random.default_rng(seed)
    size = max(8, 1 << (d - 1).bit_length())
    n_blocks = -(-m // size)
    n_single = int(rng.integers(0, m + 1))
    X = draw_rows(rng, n, d, dtype)
    diagonals = rng.choice([-1.0, 1.0], (n_stages, n_blocks, size)).astype(dtype)
    gather = np.stack([rng.permutation(size) for _ in range(n_blocks)]).astype(np.int32)
    permutation = gather if permuted and n_stages > 1 else np.empty((0, 0), dtype=np.int32)
    lengths = (rng.uniform(0.1, 1, m) / size ** (n_stages / 2)).astype(dtype)
    offsets = rng.uniform(0, 1, n_single).astype(dtype)
    out, expected = (empty((n, 2 * m - n_single), t) for t in (dtype, np.float64))
    _core.hadamard_features(X, diagonals, permutation, lengths, offsets, 1.0, out)
    double = [array.astype(np.float64) for array in (X, diagonals, lengths, offsets)]
    reference.hadamard_features(double[0], double[1], permutation, double[2], double[3], 1.0, expected)
    # A phase rounds relative to |x| turns, once a butterfly, and 2 pi of it shows in a cosine.
    operations = n_stages * np.log2(size) + 1
    tolerance = (
        8 * np.finfo(dtype).eps * np.sqrt(operations) * (1 + 2 * np.pi * np.linalg.norm(X, axis=1, keepdims=True))
    )
    assert (np.abs(out - expected) <= tolerance).all()


@pytest.mark.usefixtures("level")
@properties
@given(seeds, dtypes, st.integers(1, 80), st.integers(1, 40), st.integers(1, 40))
def test_cell_hashes(seed, dtype, n, d, n_grids):
    """Positions a quarter of a cell or more from every border have one cell, however they are rounded."""
    rng = np.random.default_rng(seed)
    inverse = np.ones((n_grids, d), dtype=dtype)
    X = rng.integers(-1000, 1000, (n, d)).astype(dtype)
    shifts = rng.uniform(0.25, 0.75, (n_grids, d)).astype(dtype)
    multipliers = rng.integers(2**32, size=(n_grids, d), dtype=np.uint32) | np.uint32(1)
    out, expected = (np.empty((n, n_grids), dtype=np.uint32) for _ in range(2))
    _core.cell_hashes(strided(X), inverse, shifts, multipliers, out)
    reference.cell_hashes(X, inverse, shifts, multipliers, expected)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.usefixtures("level")
@properties
@given(seeds, dtypes, st.integers(1, 40), st.sampled_from(SMOOTH), st.integers(1, 5))
def test_convolve_and_fft(seed, dtype, n, n_buckets, n_sketches):
    rng = np.random.default_rng(seed)
    sketches = rng.standard_normal((n_sketches, n, n_buckets)).astype(dtype)
    out, expected = empty((n, n_buckets), dtype), empty((n, n_buckets), np.float64)
    _core.convolve(sketches, out)
    reference.convolve(sketches.astype(np.float64), expected)
    one_norms = np.abs(sketches.astype(np.float64)).sum(axis=2)[:, :, None]
    tolerance = 8 * np.finfo(dtype).eps * np.sqrt(convolution_terms(1, n_buckets, n_sketches) + 1)
    assert (np.abs(out - expected) <= tolerance * one_norms.prod(axis=0)).all()
    spectrum = np.empty((n, n_buckets), dtype=np.result_type(dtype, np.complex64))
    _core.fft(sketches[0], spectrum)
    assert (np.abs(spectrum - np.fft.fft(sketches[0].astype(np.float64))) <= tolerance * one_norms[0]).all()
