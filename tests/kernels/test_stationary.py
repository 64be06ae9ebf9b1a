"""Shift-invariant kernels: exact values, and the spectral and grid distributions against them."""

import numpy as np
import pytest

from mercer import (
    Cauchy,
    ExponentialPower,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    RationalQuadratic,
)
from mercer.testing import assert_mean_close, check_kernel, rounding

RADIAL = [
    Gaussian(gamma=0.7),
    *(Matern(nu, length_scale=1.3) for nu in (0.05, 0.5, 1.0, 1.5, 2.5, 7.3, 80.0)),
    Cauchy(length_scale=0.8),
    *(RationalQuadratic(alpha, length_scale=1.2) for alpha in (0.3, 1.0, 20.0)),
    *(ExponentialPower(alpha, length_scale=1.5) for alpha in (0.2, 1.0, 1.5, 2.0)),
]
KERNELS = [*RADIAL, Laplacian(gamma=1.3)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_laws(kernel):
    check_kernel(kernel)


def test_equal_rows_have_kernel_one_in_two_matrices(rng):
    X = rng.standard_normal((20, 7)) * 1e3
    for kernel in KERNELS:
        np.testing.assert_array_equal(np.diag(kernel(X, X.copy())), 1.0)


@pytest.mark.parametrize("n_features", [1, 2, 4, 10, 64, 100])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_spectral_draw_has_the_kernel_as_its_mean(kernel, n_features):
    rng = np.random.RandomState(n_features)
    direction = rng.standard_normal(n_features)
    direction /= np.abs(direction).sum() if isinstance(kernel, Laplacian) else np.linalg.norm(direction)
    shifts = np.array([0.05, 0.5, 1.0, 2.5])[:, np.newaxis] * direction
    expected = kernel(shifts, np.zeros((1, n_features)))[:, 0]
    n = 20_000
    independent = kernel.frequencies(rng, n, n_features)
    assert independent.shape == (n_features, n)
    assert_mean_close(np.cos(shifts @ independent).T, expected, false_alarm=1e-6, detect=0.2)
    quantiles = kernel.frequencies_at(rng.random_sample((n, kernel.n_uniforms(n_features))))
    assert_mean_close(np.cos(shifts @ quantiles).T, expected, false_alarm=1e-6, detect=0.2)


@pytest.mark.parametrize(
    "kernel",
    [
        Laplacian(gamma=0.4),
        Laplacian(gamma=2.5),
        Matern(0.5, length_scale=0.7),
        Matern(0.2, length_scale=0.7),
        ExponentialPower(0.4, length_scale=1.5),
        ExponentialPower(1.0, length_scale=1.5),
    ],
    ids=repr,
)
def test_triangles_over_the_pitch_law_have_the_kernel_as_their_mean(kernel):
    rng = np.random.RandomState(0)
    distances = np.array([0.05, 0.3, 1.0, 2.5])
    pitches = kernel.pitches(rng, 40_000, 1)
    expected = kernel(distances[:, np.newaxis], np.zeros((1, 1)))[:, 0]
    assert_mean_close(np.maximum(0, 1 - distances / pitches), expected, false_alarm=1e-6, detect=0.2)


def test_the_mean_square_of_frequencies(rng):
    for kernel in (Gaussian(gamma=0.7), Matern(4.0, length_scale=2.0), Cauchy(length_scale=2.0)):
        W = kernel.frequencies(rng, 40_000, 3)
        assert_mean_close((W**2).T, np.full(3, kernel.frequency_variance), false_alarm=1e-6, detect=0.2)
    for kernel in (Laplacian(gamma=1.0), Matern(1.0, length_scale=1.0), ExponentialPower(1.9, length_scale=1.0)):
        assert kernel.frequency_variance == np.inf


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian(gamma="median"), Matern(1.5), 2.0 * Cauchy() + Linear()])
def test_an_unresolved_kernel_says_so(kernel):
    message = r"has no value before it has seen data. Estimators find it in fit; .* write kernel.resolve\(X\)\(X\)"
    for call in (kernel, kernel.diag):
        with pytest.raises(ValueError, match=message):
            call(np.eye(3))


def test_float32_values_are_those_of_float64_rounded(rng):
    X = rng.standard_normal((30, 20)).astype(np.float32)
    for kernel in KERNELS:
        np.testing.assert_allclose(kernel(X), kernel(X.astype(np.float64)), rtol=rounding(np.float32))
