"""The Matern function far from 0, where Bessel functions and products have no value."""

import warnings

import numpy as np
import pytest

from mercer import Matern


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
