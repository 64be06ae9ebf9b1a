"""FOGD: the loop over rows, ridge regression row by row, and maps of your own."""

import numpy as np
import pytest
from per_row import by_rows, mistakes, targets_of, with_constant
from sklearn.linear_model import Ridge

from mercer import (
    FOGDClassifier,
    FOGDRegressor,
    FourierFeatures,
    Gaussian,
)

X, Y = np.random.RandomState(0).rand(20, 3), np.arange(20) % 3

UPDATES = ["newton", "adagrad", "gradient"]


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((700, 3))
    values = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, values


def _labels(values, n_classes):
    return np.array(list("abcd"))[np.digitize(values, np.quantile(values, np.arange(1, n_classes) / n_classes))]


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_fogd_is_the_loop_over_rows(rows, update, loss, n_classes):
    X, labels = rows[0], _labels(rows[1], n_classes)
    model = FOGDClassifier(Gaussian(gamma=0.5), n_components=40, loss=loss, update=update, step=0.5, random_state=0)
    model.fit(X, labels)
    y, k = targets_of(labels)
    scores, W = by_rows(model, with_constant(model.feature_map_.transform(X)), y, k)
    assert model.n_seen_ == 700
    assert model.n_mistakes_ == mistakes(scores, y)
    np.testing.assert_allclose(np.atleast_2d(model.coef_), W[:, :-1], atol=1e-9)
    np.testing.assert_allclose(np.atleast_1d(model.intercept_), W[:, -1], atol=1e-9)
    np.testing.assert_allclose(
        model.decision_function(X).reshape(700, k), with_constant(model.feature_map_.transform(X)) @ W.T, atol=1e-9
    )


@pytest.mark.parametrize("schedule", ["sqrt", "constant", "inverse"])
@pytest.mark.parametrize("update", ["adagrad", "gradient"])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_regressor_is_the_loop_over_rows(rows, update, loss, schedule):
    X, y = rows
    shared = {"n_components": 30, "loss": loss, "update": update, "schedule": schedule, "step": 0.3}
    model = FOGDRegressor(Gaussian(gamma=0.5), **shared, random_state=0)
    for part in np.split(np.arange(700), [1, 300]):
        model.partial_fit(X[part], y[part])
    scores, W = by_rows(model, with_constant(model.feature_map_.transform(X)), y, 1)
    errors = scores[:, 0] - y
    assert model.cumulative_loss_ == pytest.approx((errors**2 / 2 if loss == "squared" else np.abs(errors)).sum())
    np.testing.assert_allclose(model.coef_, W[0, :-1], atol=1e-10)


def test_newton_with_the_squared_loss_is_ridge_regression(rows):
    X, y = rows
    model = FOGDRegressor(n_components=50, alpha=0.2, random_state=0).fit(X, y)
    Z = with_constant(model.feature_map_.transform(X))
    exact = Ridge(alpha=0.2, fit_intercept=False, solver="cholesky").fit(Z, y)
    np.testing.assert_allclose([*model.coef_, model.intercept_], exact.coef_, rtol=1e-8, atol=1e-10)


def test_ones_own_features(rows):
    X, y = rows
    model = FOGDRegressor(features=FourierFeatures(Gaussian(gamma=0.2), n_components=64, random_state=1)).fit(X, y)
    assert model.coef_.shape == (64,)
    with pytest.raises(ValueError, match="features must be a feature map such as"):
        FOGDRegressor(features="rbf").fit(X, y)


def test_a_map_of_one_s_own_is_looked_into():
    with pytest.warns(UserWarning, match=r"the parameters of Gaussian\(gamma='median'\) are found on the first rows"):
        FOGDRegressor(features=FourierFeatures(Gaussian(gamma="median"), n_components=8)).partial_fit(X[:1], Y[:1])
