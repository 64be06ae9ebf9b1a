"""Ridge regression in leaves in ONNX."""

import numpy as np
import pytest

from mercer import Gaussian, LocalKernelRidge, LocalKernelRidgeClassifier, Matern, ScaledColumns

SMALL = {"leaf_rows": 60, "n_landmarks": 30, "random_state": 0}


@pytest.mark.parametrize(
    "model",
    [
        LocalKernelRidge(Matern(1.5), alpha=0.1, **SMALL),
        LocalKernelRidge(ScaledColumns(Gaussian(gamma=0.05), np.linspace(0.5, 2, 10)), alpha=0.1, **SMALL),
        LocalKernelRidge(Matern(0.5), alpha=0.1, random_state=0),  # one leaf
        LocalKernelRidge(Matern(1.5), alpha=0.1, leaf_rows=60, n_landmarks=0, random_state=0),
    ],
    ids=["trees", "transformed", "one leaf", "no landmarks"],
)
def test_predictions_are_those_of_the_model(run, close, diabetes, model):
    X, y = diabetes
    model.fit(X[:350], y[:350])
    close(run(model, X, "float64")["prediction"], model.predict(X), "float64")


def test_float32_and_several_targets(run, close, diabetes):
    X, y = diabetes[0].astype(np.float32), diabetes[1]
    model = LocalKernelRidge(alpha=0.1, **SMALL).fit(X, np.column_stack([y, X[:, 0]]))
    close(run(model, X)["prediction"], model.predict(X))


@pytest.mark.parametrize("of", ["digits", "cancer"])
def test_labels_and_probabilities(run, close, request, of):
    X, y = request.getfixturevalue(of)
    model = LocalKernelRidgeClassifier(alpha=0.1, leaf_rows=100, n_landmarks=30, random_state=0).fit(X[:400], y[:400])
    found = run(model, X, "float64")
    close(found["probabilities"], model.predict_proba(X), "float64")
    np.testing.assert_array_equal(found["label"], model.predict(X))
