"""FOGD and NOGD on real streams: the mistakes of the per-row oracle, and Newton's against gradient descent's."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from mercer import FOGDClassifier, Gaussian, NOGDClassifier, reference
from mercer.reference.online import LOSSES, online_newton_by_rows

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
def test_the_mistakes_are_the_oracle_s(stream, update):
    X, y = stream
    k = y.max() + 1
    model = FOGDClassifier(Gaussian(gamma=1 / X.shape[1]), n_components=60, update=update, random_state=0).fit(X, y)
    Z = np.hstack([model.feature_map_.transform(X), np.ones((N_ROWS, 1))])
    targets, columns = (np.where(y == 1, 1.0, -1.0), 1) if k == 2 else (y.astype(np.float64), k)
    W, scores, loss = np.zeros((columns, 61)), np.zeros((N_ROWS, columns)), LOSSES.index(model.loss)
    if update == "newton":
        online_newton_by_rows(Z, targets, loss, W, np.eye(61) / model.alpha, scores)
    else:
        squares = np.zeros((columns if update == "adagrad" else 0, 61))
        reference.online_gradient(Z, targets, loss, np.arange(1, N_ROWS + 1) ** -0.5, W, squares, scores)
    predicted = scores[:, 0] > 0 if columns == 1 else scores.argmax(axis=1)
    assert model.n_mistakes_ == np.count_nonzero(predicted != y)


@pytest.mark.parametrize("kind", [FOGDClassifier, NOGDClassifier])
def test_newton_makes_fewer_mistakes_than_gradient_descent_at_its_best_step(stream, kind):
    """With the same loss: only the step differs."""
    X, y = stream
    model = kind(Gaussian(gamma=1 / X.shape[1]), n_components=100, loss="hinge", random_state=0)
    newton = clone(model).fit(X, y).n_mistakes_
    mistakes = {
        (schedule, step): clone(model).set_params(update="gradient", schedule=schedule, step=step).fit(X, y).n_mistakes_
        for schedule, steps in STEPS.items()
        for step in steps
    }
    assert newton < min(mistakes.values())
    for schedule, steps in STEPS.items():  # the best is not at an end: longer or shorter steps do not help
        assert min(steps) < min(steps, key=lambda step: mistakes[schedule, step]) < max(steps)
