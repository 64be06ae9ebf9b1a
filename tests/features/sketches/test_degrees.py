"""Degrees of series: coefficients, distributions, tails, and what is refused."""

import numpy as np
import pytest
from scipy import sparse

from mercer import DotProduct, Exponential, Polynomial, Sigmoid, VovkInfinite
from mercer.features.sketches.degrees import (
    check_coefficients,
    check_radius,
    degree_distribution,
    largest_sign_moment,
    largest_square,
    series,
    tail,
    variance_ratio,
)
from mercer.testing import sample_rows


def test_negative_coefficients_are_named():
    with pytest.raises(ValueError, match=r"Owner: Sigmoid\(\) is not a positive definite kernel: .* a_3 = -0.333333"):
        check_coefficients("Owner", Sigmoid(), 5)


def test_a_series_ends_where_no_draw_would_show_more():
    assert len(series("Owner", Polynomial(3, coef0=1.0), 2.0, None)) == 4
    assert len(series("Owner", Exponential(gamma=1.0), 2.0, None)) == 61  # 2^-60
    assert len(series("Owner", Exponential(gamma=1.0), 2.0, 7)) == 8
    with pytest.raises(ValueError, match=r"max_degree=1 leaves no degree of Polynomial\(2\). Raise max_degree"):
        series("Owner", Polynomial(2), 2.0, 1)


def test_the_distribution_of_degrees_skips_those_without_a_coefficient():
    np.testing.assert_allclose(degree_distribution(np.array([1.0, 0.0, 1.0]), 2.0), [0.8, 0.0, 0.2])
    np.testing.assert_allclose(degree_distribution(np.array([1.0, 0.0, 1.0]), 2.0, first=1), [0.0, 0.0, 1.0])
    assert not degree_distribution(np.zeros(3), 2.0).any()


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_power_sums_are_float64_where_squares_overflow_float32(layout):
    X = (sample_rows(4) * 1e30).astype(np.float32)
    exact = X.astype(np.float64)
    assert largest_square(layout(X)) == pytest.approx(np.square(exact).sum(axis=1).max())
    squares, fourths = np.square(exact).sum(axis=1), (exact**4).sum(axis=1)
    assert largest_sign_moment(layout(X)) == pytest.approx((3 * squares**2 - 2 * fourths).max())


def test_tails_and_radii():
    assert tail(Exponential(gamma=1.0), 3, 0.5) == pytest.approx(np.exp(0.5) - 1 - 0.5 - 0.125)
    assert tail(DotProduct(np.cosh, lambda n: 0.0 if n % 2 else 1 / np.prod(np.arange(1.0, n + 1))), 1, 0.5) == (
        pytest.approx(np.cosh(0.5) - 1)
    )
    assert check_radius("Owner", VovkInfinite(), 0.5) == 0.5
    with pytest.raises(
        ValueError, match=r"needs \|x\|\^2 < 1 on every row, and X reaches 4. Multiply X by less than 0.5"
    ):
        check_radius("Owner", VovkInfinite(), 4.0)
    assert variance_ratio(VovkInfinite(), 2.0, 0.3) == 0.6
    assert variance_ratio(Exponential(gamma=1.0), 2.0, 0.3) == 0.0
