"""Shift-invariant kernels: exact values, and the spectral and grid distributions against them."""

import numpy as np
import pytest
from scipy import special
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVC

from mercer import (
    Cauchy,
    ExponentialPower,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    ScaledColumns,
)
from mercer.kernels.matern import matern_profile
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


def test_values_against_scikit_learn(rng):
    X, Y = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    np.testing.assert_allclose(Gaussian(gamma=0.7)(X, Y), rbf_kernel(X, Y, gamma=0.7), rtol=1e-12)
    np.testing.assert_allclose(Laplacian(gamma=0.7)(X, Y), laplacian_kernel(X, Y, gamma=0.7), rtol=1e-12)
    for nu in (0.5, 1.2, 1.5, 2.5, 4.0):
        expected = gp.Matern(length_scale=1.3, nu=nu)(X, Y)
        np.testing.assert_allclose(Matern(nu, length_scale=1.3)(X, Y), expected, rtol=1e-10)
    expected = gp.RationalQuadratic(length_scale=1.3, alpha=0.7)(X, Y)
    np.testing.assert_allclose(RationalQuadratic(0.7, length_scale=1.3)(X, Y), expected, rtol=1e-12)


def test_relations_between_the_kernels(rng):
    X = rng.standard_normal((6, 3))
    pairs = [
        (Cauchy(length_scale=2.0), RationalQuadratic(1.0, length_scale=2**0.5)),
        (ExponentialPower(1.0, length_scale=2.0), Matern(0.5, length_scale=2.0)),
        (ExponentialPower(2.0, length_scale=2.0), Gaussian(gamma=0.25)),
    ]
    for one, other in pairs:
        np.testing.assert_allclose(one(X), other(X), rtol=1e-12)
    for limit in (Matern(1e7, length_scale=2.0), RationalQuadratic(1e7, length_scale=2.0)):
        np.testing.assert_allclose(limit(X), Gaussian(gamma=1 / 8)(X), rtol=1e-5)


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [Gaussian(gamma=1.0), Matern(0.5, length_scale=1.0)], ids=repr)
def test_near_points_far_from_the_origin_keep_their_distance(kernel, dtype):
    shift = np.array([0.0, 0.5, 2.0**-7, 2.0**-10])[:, np.newaxis]
    X = (1000 + shift).astype(dtype)
    np.testing.assert_allclose(kernel(X, X[:1]), kernel(shift, shift[:1]), rtol=4 * np.finfo(dtype).eps)


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


def test_scale_is_that_of_scikit_learn(rng):
    X = rng.standard_normal((30, 4)) * 3 + 1
    expected = SVC(gamma="scale").fit(X, np.arange(30) % 2)._gamma
    assert Gaussian().resolve(X).gamma == pytest.approx(expected, rel=1e-12)
    assert Matern(1.5).resolve(X).length_scale == pytest.approx((2 * expected) ** -0.5, rel=1e-12)
    assert Laplacian().resolve(X).gamma == pytest.approx(1 / (4 * X.std()), rel=1e-12)
    assert Gaussian().resolve(np.ones((3, 2))).gamma == 1.0


