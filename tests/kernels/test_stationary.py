"""Shift-invariant kernels."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from mercer import Gaussian, Laplacian
from mercer.testing import check_kernel


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.7), Laplacian(gamma=1.3)], ids=repr)
def test_the_laws(kernel):
    check_kernel(kernel)


def test_values_against_scikit_learn(rng):
    X, Y = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    np.testing.assert_allclose(Gaussian(gamma=0.7)(X, Y), rbf_kernel(X, Y, gamma=0.7), rtol=1e-12)
    np.testing.assert_allclose(Laplacian(gamma=0.7)(X, Y), laplacian_kernel(X, Y, gamma=0.7), rtol=1e-12)


def test_near_points_far_from_the_origin_keep_their_distance_in_float32():
    X = np.array([[1000.0], [1000.5]], dtype=np.float32)
    np.testing.assert_allclose(Gaussian(gamma=1.0)(X)[0, 1], np.exp(-0.25), rtol=1e-6)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan])
@pytest.mark.parametrize("kernel", [Gaussian, Laplacian])
def test_gamma_must_be_positive(kernel, gamma):
    with pytest.raises(ValueError, match=f"{kernel.__name__}: gamma must be a finite number > 0"):
        kernel(gamma=gamma)
