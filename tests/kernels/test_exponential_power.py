"""The exponential power kernel: its relations, its stable mixing variable, and its parameters."""

import numpy as np
import pytest

from mercer import ExponentialPower, Gaussian, Matern
from mercer.testing import assert_mean_close


def test_relations_to_other_kernels(rng):
    X = rng.standard_normal((6, 3))
    np.testing.assert_allclose(ExponentialPower(1.0, length_scale=2.0)(X), Matern(0.5, length_scale=2.0)(X), rtol=1e-12)
    np.testing.assert_allclose(ExponentialPower(2.0, length_scale=2.0)(X), Gaussian(gamma=0.25)(X), rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.9])
def test_the_stable_mixing_variable_mixes_gaussians_to_the_kernel(alpha):
    kernel, q = ExponentialPower(alpha, length_scale=1.0), np.array([0.1, 1.0, 4.0])
    mixing = kernel._mixing(np.random.RandomState(0), 20_000)
    assert_mean_close(np.exp(-0.5 * np.outer(mixing, q)), kernel.profile(q.copy()), false_alarm=1e-6, detect=0.2)


@pytest.mark.parametrize("alpha", [1e-3, 5e-324])
def test_the_least_indices_draw_finite_frequencies(alpha, rng):
    W = ExponentialPower(alpha, length_scale=1.0).frequencies(rng, 100, 2)
    assert np.isfinite(W).all()


@pytest.mark.parametrize(("alpha", "has_grids"), [(0.4, True), (1.0, True), (1.5, False)])
def test_grids_need_a_convex_function(alpha, has_grids):
    assert (ExponentialPower(alpha, length_scale=1.5).why_no_grids is None) == has_grids


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ExponentialPower(2.1), r"ExponentialPower: alpha must be in \(0, 2\], got 2.1. Above 2 the function"),
        (lambda: ExponentialPower(0), r"ExponentialPower: alpha must be a finite number > 0, got 0"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
