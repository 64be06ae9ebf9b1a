"""Budget regression: kernel ridge regression while all rows fit, losses, and forgetting."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from mercer import Gaussian
from mercer.learners import BudgetRegressor


@pytest.fixture
def rows(rng):
    X = rng.uniform(-3, 3, (200, 2))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] ** 2 + 0.1 * rng.standard_normal(200)


@pytest.mark.parametrize("budget", [200, 10**9])
def test_newton_with_room_for_all_rows_is_kernel_ridge_regression(rows, budget):
    X, y = rows
    kernel = Gaussian(gamma=2.0)
    model = BudgetRegressor(kernel, budget=budget, update="newton", alpha=0.1, tolerance=1e-6).fit(X, y)
    exact = KernelRidge(alpha=0.1, kernel="rbf", gamma=2.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), exact.predict(X), atol=1e-8)


def test_scores_before_each_row_are_those_of_the_ridge_of_the_rows_before(rows):
    X, y = rows
    model, errors = BudgetRegressor(Gaussian(gamma=2.0), budget=60, update="newton", tolerance=1e-6), 0.0
    for t in range(60):
        before = 0.0 if t == 0 else model.predict(X[t : t + 1])[0]
        errors += 0.5 * (before - y[t]) ** 2
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        assert model.cumulative_loss_ == pytest.approx(errors)


def test_forgetting_is_that_of_the_tracker(rows):
    """After one forgetting step towards the prior: S <- f S + (1 - f) K, mu <- sqrt(f) mu."""
    X, y = rows
    kernel, decay = Gaussian(gamma=2.0), 0.8
    model = BudgetRegressor(kernel, budget=10, update="newton", alpha=0.1, decay=decay, tolerance=1e-9).fit(
        X[:2], y[:2]
    )
    K = kernel(X[:2])
    mean, covariance = K[:1, 0] * y[0] / (K[0, 0] + 0.1), K[:1, :1] - K[:1, :1] ** 2 / (K[0, 0] + 0.1)
    mean, covariance = np.sqrt(decay) * mean, decay * covariance + (1 - decay) * K[:1, :1]
    q = K[0, 1] / K[0, 0]
    variance = K[1, 1] - q * K[0, 1] + q * covariance[0, 0] * q
    expected = np.array([mean[0], q * mean[0]])
    gain = np.array([covariance[0, 0] * q, variance])
    expected += gain * (y[1] - q * mean[0]) / (0.1 + variance)
    np.testing.assert_allclose(model.predict(X[:2]), expected, atol=1e-12)


@pytest.mark.parametrize("update", ["gradient", "passive_aggressive"])
def test_errors_below_epsilon_are_not_learned(rows, update):
    X, y = rows
    model = BudgetRegressor(
        Gaussian(gamma=2.0), budget=500, update=update, loss="epsilon_insensitive", epsilon=0.5, alpha=0.01
    ).fit(X, y)
    assert 0 < len(model.coef_) < 200
    all_rows = BudgetRegressor(Gaussian(gamma=2.0), budget=500, update=update, loss="squared", alpha=0.01).fit(X, y)
    assert len(all_rows.coef_) == 200
    none = BudgetRegressor(Gaussian(gamma=2.0), update=update, loss="epsilon_insensitive", epsilon=100.0).fit(X, y)
    assert len(none.coef_) == 0
    np.testing.assert_array_equal(none.predict(X), 0.0)


def test_passive_aggressive_steps_leave_no_loss(rows):
    X, y = rows
    model = BudgetRegressor(Gaussian(gamma=2.0), update="passive_aggressive", epsilon=0.1, alpha=1e-9)
    for t in range(20):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        assert abs(model.predict(X[t : t + 1])[0] - y[t]) <= 0.1 + 1e-9
