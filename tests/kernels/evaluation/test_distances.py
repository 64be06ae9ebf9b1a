"""Distances between rows, in every layout, and where rows nearly coincide."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, Matern
from mercer.kernels.evaluation.distances import absolute_distances, squared_distances


@pytest.mark.parametrize("left", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("right", [np.asarray, sparse.csr_array])
def test_distances_by_their_definitions(left, right, rng):
    X, Y = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    differences = X[:, np.newaxis] - Y
    np.testing.assert_allclose(squared_distances(left(X), right(Y)), np.square(differences).sum(axis=2), rtol=1e-12)
    np.testing.assert_allclose(absolute_distances(left(X), right(Y)), np.abs(differences).sum(axis=2), rtol=1e-12)


def test_near_rows_keep_their_digits(rng):
    X = rng.standard_normal((6, 3)) + 100
    Y = X + 1e-9 * rng.standard_normal((6, 3))
    exact = np.square(X - Y).sum(axis=1)
    np.testing.assert_allclose(np.diagonal(squared_distances(X, Y)), exact, rtol=1e-5)  # about their mean: 1e-16 * 100


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [Gaussian(gamma=1.0), Matern(0.5, length_scale=1.0)], ids=repr)
def test_near_points_far_from_the_origin_keep_their_distance(kernel, dtype):
    shift = np.array([0.0, 0.5, 2.0**-7, 2.0**-10])[:, np.newaxis]
    X = (1000 + shift).astype(dtype)
    np.testing.assert_allclose(kernel(X, X[:1]), kernel(shift, shift[:1]), rtol=4 * np.finfo(dtype).eps)
