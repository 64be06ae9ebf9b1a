"""The count sketch in NumPy against its definition, element by element."""

import numpy as np
from scipy import sparse

from mercer import reference


def _sketch_by_loop(X, index, sign, n_buckets):
    out = np.zeros((len(X), n_buckets))
    for i, row in enumerate(X):
        for j, value in enumerate(row):
            out[i, index[j]] += sign[j] * value
    return out


def _tables(rng, shape, n_buckets):
    return rng.randint(n_buckets, size=shape, dtype=np.int32), (2 * rng.randint(2, size=shape) - 1).astype(np.int8)


def test_count_sketch(rng):
    X = rng.standard_normal((4, 7))
    index, sign = _tables(rng, 7, 5)
    out = np.full((4, 5), np.nan)
    reference.count_sketch(X, index, sign, out)
    np.testing.assert_allclose(out, _sketch_by_loop(X, index, sign, 5))


def test_count_sketch_of_a_range_of_csr_rows(rng):
    X = sparse.random_array((9, 7), density=0.5, format="csr", rng=0)
    index, sign = _tables(rng, 7, 5)
    out = np.full((4, 5), np.nan)
    reference.count_sketch_csr(X.data, X.indices, X.indptr[3:8], index, sign, out)
    np.testing.assert_allclose(out, _sketch_by_loop(X.toarray()[3:7], index, sign, 5))
