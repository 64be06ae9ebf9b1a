"""Radial kernels: scale mixtures, their radii, Cauchy and the rational quadratic."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp

from mercer import Cauchy, ExponentialPower, Gaussian, Matern, RationalQuadratic
from mercer.testing import assert_mean_close

RADIAL = [
    Gaussian(gamma=0.7),
    *(Matern(nu, length_scale=1.3) for nu in (0.05, 0.5, 1.0, 1.5, 2.5, 7.3, 80.0)),
    Cauchy(length_scale=0.8),
    *(RationalQuadratic(alpha, length_scale=1.2) for alpha in (0.3, 1.0, 20.0)),
    *(ExponentialPower(alpha, length_scale=1.5) for alpha in (0.2, 1.0, 1.5, 2.0)),
]


@pytest.mark.parametrize("n_features", [1, 4, 64])
@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_radii_on_uniform_directions_have_the_kernel_as_their_mean(kernel, n_features):
    rng = np.random.RandomState(n_features)
    n, distances = 20_000, np.array([0.1, 1.0, 3.0])
    directions = rng.standard_normal((n, n_features))
    cosines = directions[:, 0] / np.linalg.norm(directions, axis=1)
    phases = np.outer(kernel.radii(rng, n, n_features) * cosines, distances)
    expected = kernel(distances[:, np.newaxis], np.zeros((1, 1)))[:, 0]
    assert_mean_close(np.cos(phases), expected, false_alarm=1e-6, detect=0.2)


def test_values_by_their_definitions(rng):
    X, Y = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    expected = gp.RationalQuadratic(length_scale=1.3, alpha=0.7)(X, Y)
    np.testing.assert_allclose(RationalQuadratic(0.7, length_scale=1.3)(X, Y), expected, rtol=1e-12)
    squares = np.square(X[:, np.newaxis] - Y).sum(axis=2)
    np.testing.assert_allclose(Cauchy(length_scale=2.0)(X, Y), 1 / (1 + squares / 4), rtol=1e-12)
    np.testing.assert_allclose(RationalQuadratic(1.0, length_scale=2**0.5)(X), Cauchy(length_scale=2.0)(X), rtol=1e-12)


@pytest.mark.parametrize("kernel", [Cauchy(length_scale=0.8), RationalQuadratic(0.3, length_scale=1.2)], ids=repr)
def test_quantiles_of_the_mixing_variable_mix_gaussians_to_the_kernel(kernel):
    n = 200_000
    points = ((np.arange(n) + 0.5) / n)[:, np.newaxis]
    q = np.array([0.01, 0.5, 2.0])
    mixed = np.exp(-0.5 * kernel._mixing_at(points) * q[:, np.newaxis]).mean(axis=1)
    np.testing.assert_allclose(mixed, kernel.profile(q.copy()), atol=1e-4)  # the middle rule on n points


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RationalQuadratic(-2), r"RationalQuadratic: alpha must be a finite number > 0, got -2"),
        (lambda: Cauchy(length_scale=-3.0), r"Cauchy: length_scale must be a finite number > 0, got -3.0"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
