"""No learner ends at a point that is worse than w = 0, and none calls success what its certificate denies."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import (
    KernelLogisticRegression,
    KernelOneClassSVM,
    KernelRidge,
    KernelSVC,
    KernelSVR,
    LinearFeatures,
    config_context,
)
from mercer.solvers import BoxProblems

N, D = 400, 20


def _scales():
    return np.logspace(-4, 4, D)


# Rows on which solvers have ended far above w = 0, or reported success without it.
ROWS = {
    "plain": lambda Z: Z,
    "offset": lambda Z: Z + 1000,
    "scales": lambda Z: Z * _scales(),
    "large": lambda Z: Z * 1e6,
    "tiny": lambda Z: Z * 1e-6,
    "symmetric": lambda Z: np.vstack([Z[: N // 2], -Z[: N // 2]]),
    "wide": lambda Z: np.random.RandomState(3).standard_normal((60, 300)),
}
WAYS = {"held": 1000, "few epochs": 3, "streamed": 5}
LOSSES = ["hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"]


def _problem(name, dtype):
    rng = np.random.RandomState(1)
    Z, weights = rng.standard_normal((N, D)), rng.standard_normal(D)
    scores = Z @ weights + 0.5 * rng.standard_normal(N)
    X = ROWS[name](Z).astype(dtype)
    return X, scores[: len(X)]


def _fitted(model, X, y=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    said = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    assert said != model.solution_.success
    return model


def _features(X):
    return LinearFeatures(n_components=X.shape[1])


def _value(model, width):
    return np.append(np.ravel(model.coef_), np.ravel(model.intercept_)).astype(np.float64)[None, : width + 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("way", WAYS)
def test_support_vector_machines_are_no_worse_than_0(rows, loss, dtype, way):
    C = 1e5 if rows in ("plain", "scales", "wide") else 1e3
    X, scores = _problem(rows, dtype)
    targets = np.where(scores > 0, 1.0, -1.0) if "hinge" in loss else scores
    learner, options = (KernelSVC, {}) if "hinge" in loss else (KernelSVR, {"epsilon": 0.01})
    model = learner(features=_features(X), loss=loss, C=C, max_iter=WAYS[way], **options)
    with config_context(memory="64KiB" if way == "streamed" and rows != "wide" else None):
        _fitted(model, X, targets)
    problems = BoxProblems.of(loss, targets[:, None], np.full(len(X), C), epsilon=0.01)

    def objective(value):
        scores = X.astype(np.float64) @ value[:, :-1].T + value[:, -1]
        return problems.losses(slice(None), scores).sum() + 0.5 * np.sum(value**2)

    value = _value(model, X.shape[1])
    # Scores of float32 features round relative to what cancels in them; losses count that C times.
    cancels = np.abs(X).astype(np.float64) @ np.abs(value[:, :-1].T) + np.abs(value[:, -1])
    slack = C * np.finfo(dtype).eps * np.sum(cancels) * (1 + np.abs(targets).max()) * 4
    assert objective(value) <= objective(np.zeros_like(value)) * (1 + 1e-12) + slack
    if model.solution_.success:
        assert model.solution_.gap <= max(model.tol, 0.05 if way == "streamed" else 0)
    else:
        assert model.solution_.advice


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize(
    ("loss", "rows", "C"),
    [
        ("hinge", "offset", 1e3),
        ("hinge", "scales", 1e5),
        ("epsilon_insensitive", "wide", 1e5),
        ("epsilon_insensitive", "scales", 1e5),
        ("squared_hinge", "scales", 1e5),
    ],
)
def test_badly_scaled_machines_reach_their_optimum(loss, rows, C, dtype):
    X, scores = _problem(rows, dtype)
    targets = np.where(scores > 0, 1.0, -1.0) if "hinge" in loss else scores
    learner, options = (KernelSVC, {}) if "hinge" in loss else (KernelSVR, {"epsilon": 0.0})
    model = _fitted(learner(features=_features(X), loss=loss, C=C, **options), X, targets)
    assert model.solution_.success
    assert model.solution_.gap <= 1e-4


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("C", [1.0, 1e5])
@pytest.mark.parametrize("rows", ROWS)
def test_logistic_regression_is_no_worse_than_0(rows, C, dtype):
    X, scores = _problem(rows, dtype)
    y = np.where(scores > 0, 1, -1)
    model = _fitted(KernelLogisticRegression(features=_features(X), C=C, max_iter=30), X, y)
    margins = y * (X.astype(np.float64) @ np.ravel(model.coef_) + float(np.ravel(model.intercept_)[0]))
    objective = C * np.logaddexp(0, -margins).sum() + 0.5 * np.sum(np.square(model.coef_))
    assert objective <= C * len(X) * np.log(2) * (1 + 1e-6)
    if model.solution_.success:
        assert min(model.solution_.history[-1] / model.tol, model.solution_.gap / np.finfo(dtype).eps / 1e3) <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("rows", ROWS)
def test_the_one_class_machine_is_no_worse_than_0(rows, nu, dtype):
    X, _ = _problem(rows, dtype)
    model = _fitted(KernelOneClassSVM(features=_features(X), nu=nu), X)
    assert model.solution_.details["objectives"][0] <= 0
    assert model.solution_.success or model.solution_.gap > model.tol


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("rows", ROWS)
def test_ridge_regression_is_no_worse_than_0(rows, alpha, dtype):
    """Of the centred problem, whose intercept is free."""
    X, y = _problem(rows, dtype)
    model = _fitted(KernelRidge(features=_features(X), alpha=alpha), X, y)
    w, Z = np.ravel(model.coef_).astype(np.float64), X.astype(np.float64)
    residual = (y - y.mean()) - (Z - Z.mean(axis=0)) @ w
    zero = np.sum((y - y.mean()) ** 2)
    noise = np.finfo(dtype).eps * np.sum((np.abs(Z - Z.mean(axis=0)) @ np.abs(w)) ** 2)
    assert np.sum(residual**2) + alpha * w @ w <= zero * (1 + 1e-9) + noise
