"""Distributions of frequencies of expressions: draws, mean squares, and how far apart rows must be."""

import numpy as np
import pytest

from mercer import (
    Cauchy,
    Columns,
    ExponentialPower,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    RationalQuadratic,
    ScaledColumns,
)
from mercer.kernels.frequencies import frequency_distribution, is_shift_invariant
from mercer.testing import assert_mean_close

KERNELS = [
    Gaussian(gamma=0.1),
    Gaussian(gamma=1e8),
    Laplacian(gamma=2.0),
    Matern(1.5, length_scale=3.0),
    Matern(0.5, length_scale=1e-5),
    Cauchy(length_scale=2.0),
    RationalQuadratic(1.5, length_scale=0.5),
    ExponentialPower(1.2, length_scale=1.0),
]


def reaches(kernel, n_features, level):
    return frequency_distribution(kernel, n_features).reaches(level)


@pytest.mark.parametrize("level", [0.5, 0.01])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_kernel_at_its_reach_is_the_level_in_every_column(kernel, level):
    found = reaches(kernel, 3, level)
    np.testing.assert_allclose(kernel(np.zeros((1, 3)), np.diag(found))[0], level, rtol=1e-6)


def test_expressions_carry_their_columns():
    inner = reaches(Gaussian(gamma=1.0), 1, 0.01)[0]
    scaled = reaches(ScaledColumns(Gaussian(gamma=1.0), [2.0, 0.0, -0.5]), 3, 0.01)
    np.testing.assert_allclose(scaled, [inner / 2, np.inf, inner * 2])
    np.testing.assert_allclose(reaches(Columns(Gaussian(gamma=1.0), [2, 0]), 3, 0.01), [inner, np.inf, inner])
    product = reaches(Columns(Gaussian(gamma=1.0), [0]) * Laplacian(gamma=0.01), 2, 0.01)
    np.testing.assert_allclose(product, [inner, -np.log(0.01) / 0.01])


EXPRESSION = (
    ScaledColumns(Gaussian(gamma=0.5), [1.0, 0.0, 2.0])
    * Columns(Laplacian(gamma=0.7), [2])
    * Matern(1.5, length_scale=2.0)
)


def test_an_expression_draws_frequencies_of_its_own_kernel(rng):
    assert is_shift_invariant(EXPRESSION)
    assert not is_shift_invariant(EXPRESSION * Linear())
    shifts = rng.standard_normal((4, 3)) * 0.5
    expected = EXPRESSION(shifts, np.zeros((1, 3)))[:, 0]
    W = frequency_distribution(EXPRESSION, 3).draw(rng, 20_000)
    assert_mean_close(np.cos(shifts @ W).T, expected, detect=0.1)
    distribution = frequency_distribution(EXPRESSION, 3)
    W = distribution.at(rng.random_sample((20_000, distribution.n_uniforms)))
    assert_mean_close(np.cos(shifts @ W).T, expected, detect=0.1)


def test_the_mean_squares_of_an_expression(rng):
    kernel = ScaledColumns(Gaussian(gamma=0.5), [1.0, 0.0, 2.0]) * Columns(Gaussian(gamma=2.0), [2])
    np.testing.assert_allclose(frequency_distribution(kernel, 3).column_variances, [1.0, 0.0, 8.0])


def test_a_kernel_that_is_not_shift_invariant_has_no_frequencies():
    with pytest.raises(ValueError, match=r"Linear\(\) is not shift-invariant, so it has no distribution"):
        frequency_distribution(Linear() * Gaussian(gamma=1.0), 3)
