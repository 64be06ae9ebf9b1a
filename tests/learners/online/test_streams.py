"""FOGD and NOGD on real streams: the mistakes of the per-row oracle, and Newton's against gradient descent's."""

import os
from pathlib import Path

import numpy as np
import pytest
from per_row import by_rows, mistakes, nogd_by_rows, targets_of, with_constant
from sklearn.base import clone

from mercer import FOGDClassifier, Gaussian, NOGDClassifier

DATA = os.environ.get("MERCER_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="MERCER_DATA names no folder of data sets")
NAMES = ["codrna", "ijcnn1", "covtype"]
N_ROWS = 10_000
# Powers of 10^(1/2) on both sides of the best one, for hinge losses of features of length sqrt(2) with the constant.
STEPS = {"sqrt": (1.0, 3.0, 10.0, 30.0, 100.0), "constant": (0.03, 0.1, 0.3, 1.0, 3.0)}


@pytest.fixture(scope="module", params=NAMES)
def stream(request):
    """Return rows in a random order, standardised, and labels 0, 1, ..."""
    with np.load(Path(DATA) / f"{request.param}.npz", allow_pickle=False) as file:
        X, y = (file[key] for key in (("X", "y") if "X" in file else ("X_train", "y_train")))
    order = np.random.RandomState(0).permutation(len(X))[:N_ROWS]
    X = X[order].astype(np.float64)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    return X, np.unique(y[order], return_inverse=True)[1]


@pytest.mark.parametrize("update", ["newton", "adagrad", "gradient"])
@pytest.mark.parametrize("kind", [FOGDClassifier, NOGDClassifier])
def test_the_mistakes_are_the_oracle_s(stream, kind, update):
    X, labels = stream
    kernel, (y, k) = Gaussian(gamma=1 / X.shape[1]), targets_of(labels)
    model = kind(kernel, n_components=60, update=update, random_state=0).fit(X, labels)
    if kind is FOGDClassifier:
        scores, _ = by_rows(model, with_constant(model.feature_map_.transform(X)), y, k)
    else:
        landmarks, scores, _ = nogd_by_rows(model, kernel, X, y, k, n_first=500)
        np.testing.assert_array_equal(model.feature_map_.landmarks_, landmarks)
    assert model.n_mistakes_ == mistakes(scores, y)


@pytest.mark.parametrize("kind", [FOGDClassifier, NOGDClassifier])
def test_newton_makes_fewer_mistakes_than_gradient_descent_at_its_best_step(stream, kind):
    """By default, and with the same loss: only the step differs."""
    X, y = stream
    model = kind(Gaussian(gamma=1 / X.shape[1]), n_components=100, random_state=0)
    newton = clone(model).fit(X, y).n_mistakes_
    descents = {
        (schedule, step): clone(model).set_params(update="gradient", schedule=schedule, step=step).fit(X, y).n_mistakes_
        for schedule, steps in STEPS.items()
        for step in steps
    }
    assert newton < min(descents.values())
    for schedule, steps in STEPS.items():  # the best is not at an end: longer or shorter steps do not help
        assert min(steps) < min(steps, key=lambda step: descents[schedule, step]) < max(steps)
