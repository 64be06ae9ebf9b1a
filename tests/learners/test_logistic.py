"""Logistic regression: the contract, scikit-learn's answers, weights, warm starts, streams, bad input."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    Gaussian,
    KernelLogisticRegression,
    Laplacian,
    RandomBinning,
    as_blocks,
    config_context,
)
from mercer.testing import check_learner


@parametrize_with_checks([KernelLogisticRegression(), KernelLogisticRegression(C=100.0, class_weight="balanced")])
def test_scikit_learn_s_contract(estimator, check):
    check(estimator)


def test_the_laws_of_learners():
    check_learner(KernelLogisticRegression(n_components=32), sklearn_checks=False)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((400, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(400)


def _labels(y, n_classes):
    return np.array(list("abcd"))[np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))]


@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 3.0, "b": 0.5}])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_it_is_logistic_regression_on_the_features(rows, rng, n_classes, class_weight):
    X, y = rows[0], _labels(rows[1], n_classes)
    weight = rng.random_sample(400)
    model = KernelLogisticRegression(n_components=40, C=10.0, class_weight=class_weight, tol=1e-9, random_state=0)
    model.fit(X, y, weight)
    Z = model.feature_map_.transform(X)
    exact = LogisticRegression(C=10.0, tol=1e-12, solver="newton-cholesky", class_weight=class_weight).fit(Z, y, weight)
    np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(Z), atol=1e-7)
    np.testing.assert_allclose(model.predict_log_proba(X), exact.predict_log_proba(Z), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), exact.predict(Z))
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])
    assert model.coef_.shape == ((40,) if n_classes == 2 else (n_classes, 40))
    assert model.solution_.success


def test_the_default_tolerance_leaves_labels_and_log_loss_as_they_are(rows):
    X, y = rows[0], _labels(rows[1], 3)
    quick = KernelLogisticRegression(n_components=64, C=10.0, random_state=0).fit(X, y)
    close = clone(quick).set_params(tol=1e-9).fit(X, y)
    assert quick.solution_.details["passes"] < close.solution_.details["passes"]
    np.testing.assert_array_equal(quick.predict(X), close.predict(X))
    truth = y[:, None] == quick.classes_
    losses = [-np.log(model.predict_proba(X)[truth]).mean() for model in (quick, close)]
    assert abs(losses[0] - losses[1]) < 1e-4


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_are_repetitions(rows, rng, class_weight):
    X, y = rows[0], _labels(rows[1], 3)
    weight = rng.randint(3, size=400)
    model = KernelLogisticRegression(
        Gaussian(gamma="scale"), n_components=30, class_weight=class_weight, tol=1e-9, random_state=0
    )
    one = clone(model).fit(X, y, weight).predict_proba(X)
    other = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).predict_proba(X)
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_beyond_the_budget_features_are_made_in_each_pass(rows):
    X, y = rows[0], _labels(rows[1], 3)
    model = KernelLogisticRegression(n_components=64, tol=1e-9, random_state=0)
    held = clone(model).fit(X, y)
    calls = []
    with config_context(memory=2 * 400 * 64 * 8 - 1):
        streamed = clone(model)
        write = type(held.feature_map_).write_features

        def counted(self, X, out):
            calls.append(X.shape[0])
            write(self, X, out)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(held.feature_map_), "write_features", counted)
            streamed.fit(X, y)
    assert sum(calls) >= 400 * streamed.solution_.details["passes"]
    np.testing.assert_allclose(streamed.predict_proba(X), held.predict_proba(X), atol=1e-9)


def test_sparse_features(rows):
    X, y = rows[0], _labels(rows[1], 3)
    binning = RandomBinning(Laplacian(gamma=0.3), n_components=None, n_grids=30, sparse_output=True, random_state=0)
    model = KernelLogisticRegression(features=binning).fit(X, y)
    Z = model.feature_map_.transform(X).toarray()
    exact = LogisticRegression(tol=1e-10, max_iter=1000).fit(Z, y)
    np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(Z), atol=1e-5)


def test_running_out_of_iterations_warns_with_advice(rows):
    X, y = rows[0], _labels(rows[1], 2)
    with pytest.warns(ConvergenceWarning, match="KernelLogisticRegression: iteration limit. 1 iterations left"):
        KernelLogisticRegression(max_iter=1, C=1e4, random_state=0).fit(X, y)


X, Y = np.random.RandomState(0).rand(20, 3), np.arange(20) % 3
BAD = [
    ({"C": 0.0}, Y, "KernelLogisticRegression: C must be a finite number > 0, got 0.0"),
    ({"C": -1}, Y, "C must be a finite number > 0, got -1"),
    ({"tol": 0.0}, Y, "tol must be a finite number > 0, got 0.0"),
    ({"max_iter": 0}, Y, "max_iter must be an integer >= 1, got 0"),
    ({}, np.ones(20), "y must hold at least 2 classes, got 1 class"),
    ({}, np.where(Y == 0, np.nan, 1.0), "y contains NaN"),
    ({}, Y + 0.5, "Unknown label type: continuous"),
    ({"class_weight": "even"}, Y, "class_weight must be None, 'balanced' or a dict from class to weight, got 'even'"),
    ({"class_weight": {7: 1.0}}, Y, "class_weight names 7, which is not a class of y"),
    ({"class_weight": {0: -1.0}}, Y, "class_weight must be a finite number >= 0, got -1.0"),
]


@pytest.mark.parametrize(("params", "y", "message"), BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("streamed", [False, True])
def test_bad_input_is_named(params, y, message, streamed):
    model = KernelLogisticRegression(**params)
    with pytest.raises(ValueError, match=message):
        model.fit(*((as_blocks(X, y),) if streamed else (X, y)))
    assert not hasattr(model, "classes_")


def test_a_class_that_comes_later_is_named():
    passes = []

    def factory():
        passes.append(0)
        yield X, Y if len(passes) < 3 else Y + 1

    with pytest.raises(ValueError, match="gave classes in a later pass that the first did not have"):
        KernelLogisticRegression().fit(as_blocks(factory))
