"""Tensor Sketch and convolution in NumPy against their definitions, element by element."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from mercer import reference


def _tables(rng, shape, n_buckets):
    return rng.randint(n_buckets, size=shape, dtype=np.int32), (2 * rng.randint(2, size=shape) - 1).astype(np.int8)


@pytest.mark.parametrize("n_buckets", [1, 2, 5, 8])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_tensor_sketch_is_the_count_sketch_of_the_explicit_tensor_product(rng, degree, n_buckets):
    X, scale, constant = rng.standard_normal((3, 4)), 0.7, 1.3
    index, sign = _tables(rng, (degree, 5), n_buckets)
    rows = np.column_stack([scale * X, np.full(3, constant)])
    expected = np.zeros((3, n_buckets))
    for columns in product(range(5), repeat=degree):
        factors = np.arange(degree), np.array(columns)
        expected[:, index[factors].sum() % n_buckets] += sign[factors].prod() * rows[:, columns].prod(axis=1)
    dense, csr = np.empty((3, n_buckets)), np.empty((3, n_buckets))
    reference.tensor_sketch(X, index, sign, scale, constant, dense)
    np.testing.assert_allclose(dense, expected, atol=1e-12)
    S = sparse.csr_array(X)
    reference.tensor_sketch_csr(S.data, S.indices, S.indptr, index, sign, scale, constant, csr)
    np.testing.assert_allclose(csr, expected, atol=1e-12)


@pytest.mark.parametrize("n_buckets", [1, 2, 7])
def test_convolve(rng, n_buckets):
    A = rng.standard_normal((2, 3, n_buckets))
    out = np.empty((3, n_buckets))
    reference.convolve(A, out)
    expected = np.zeros_like(out)
    for i, j in product(range(n_buckets), repeat=2):
        expected[:, (i + j) % n_buckets] += A[0, :, i] * A[1, :, j]
    np.testing.assert_allclose(out, expected, atol=1e-12)
