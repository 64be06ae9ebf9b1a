"""The Gaussian kernel: values, limits, and its parameter."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from mercer import Gaussian, Matern, RationalQuadratic
from mercer.testing import rounding


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_values_against_scikit_learn(layout, rng):
    X, Y = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    np.testing.assert_allclose(Gaussian(gamma=0.7)(layout(X), Y), rbf_kernel(X, Y, gamma=0.7), rtol=1e-12)


def test_it_is_the_limit_of_smooth_kernels(rng):
    X = rng.standard_normal((6, 3))
    for smooth in (Matern(1e7, length_scale=2.0), RationalQuadratic(1e7, length_scale=2.0)):
        np.testing.assert_allclose(smooth(X), Gaussian(gamma=1 / 8)(X), rtol=1e-5)


@pytest.mark.parametrize("gamma", [1e-300, 1e300, 1.7e308])
def test_the_kernel_is_1_at_distance_0_and_the_frequencies_are_finite_at_the_ends_of_the_range(gamma, rng):
    kernel = Gaussian(gamma=gamma)
    np.testing.assert_array_equal(kernel(np.zeros((1, 2)), np.zeros((1, 2))), 1.0)
    assert np.isfinite(kernel.frequencies(rng, 5, 2)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_evaluator_takes_dense_and_csr_rows(dtype, rng):
    X, Y = (rng.standard_normal((n, 4)).astype(dtype) for n in (6, 5))
    tile = Gaussian(gamma=0.3).evaluator(Y, dtype)
    expected = rbf_kernel(X.astype(float), Y.astype(float), gamma=0.3)
    for rows in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(tile(rows), expected, rtol=rounding(dtype, 20))
        assert tile(rows).dtype == dtype


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan])
def test_gamma_must_be_positive(gamma):
    with pytest.raises(ValueError, match=r"Gaussian: gamma must be a finite number > 0, got"):
        Gaussian(gamma=gamma)


def test_an_unknown_rule_is_named():
    with pytest.raises(ValueError, match=r"gamma must be a number > 0, 'scale', 'median' or 'auto', got 'wide'"):
        Gaussian(gamma="wide")
