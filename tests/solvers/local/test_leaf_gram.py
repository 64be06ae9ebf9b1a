"""The triangle of a Gram matrix is that of the whole matrix, and the other triangle is left out."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, Laplacian, Linear, Matern
from mercer.solvers.local import leaf_gram
from mercer.solvers.local.leaf_gram import lower_gram

BLOCK = leaf_gram._BLOCK_ROWS


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.3), Laplacian(gamma=0.2), Matern(1.5, length_scale=1.0), Linear()])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, BLOCK, BLOCK + 1, 2 * BLOCK + 7])
def test_the_triangle_is_that_of_the_whole_matrix(kernel, dtype, n, rng):
    X = rng.standard_normal((n, 4)).astype(dtype)
    found = lower_gram(kernel, X, np.dtype(dtype))
    assert found.dtype == dtype
    assert found.flags.f_contiguous
    exact = kernel.evaluate(X.astype(float), X.astype(float))
    tolerance = 5e-5 if dtype == np.float32 else 1e-10  # of distances in float32: see radial_tiles
    np.testing.assert_allclose(np.tril(found), np.tril(exact), atol=tolerance)


def test_rows_may_be_sparse(rng):
    X = rng.standard_normal((BLOCK + 9, 4)) * (rng.random_sample((BLOCK + 9, 4)) < 0.5)
    found = lower_gram(Gaussian(gamma=0.3), sparse.csr_array(X), np.dtype(float))
    np.testing.assert_allclose(np.tril(found), np.tril(Gaussian(gamma=0.3)(X)), atol=1e-10)


def test_blocks_above_the_diagonal_are_not_evaluated(rng, monkeypatch):
    X, sizes, evaluate = rng.standard_normal((4 * BLOCK, 2)), [], Laplacian.evaluate

    def counted(self, X, Y):
        sizes.append(len(X) * len(Y))
        return evaluate(self, X, Y)

    monkeypatch.setattr(Laplacian, "evaluate", counted)
    lower_gram(Laplacian(gamma=1.0), X, np.dtype(float))
    assert sum(sizes) == 10 * BLOCK**2  # of 16
