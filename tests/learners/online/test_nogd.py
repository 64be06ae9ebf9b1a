"""NOGD: the kernel itself up to the budget, then the features of the rows that had a loss."""

import numpy as np
import pytest
from per_row import mistakes, nogd_by_rows, targets_of
from sklearn.base import clone

from mercer import (
    Gaussian,
    NOGDClassifier,
    NOGDRegressor,
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


def test_the_kernel_phase_is_kernel_ridge_regression(rows):
    X, y = rows[0][:150], rows[1][:150]
    model = NOGDRegressor(Gaussian(gamma=0.5), n_components=1000, alpha=0.2).fit(X, y)
    assert model.feature_map_ is None  # the budget is larger than the stream: the kernel machine stays exact
    K = Gaussian(gamma=0.5)(X) + 1
    dual = np.linalg.solve(K + 0.2 * np.eye(150), y)
    np.testing.assert_allclose(model.coef_, dual, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), K @ dual, atol=1e-8)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("budget", [1, 50, 130])
def test_nogd_is_the_loop_over_rows(rows, update, n_classes, budget):
    """In the kernel's space up to the budget, and from there on the features of the rows that had a loss."""
    X, labels = rows[0][:400], _labels(rows[1], n_classes)[:400]
    kernel = Gaussian(gamma=0.5)
    model = NOGDClassifier(kernel, n_components=budget, update=update, loss="hinge", step=0.5).fit(X, labels)
    y, k = targets_of(labels)
    landmarks, scores, W = nogd_by_rows(model, kernel, X, y, k, 400)
    np.testing.assert_allclose(model.feature_map_.landmarks_, landmarks)
    assert model.n_mistakes_ == mistakes(scores, y)
    np.testing.assert_allclose(np.atleast_2d(model.coef_), W[:, :-1], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("update", UPDATES)
def test_predictions_do_not_jump_at_the_switch(rows, update, dtype):
    X, y = rows[0].astype(dtype), _labels(rows[1], 3)
    before = NOGDClassifier(Gaussian(gamma=0.5), n_components=101, update=update, loss="hinge", step=0.5)
    after = clone(before).set_params(n_components=100)
    classes = np.unique(y)
    n = 0
    while after.partial_fit(X[n : n + 1], y[n : n + 1], classes=classes).feature_map_ is None:
        before.partial_fit(X[n : n + 1], y[n : n + 1], classes=classes)
        n += 1
    before.partial_fit(X[n : n + 1], y[n : n + 1])
    assert before.feature_map_ is None
    assert n >= 99
    expected = before.decision_function(X)
    # sqrt(eps): what eigenvalues at the rounding of the Gram matrix may carry of a function.
    np.testing.assert_allclose(after.decision_function(X), expected, atol=2e-8 * 10 * np.abs(expected).max())


def test_a_smaller_rank_keeps_the_leading_directions(rows):
    X, y = rows[0], _labels(rows[1], 2)
    model = NOGDClassifier(Gaussian(gamma=0.5), n_components=60, rank=20).fit(X, y)
    assert model.coef_.shape == (20,)
    assert model.n_mistakes_ < 200


@pytest.mark.parametrize("kind", [NOGDClassifier, NOGDRegressor])
def test_a_lowered_budget_ends_the_first_phase(kind):
    model = kind(random_state=0, n_components=100).fit(X, Y)
    n_rows = len(model.state_.coef)
    assert model.feature_map_ is None
    assert n_rows > 3
    model.set_params(n_components=3).partial_fit(X, Y)
    assert len(model.feature_map_.landmarks_) == n_rows
