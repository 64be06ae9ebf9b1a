"""Tiles against fixed rows agree with the kernel, whatever the precision, the layout and the place of the data."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Exponential, Gaussian, Laplacian, Linear, Polynomial
from mercer.testing import rounding, sample_rows

KERNELS = [
    Gaussian(gamma=0.7),
    Laplacian(gamma=0.7),
    Polynomial(3, coef0=1.0),
    Linear() + 2.5 * Gaussian(gamma=2.0),
    0.5 * Gaussian(gamma=1.0) * Exponential(gamma=0.5) + Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layouts", ["dense dense", "csr csr", "csr dense", "dense csr"])
def test_tiles_agree_with_the_kernel(kernel, dtype, layouts):
    X, Y = sample_rows(9, 4).astype(dtype), sample_rows(5, 4, seed=1).astype(dtype)
    K = kernel(X.astype(float), Y.astype(float))
    left, right = (sparse.csr_array if kind == "csr" else np.asarray for kind in layouts.split())
    tile = kernel.evaluator(right(Y), dtype)(left(X))
    assert tile.dtype == dtype
    np.testing.assert_allclose(tile, K, rtol=rounding(dtype, 20), atol=rounding(dtype, 20))


def test_centring_keeps_distances_far_from_the_origin():
    # Without it |x|^2 = 1e8 leaves float32 no digit of a distance of 1.
    X = (sample_rows(9, 4) + 5000.0).astype(np.float32)
    kernel = Gaussian(gamma=1.0)
    exact = np.exp(-((X[:, None].astype(float) - X[None, :5].astype(float)) ** 2).sum(axis=2))
    np.testing.assert_allclose(kernel.evaluator(X[:5], np.float32)(X), exact, rtol=rounding(np.float32, 20))


def test_rows_far_from_the_landmarks_keep_their_distances_in_float32():
    # Two near rows far out: gamma |x|^2 = 1e6 costs 0.06 in the exponent in float32, and nothing in float64.
    X = np.zeros((4, 3), dtype=np.float32)
    X[2], X[3] = 1000.0, 1000.5
    K = Gaussian(gamma=1.0).evaluator(X, np.float32)(X)
    np.testing.assert_allclose(K[2, 3], np.exp(-0.75), rtol=1e-6)
    np.testing.assert_allclose(np.diag(K), 1.0, rtol=1e-6)
    assert K.max() <= 1.0
