"""What the oracle tests share: random hashes, rows and CSR blocks, and one rule for tolerances."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

ROWS = (1, 2, 7, 8, 9, 16, 17, 33)
COLUMNS = (1, 3, 8, 123)
BUCKETS = (1, 2, 3, 4, 5, 6, 8, 15, 16, 27, 60, 64, 125, 128, 250, 500, 1000, 1024)


class Csr(NamedTuple):
    """The three arrays of a CSR matrix, in the order the compiled functions take them."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


def assert_agrees(got, expected, terms):
    """Assert that two results of about `terms` rounded operations an entry agree, relative to the largest of the row.

    Independent rounding errors grow like the square root of their number; 8 standard deviations cover the maximum
    over all entries of a result.
    """
    assert got.shape == expected.shape
    assert np.isfinite(got).all()
    tolerance = 8 * np.finfo(got.dtype).eps * np.sqrt(terms + 1)
    size = np.abs(expected).max(axis=1, keepdims=True, initial=np.finfo(got.dtype).tiny)
    assert (np.abs(got - expected) / size).max(initial=0) <= tolerance


def convolution_terms(n_columns, n_buckets, n_factors):
    """Rounded operations behind one entry: a sum over columns and log2(D) butterflies a factor, and the way back."""
    return n_factors * n_columns + 4 * (n_factors + 1) * np.log2(2 * n_buckets)


def draw_hashes(rng, shape, n_buckets):
    index = rng.integers(n_buckets, size=shape).astype(np.int32)
    sign = rng.choice(np.array([-1, 1], dtype=np.int8), size=shape)
    return index, sign


def draw_rows(rng, n, d, dtype):
    return rng.standard_normal((n, d)).astype(dtype)


def draw_csr(rng, n, d, dtype, index_dtype=np.int32):
    """Rows of random length: the first is empty, columns are unsorted and repeat."""
    lengths = rng.integers(0, d + 1, size=n)
    lengths[0] = 0
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(index_dtype)
    indices = rng.integers(d, size=indptr[-1]).astype(index_dtype)
    data = rng.standard_normal(indptr[-1]).astype(dtype)
    return Csr(data, indices, indptr)


def to_dense(rows, d):
    """Sum the duplicates of CSR rows into a dense matrix."""
    return sparse.csr_array(tuple(rows), shape=(len(rows.indptr) - 1, d)).toarray()


def strided(array, gap=3):
    """Return a copy of a matrix whose rows are `gap` elements further apart than they are long."""
    wide = np.full((array.shape[0], array.shape[1] + gap), np.nan, dtype=array.dtype)
    wide[:, : array.shape[1]] = array
    return wide[:, : array.shape[1]]


def empty(shape, dtype):
    """Return an output full of NaN, so that an entry left unwritten shows."""
    return np.full(shape, np.nan, dtype=dtype)
