"""Standard deviations of predictions against dense formulas, and the coverage of intervals."""

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

from mercer import FourierFeatures, Gaussian, KernelRidge

rng = np.random.RandomState(0)
X = rng.standard_normal((80, 2))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + 0.2 * rng.standard_normal((80, 2))
NEW = rng.standard_normal((30, 2))
MAP = FourierFeatures(Gaussian(gamma=0.5), n_components=20, random_state=0)


def test_deviations_are_those_of_the_bayesian_linear_model():
    """With the intercept as one more weight that has no prior, and weights that are repetitions."""
    weight = rng.randint(0, 3, 80)
    model = KernelRidge(features=MAP, alpha=0.3, posterior=True, far_rows="keep").fit(X, Y, weight)
    mean, std = model.predict(NEW, return_std=True)
    A, B = (np.column_stack([model.feature_map_.transform(rows), np.ones(len(rows))]) for rows in (X, NEW))
    precision = A.T @ (weight[:, None] * A) + 0.3 * np.diag([1.0] * 20 + [0.0])
    hat = np.linalg.solve(precision, A.T * weight)
    residual = Y - A @ (hat @ Y)
    noise = weight @ residual**2 / (weight.sum() - np.trace(A @ hat))
    h = np.einsum("ij,ij->i", B, np.linalg.solve(precision, B.T).T)
    np.testing.assert_allclose(mean, B @ (hat @ Y), rtol=1e-7)
    np.testing.assert_allclose(std, np.sqrt(noise * (1 + h[:, None])), rtol=1e-7)


def test_deviations_are_those_of_a_gaussian_process_on_the_features():
    model = KernelRidge(features=MAP, alpha=0.3, posterior=True, far_rows="keep").fit(X, Y[:, 0])
    noise = float(model._posterior.noise[0])
    flat = 1e5  # the variance of an intercept that has no prior
    kernel = ConstantKernel(noise / 0.3) * DotProduct(0.0, "fixed") + ConstantKernel(flat)
    exact = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None)
    exact.fit(model.feature_map_.transform(X), Y[:, 0])
    mean, latent = exact.predict(model.feature_map_.transform(NEW), return_std=True)
    found, std = model.predict(NEW, return_std=True)
    np.testing.assert_allclose(found, mean, atol=1e-4)
    np.testing.assert_allclose(std, np.sqrt(latent**2 + noise), rtol=1e-3)


def test_intervals_cover_what_is_drawn_from_the_model():
    """1000 draws of weights and noise, of which 90 % intervals cover 900 up to the binomial law; false alarm 1e-6.

    The noise has 260 degrees of freedom and is estimated, which takes 0.2 % off the coverage.
    """
    alpha, rows = 2.0, rng.standard_normal((300, 2))
    features = FourierFeatures(Gaussian(gamma=0.5), n_components=40, random_state=0)
    Z, model = features.fit(rows).transform(rows), KernelRidge(features=features, alpha=alpha, posterior=True)
    covered = 0
    for _ in range(200):
        w = rng.standard_normal((40, 5)) * (0.5 / alpha**0.5)
        y = 3.0 + Z @ w + 0.5 * rng.standard_normal((300, 5))
        mean, std = model.fit(rows[1:], y[1:]).predict(rows[:1], return_std=True)
        covered += np.count_nonzero(np.abs(y[:1] - mean) < stats.norm.ppf(0.95) * std)
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], 1000, 0.9)
    assert low <= covered <= high


def test_few_rows_take_the_noise_of_the_marginal_likelihood():
    model = KernelRidge(features=FourierFeatures(Gaussian(gamma=0.5), n_components=200, random_state=0), alpha=1e-3)
    model.set_params(posterior=True).fit(X[:10], Y[:10, 0])
    Z = model.feature_map_.transform(X[:10])
    Z -= Z.mean(axis=0)
    y = Y[:10, 0] - Y[:10, 0].mean()
    expected = y @ np.linalg.solve(np.eye(10) + Z @ Z.T / 1e-3, y) / 9
    np.testing.assert_allclose(model._posterior.noise, expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*rows lie far")
def test_far_rows_have_the_deviation_of_y():
    model = KernelRidge(Gaussian(gamma=0.5), n_components=30, posterior=True, random_state=0).fit(X, Y)
    mean, std = model.predict(np.full((1, 2), 1e3), return_std=True)
    np.testing.assert_allclose(mean[0], Y.mean(axis=0))
    np.testing.assert_allclose(std[0] ** 2, Y.var(axis=0) + model._posterior.noise / 80, rtol=1e-6)