def test_the_median_heuristic(rng):
    X = rng.standard_normal((40, 3))
    distances = np.linalg.norm(X[:, np.newaxis] - X, axis=2)[np.triu_indices(40, 1)]
    middle = np.sort(distances)[(len(distances) - 1) // 2]
    assert Matern(0.5, length_scale="median").resolve(X).length_scale == pytest.approx(middle)
    assert Gaussian(gamma="median").resolve(X).gamma == pytest.approx(1 / (2 * middle**2))
    absolute = np.abs(X[:, np.newaxis] - X).sum(axis=2)[np.triu_indices(40, 1)]
    middle = np.sort(absolute)[(len(absolute) - 1) // 2]
    assert Laplacian(gamma="median").resolve(X).gamma == pytest.approx(1 / middle)
    assert Gaussian(gamma="median").resolve(np.ones((3, 2))).gamma == 0.5
    large = rng.standard_normal((5000, 3))
    assert Gaussian(gamma="median").resolve(large) == Gaussian(gamma="median").resolve(large)


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_a_weight_counts_as_so_many_rows(rng, rule):
    X, weights = rng.standard_normal((12, 3)), rng.randint(4, size=12)
    repeated = np.repeat(X, weights, axis=0)
    for kernel in (Gaussian(gamma=rule), Laplacian(gamma=rule), Cauchy(length_scale=rule)):
        name, _ = kernel._named_bandwidth
        weighted = getattr(kernel.resolve(X, sample_weight=weights), name)
        assert weighted == pytest.approx(getattr(kernel.resolve(repeated), name), rel=1e-12)
    with pytest.raises(ValueError, match="sample_weight must hold one number >= 0 for each of the 12 rows"):
        Gaussian(gamma=rule).resolve(X, sample_weight=-np.ones(12))


def test_expressions_resolve_all_their_parts(rng):
    X = rng.standard_normal((10, 2))
    gamma = Gaussian().resolve(X).gamma
    expression = 2.0 * Gaussian() + Linear() * Matern(1.5, length_scale=1.0)
    assert expression.resolve(X) == 2.0 * Gaussian(gamma=gamma) + Linear() * Matern(1.5, length_scale=1.0)
    scaled = ScaledColumns(Gaussian(), [2.0, 2.0]).resolve(X)
    assert scaled.kernel.gamma == pytest.approx(gamma / 4)
    settled = Polynomial(2) + Gaussian(gamma=1.0)
    assert settled.resolve(X) is settled


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian(gamma="median"), Matern(1.5), 2.0 * Cauchy() + Linear()])
def test_an_unresolved_kernel_says_so(kernel):
    message = r"has no value before it has seen data. Estimators find it in fit; .* write kernel.resolve\(X\)\(X\)"
    for call in (kernel, kernel.diag):
        with pytest.raises(ValueError, match=message):
            call(np.eye(3))


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan])
@pytest.mark.parametrize("kernel", [Gaussian, Laplacian])
def test_gamma_must_be_positive(kernel, gamma):
    with pytest.raises(ValueError, match=f"{kernel.__name__}: gamma must be a finite number > 0, got"):
        kernel(gamma=gamma)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(gamma="auto"), r"Gaussian: gamma must be a number > 0, 'scale' or 'median', got 'auto'"),
        (lambda: Matern(0.0), r"Matern: nu must be a finite number > 0, got 0.0. nu=0.5 is the exponential kernel"),
        (lambda: Matern(-1.0), r"Matern: nu must be a finite number > 0, got -1.0"),
        (lambda: Matern(1.5, length_scale=0), r"Matern: length_scale must be a finite number > 0, got 0. Or write"),
        (lambda: ExponentialPower(2.1), r"ExponentialPower: alpha must be in \(0, 2\], got 2.1. Above 2 the function"),
        (lambda: ExponentialPower(0), r"ExponentialPower: alpha must be a finite number > 0, got 0"),
        (lambda: RationalQuadratic(-2), r"RationalQuadratic: alpha must be a finite number > 0, got -2"),
        (lambda: Cauchy(length_scale=-3.0), r"Cauchy: length_scale must be a finite number > 0, got -3.0"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_float32_values_are_those_of_float64_rounded(rng):
    X = rng.standard_normal((30, 20)).astype(np.float32)
    for kernel in KERNELS:
        np.testing.assert_allclose(kernel(X), kernel(X.astype(np.float64)), rtol=rounding(np.float32))


@pytest.mark.parametrize("nu", [1e3, 1e8, 1e12, 1e20, 1e300])
def test_a_very_smooth_matern_kernel_is_nearly_gaussian(nu):
    """Off by 0.23 / nu; from nu = 1e12 on, differences in the exponent left digits out, and at 1e17 all of them."""
    rows = np.linspace(0, 3, 7)[:, None]
    values, limit = Matern(nu, length_scale=1.0)(rows), Gaussian(gamma=0.5)(rows)
    np.testing.assert_allclose(values, limit, atol=0.25 / nu + 1e-15)
