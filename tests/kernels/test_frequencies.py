"""Distributions of frequencies of expressions: draws, mean squares, and how far apart rows must be."""

import numpy as np
import pytest
from scipy.optimize import brentq

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
    *(Gaussian(gamma=gamma) for gamma in (1e-200, 0.1, 1e8)),
    *(Laplacian(gamma=gamma) for gamma in (1e-100, 2.0, 1e9)),
    *(Matern(nu, length_scale=scale) for nu in (0.05, 0.5, 1.0, 1.5, 2.5, 7.3, 80.0) for scale in (1e-5, 3.0, 1e60)),
    *(Cauchy(length_scale=scale) for scale in (1e-7, 2.0, 1e20)),
    *(RationalQuadratic(alpha, length_scale=0.5) for alpha in (0.01, 1.5, 1e4)),
    *(ExponentialPower(alpha, length_scale=1.0) for alpha in (0.1, 1.2, 2.0)),
]


EXPRESSION = (
    ScaledColumns(Gaussian(gamma=0.5), [1.0, 0.0, 2.0])
    * Columns(Laplacian(gamma=0.7), [2])
    * Matern(1.5, length_scale=2.0)
)


def reaches(kernel, n_features, level):
    return frequency_distribution(kernel, n_features).reaches(level)


def reach_by_root_search(kernel, column, n_features, level):
    """Return the root of k(0, t e_j) - level by Brent's method in log(t), one pair of rows per evaluation."""

    def excess(log_distance):
        row = np.zeros((1, n_features))
        row[0, column] = np.exp(log_distance)
        return kernel.evaluate(np.zeros((1, n_features)), row)[0, 0] - level

    low, high = np.log([np.finfo(float).tiny, np.finfo(float).max]) / 2
    with np.errstate(over="ignore"):
        return np.exp(brentq(excess, low, high)) if excess(high) < 0 < excess(low) else np.inf


@pytest.mark.parametrize("level", [0.9, 0.5, 0.01])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_reaches_are_those_of_a_root_search(kernel, level):
    expected = reach_by_root_search(kernel, 1, 3, level)
    np.testing.assert_allclose(reaches(kernel, 3, level), np.full(3, expected), rtol=1e-8)


@pytest.mark.parametrize("n_features", [1, 3])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda kernel, d: ScaledColumns(kernel, [-0.3, 5.0, 1e3][:d]),
        lambda kernel, d: Columns(kernel, [d - 1]),
        lambda kernel, d: Columns(ScaledColumns(kernel, [2.0] * d), list(range(d))[::-1]),
    ],
    ids=["scaled", "one column", "scaled and permuted"],
)
@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.1), Laplacian(gamma=2.0), Matern(2.5, length_scale=0.1)], ids=repr)
def test_reaches_of_transformed_columns_are_those_of_a_root_search(kernel, wrap, n_features):
    wrapped = wrap(kernel, n_features)
    expected = [reach_by_root_search(wrapped, j, n_features, 0.01) for j in range(n_features)]
    np.testing.assert_allclose(reaches(wrapped, n_features, 0.01), expected, rtol=1e-8)


@pytest.mark.parametrize("kernel", [EXPRESSION, Gaussian(gamma=0.1) * Laplacian(gamma=0.3)], ids=repr)
def test_a_product_is_below_the_level_at_the_least_reach_of_its_factors(kernel):
    found = reaches(kernel, 3, 0.01)
    root = np.array([reach_by_root_search(kernel, j, 3, 0.01) for j in range(3)])
    factors = [[reach_by_root_search(factor, j, 3, 0.01) for j in range(3)] for factor in kernel.terms]
    np.testing.assert_allclose(found, np.min(factors, axis=0), rtol=1e-8)
    assert np.all(found >= root * (1 - 1e-8))


def test_a_kernel_that_never_falls_to_the_level_has_no_finite_reach():
    assert np.all(reaches(RationalQuadratic(1e-4, length_scale=1e5), 2, 0.01) == np.inf)
    assert np.all(reaches(ExponentialPower(1e-8, length_scale=1.0), 2, 0.9) == np.inf)  # below the level everywhere


def test_expressions_carry_their_columns():
    inner = reaches(Gaussian(gamma=1.0), 1, 0.01)[0]
    scaled = reaches(ScaledColumns(Gaussian(gamma=1.0), [2.0, 0.0, -0.5]), 3, 0.01)
    np.testing.assert_allclose(scaled, [inner / 2, np.inf, inner * 2])
    np.testing.assert_allclose(reaches(Columns(Gaussian(gamma=1.0), [2, 0]), 3, 0.01), [inner, np.inf, inner])
    product = reaches(Columns(Gaussian(gamma=1.0), [0]) * Laplacian(gamma=0.01), 2, 0.01)
    np.testing.assert_allclose(product, [inner, -np.log(0.01) / 0.01])


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
