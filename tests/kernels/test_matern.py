"""The Matern kernel: closed forms, Bessel functions and the expansion for large nu agree, near 0 and far away."""

import warnings

import numpy as np
import pytest
from scipy import special
from sklearn.gaussian_process import kernels as gp

from mercer import Gaussian, Matern
from mercer.kernels.matern import matern_profile


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e5])
@pytest.mark.parametrize("nu", [0.05, 0.5, 1.0, 1.5, 2.5, 7.3, 50.0, 80.0, 1e6, 1e300])
def test_rows_far_apart_have_kernel_0(nu, scale):
    rows = np.geomspace(1e13, 1e154, 60)[:, np.newaxis]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(Matern(nu, length_scale=scale)(rows, np.zeros((1, 1))), 0.0)


@pytest.mark.parametrize("nu", [0.05, 1.0, 1.5, 7.3, 80.0])
def test_values_fall_with_the_distance(nu):
    rows = np.geomspace(1e-8, 1e12, 2000)[:, np.newaxis]
    values = Matern(nu, length_scale=1.0)(rows, np.zeros((1, 1)))[:, 0]
    assert np.all(np.diff(values) <= 1e-13)
    assert values[-1] == 0


@pytest.mark.parametrize("nu", [0.5, 1.2, 1.5, 2.5, 4.0])
def test_values_against_scikit_learn(nu, rng):
    X, Y = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    expected = gp.Matern(length_scale=1.3, nu=nu)(X, Y)
    np.testing.assert_allclose(Matern(nu, length_scale=1.3)(X, Y), expected, rtol=1e-10)


@pytest.mark.parametrize("nu", [50.1, 200.0, 3000.0])
def test_the_matern_expansion_against_its_scale_mixture(nu):
    q = np.array([0.0, 1e-12, 1e-3, 0.3, 1.0, 9.0, 40.0])
    u = (np.arange(200_000) + 0.5) / 200_000
    mixing = nu / special.gammaincinv(nu, u)
    expected = np.exp(-0.5 * mixing[:, np.newaxis] * q).mean(axis=0)
    np.testing.assert_allclose(matern_profile(nu, q.copy()), expected, atol=1e-6)
    assert matern_profile(nu, np.zeros(1)) == 1.0


def test_the_two_ways_to_matern_meet():
    q = np.geomspace(1e-6, 50, 60)
    np.testing.assert_allclose(matern_profile(50.0, q.copy()), matern_profile(50.0 + 1e-9, q.copy()), rtol=1e-9)


@pytest.mark.parametrize("nu", [1e3, 1e8, 1e12, 1e20, 1e300])
def test_a_very_smooth_matern_kernel_is_nearly_gaussian(nu):
    """Off by 0.23 / nu; from nu = 1e12 on, differences in the exponent left digits out, and at 1e17 all of them."""
    rows = np.linspace(0, 3, 7)[:, None]
    values, limit = Matern(nu, length_scale=1.0)(rows), Gaussian(gamma=0.5)(rows)
    np.testing.assert_allclose(values, limit, atol=0.25 / nu + 1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Matern(0.0), r"Matern: nu must be a finite number > 0, got 0.0. nu=0.5 is the exponential kernel"),
        (lambda: Matern(-1.0), r"Matern: nu must be a finite number > 0, got -1.0"),
        (lambda: Matern(1.5, length_scale=0), r"Matern: length_scale must be a finite number > 0, got 0. Or write"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("nu", [0.05, 0.5, 1.5, 2.5, 7.3, 80.0])
def test_a_distance_that_is_no_number_has_no_kernel_value(nu):
    """inf - inf of rows whose squares overflow: callers refuse what is not finite."""
    assert np.isnan(matern_profile(nu, np.array([np.nan])))[0]
