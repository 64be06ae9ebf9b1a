"""Warm starts: the map of the last fit, and its solution to begin at."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from mercer import (
    Gaussian,
    KernelLogisticRegression,
    KernelSVC,
)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((400, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(400)


def _labels(y, n_classes):
    return np.array(list("abcd"))[np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))]


def test_a_warm_start_keeps_the_map_and_begins_at_the_last_coefficients(rows):
    X, y = rows[0], _labels(rows[1], 3)
    model = KernelLogisticRegression(n_components=50, tol=1e-9, warm_start=True).fit(X, y)
    first, iterations = model.feature_map_, model.solution_.iterations
    model.fit(X, y)
    assert model.feature_map_ is first
    assert model.solution_.iterations == 0
    model.set_params(C=1.1).fit(X, y)
    assert model.feature_map_ is first
    assert 0 < model.solution_.iterations < iterations
    Z = first.transform(X)
    exact = LogisticRegression(C=1.1, tol=1e-12, solver="newton-cholesky").fit(Z, y)
    np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(Z), atol=1e-7)
    model.set_params(kernel=Gaussian(gamma=2.0)).fit(X, y)
    assert model.feature_map_ is not first
    model.fit(X[:, :3], _labels(rows[1], 2))
    assert model.coef_.shape == (50,)
    assert clone(model).set_params(warm_start=False).fit(X, y).fit(X, y).feature_map_ is not first


@pytest.fixture
def many_rows(rng):
    X = rng.standard_normal((700, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(700)


def test_a_warm_start_takes_fewer_epochs(many_rows):
    X, y = many_rows[0], _labels(many_rows[1], 3)
    model = KernelSVC(n_components=30, warm_start=True, random_state=0).fit(X, y)
    again = model.set_params(C=1.05).fit(X, y)
    cold = KernelSVC(n_components=30, C=1.05, random_state=0).fit(X, y)
    assert again.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(again.decision_function(X), cold.decision_function(X), atol=0.05)
    assert model.set_params(C=1.0).fit(X[:600], y[:600]).solution_.success  # other rows: from the beginning


@pytest.mark.parametrize("warm_start", [False, True])
def test_dual_variables_are_kept_to_start_from_and_nowhere_else(many_rows, warm_start):
    X, y = many_rows[0], _labels(many_rows[1], 3)
    model = KernelSVC(n_components=30, warm_start=warm_start, random_state=0).fit(X, y)
    assert "duals" not in model.solution_.details
    kept = [name for name, value in vars(model).items() if np.shape(value)[:1] == (700,)]
    assert bool(kept) == warm_start


def test_another_map_starts_from_nothing(many_rows):
    X, y = many_rows[0], _labels(many_rows[1], 3)
    model = KernelSVC(n_components=30, warm_start=True, random_state=0).fit(X, y)
    cold = KernelSVC(n_components=31, random_state=0).fit(X, y)
    assert model.set_params(n_components=31).fit(X, y).n_iter_ == cold.n_iter_
    np.testing.assert_array_equal(model.coef_, cold.coef_)
