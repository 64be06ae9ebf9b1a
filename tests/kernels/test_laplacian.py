"""The Laplace kernel: values, its Cauchy frequencies, and its parameter."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel

from mercer import Laplacian
from mercer.kernels.stationary import LARGEST_FREQUENCY


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_values_against_scikit_learn(layout, rng):
    X, Y = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    np.testing.assert_allclose(Laplacian(gamma=0.7)(layout(X), Y), laplacian_kernel(X, Y, gamma=0.7), rtol=1e-12)


def test_frequencies_are_cauchy_quantiles_within_a_limit():
    points = np.array([[0.25, 0.5], [0.75, 1 - 1e-16]])
    expected = [[-2.0, 2.0], [0.0, 2.0 * LARGEST_FREQUENCY]]
    np.testing.assert_allclose(Laplacian(gamma=2.0).frequencies_at(points), expected, atol=1e-12)
    assert Laplacian(gamma=2.0).n_uniforms(2) == 2


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan])
def test_gamma_must_be_positive(gamma):
    with pytest.raises(ValueError, match=r"Laplacian: gamma must be a finite number > 0, got"):
        Laplacian(gamma=gamma)
