"""Linear models on features in ONNX: labels, scores and probabilities, and far rows shrunk."""

import warnings

import numpy as np
import pytest

from mercer import (
    FOGDClassifier,
    Gaussian,
    KernelLogisticRegression,
    KernelOneClassSVM,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    KitchenSinksClassifier,
    Linear,
    NOGDRegressor,
    Nystroem,
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "model",
    [
        KernelRidge(Gaussian(gamma=0.02), random_state=0),
        KernelRidge(features=Nystroem(Gaussian(gamma=0.02), n_components=50), random_state=0),
        KernelSVR(Gaussian(gamma=0.02) + Linear(), random_state=0),
        NOGDRegressor(Gaussian(gamma=0.02), n_components=30, random_state=0),
    ],
    ids=repr,
)
def test_predictions_are_those_of_the_model(run, close, diabetes, model, dtype):
    X, y = diabetes
    model.fit(X, y)
    close(run(model, X, dtype)["prediction"], model.predict(X), dtype)


def test_several_targets_have_a_column_each(run, close, diabetes):
    X, y = diabetes
    model = KernelRidge(Gaussian(gamma=0.02), random_state=0).fit(X, np.column_stack([y, X[:, 0] ** 2]))
    close(run(model, X)["prediction"], model.predict(X))


@pytest.mark.parametrize("of", ["digits", "cancer"])
@pytest.mark.parametrize("kind", [KernelRidgeClassifier, KernelSVC, KitchenSinksClassifier, FOGDClassifier])
def test_labels_and_scores_are_those_of_the_model(run, close, request, kind, of):
    X, y = request.getfixturevalue(of)
    model = kind(random_state=0).fit(X, y)
    found = run(model, X)
    close(found["scores"], model.decision_function(X))
    np.testing.assert_array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize("of", ["digits", "cancer"])
def test_probabilities_are_those_of_the_model(run, close, request, of):
    X, y = request.getfixturevalue(of)
    model = KernelLogisticRegression(Gaussian(gamma=0.02), random_state=0).fit(X, y)
    found = run(model, X)
    close(found["probabilities"], model.predict_proba(X))
    np.testing.assert_array_equal(found["label"], model.predict(X))


def test_one_class_finds_the_same_outliers(run, close, cancer):
    X = cancer[0]
    model = KernelOneClassSVM(Gaussian(gamma=0.01), nu=0.1, random_state=0).fit(X)
    found, scores = run(model, X), model.decision_function(X)
    close(found["scores"], scores)
    clear = np.abs(scores) > 1e-5  # support vectors lie on the boundary, to rounding
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(found["label"][clear], model.predict(X)[clear])


@pytest.mark.parametrize("far_rows", ["shrink", "keep"])
@pytest.mark.parametrize("kind", [KernelRidge, KernelSVR])
def test_far_rows_are_shrunk_as_in_mercer(run, close, diabetes, kind, far_rows):
    X, y = diabetes
    model = kind(Gaussian(gamma=0.02), far_rows=far_rows, random_state=0).fit(X, y)
    far = X[:100] + np.linspace(0, 60, 100)[:, None] * np.eye(X.shape[1])[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = model.predict(far)
    assert (np.ptp(expected[-10:]) < 1e-9) == (far_rows == "shrink")  # the test sees both
    close(run(model, far, "float64")["prediction"], expected, "float64")
