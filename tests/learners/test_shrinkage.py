"""Predictions far from the training rows: the exact rule, where it does not apply, and model files."""

import os
import warnings
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from mercer import (
    FourierFeatures,
    Gaussian,
    KernelLogisticRegression,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    Laplacian,
    Linear,
    Nystroem,
    Polynomial,
    as_blocks,
    load,
    save,
)
from mercer.learners.far_rows import LEVEL
from mercer.learners.shrinkage import returns_to_prior

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie far from the training rows")

rng = np.random.RandomState(0)
X = rng.standard_normal((900, 3))
Y = 5 + np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(900)
LABELS = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-1.0, 1.0])]


def rows_at(model, u):
    """Return rows whose column 1 lies u margins beyond its upper limit."""
    rows = np.zeros((len(u), 3))
    rows[:, 1] = model._far_limits[1, 1] + u * model._far_margins[1]
    return rows


@pytest.mark.parametrize("kind", [KernelRidge, KernelSVR])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_rule_of_columns_is_a_smooth_step_to_the_mean_of_y(kind, dtype):
    shrinks = kind(Gaussian(gamma=0.5), n_components=100, random_state=0).fit(X.astype(dtype), Y)
    keeps = kind(Gaussian(gamma=0.5), n_components=100, random_state=0, far_rows="keep").fit(X.astype(dtype), Y)
    shrinks._leverage = None  # the other rule
    u = np.array([-1.0, -1e-3, 0.25, 0.5, 0.75, 1.0, 3.0])
    rows = rows_at(shrinks, u).astype(dtype)
    inside = np.clip(u, 0, 1)
    factor = 1 - inside**2 * (3 - 2 * inside)
    expected = Y.mean() + factor * (keeps.predict(rows) - Y.mean())
    tolerance = 1e-10 if dtype == np.float64 else 1e-3
    for given in (rows, as_blocks(rows, block_rows=2), sparse.csr_array(rows)):
        np.testing.assert_allclose(shrinks.predict(given), expected, atol=tolerance)
    np.testing.assert_array_equal(shrinks.predict(rows[:2]), keeps.predict(rows[:2]))
    np.testing.assert_allclose(shrinks.predict(rows[-2:]), Y.mean(), atol=tolerance)


def test_training_rows_and_rows_between_them_are_not_changed_in_a_bit():
    for kind in (KernelRidge, KernelSVR):
        shrinks = kind(n_components=100, random_state=0).fit(X, Y)
        keeps = kind(n_components=100, random_state=0, far_rows="keep").fit(X, Y)
        new = rng.standard_normal((2000, 3)) * 0.8
        for rows in (X, new):
            np.testing.assert_array_equal(shrinks.predict(rows), keeps.predict(rows))


def test_the_leverage_rule_by_its_formula():
    """A direction that no column shows: the rows lie near a line, and new rows away from it."""
    line = rng.standard_normal(2000)
    rows = np.column_stack([line, line + 0.01 * rng.standard_normal(2000)])
    y = np.sin(line) + 0.5 * rng.standard_normal(2000)
    params = {"features": FourierFeatures(Gaussian(gamma=2.0), n_components=100, random_state=0), "alpha": 1e-5}
    model = KernelRidge(**params).fit(rows, y)
    kept = KernelRidge(**params, far_rows="keep").fit(rows, y)
    away = np.column_stack([np.linspace(-1, 1, 20), np.linspace(-1, 1, 20) + 1.0])
    leverage = model._leverage
    Z = model.feature_map_.transform(rows)
    mean = Z.mean(axis=0)
    inverse = np.linalg.inv((Z - mean).T @ (Z - mean) + 1e-5 * np.eye(100))
    # the sketch is a root of the inverse times 8 columns of signs: its mean square is the trace, to sqrt(2 / 8 / rank)
    np.testing.assert_allclose(np.square(leverage.sketch).sum(), np.trace(inverse), rtol=5 * (2 / 8) ** 0.5)
    h = np.square((model.feature_map_.transform(away) - mean) @ leverage.sketch).sum(axis=1)
    assert h.min() > leverage.limits[0]
    expected = y.mean() + leverage.limits[0] / h * (kept.predict(away) - y.mean())
    np.testing.assert_allclose(model.predict(away), expected, rtol=1e-6)
    residual = y - kept.predict(rows)
    df = np.trace((Z - mean) @ inverse @ (Z - mean).T)
    ratio = 2 * y.var() / (residual @ residual / (2000 - 1 - df))
    sampled = np.square((Z - mean) @ leverage.sketch).sum(axis=1).max()
    np.testing.assert_allclose(leverage.limits[0], max(ratio, sampled), rtol=0.02)  # df is estimated from the signs
    np.testing.assert_array_equal(model.predict(rows), kept.predict(rows))


@pytest.mark.parametrize("kind", [KernelRidgeClassifier, KernelSVC, KernelLogisticRegression])
@pytest.mark.parametrize("labels", [LABELS, np.where(LABELS == "b", "b", "a")], ids=["three", "two"])
def test_classes_return_to_their_shares(kind, labels):
    weight = rng.randint(0, 3, 900).astype(float)
    model = kind(n_components=100, random_state=0, class_weight={"a": 2.0}).fit(X, labels, weight)
    far = np.full((1, 3), 1e4)
    classes = np.unique(labels)
    shares = np.array([(weight * np.where(labels == "a", 2.0, 1.0))[labels == name].sum() for name in classes])
    shares /= shares.sum()
    if kind is KernelLogisticRegression:
        np.testing.assert_allclose(model.predict_proba(far)[0], shares, rtol=1e-6)
    else:
        expected = 2 * shares - 1
        np.testing.assert_allclose(
            model.decision_function(far).ravel(), expected[1:] if len(classes) == 2 else expected
        )


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        (Gaussian(gamma=0.5), True),
        (Gaussian(gamma=0.5) + 0.5 * Laplacian(gamma=1.0), True),
        (2.0 * Gaussian(gamma=0.5), True),
        (Linear(), False),
        (Polynomial(2), False),
        (Gaussian(gamma=0.5) + Linear(), False),
        (2.0 * (Gaussian(gamma=0.5) + Linear()), False),
    ],
    ids=repr,
)
def test_kernels_that_extrapolate_keep_their_predictions(kernel, wanted):
    shrinks, keeps = (
        KernelRidge(kernel, n_components=40, far_rows=rule, random_state=0).fit(X, Y) for rule in ("shrink", "keep")
    )
    assert returns_to_prior(shrinks.feature_map_, LEVEL) == wanted
    far = np.array([[0.0, 300.0, 0.0]])
    assert np.array_equal(shrinks.predict(far), keeps.predict(far)) != wanted


def test_nystroem_is_left_alone_and_the_parameter_is_checked():
    model = KernelRidge(features=Nystroem(Gaussian(gamma=0.5), n_components=40, random_state=0)).fit(X, Y)
    assert model._prior is None
    with pytest.raises(ValueError, match="KernelSVC: far_rows must be 'shrink' or 'keep', got 'clip'"):
        KernelSVC(far_rows="clip").fit(X, LABELS)


def test_model_files_hold_the_rule():
    far = np.vstack([rng.standard_normal((20, 3)) * 4, np.full((1, 3), 50.0)])
    for model in (KernelRidge(n_components=60, random_state=0).fit(X, Y), KernelSVC(random_state=0).fit(X, LABELS)):
        file = BytesIO()
        save(model, file)
        file.seek(0)
        np.testing.assert_array_equal(load(file).predict(far), model.predict(far))


@pytest.mark.skipif("MERCER_DATA" not in os.environ, reason="MERCER_DATA names no folder of data sets")
def test_protein_is_sound_though_gcv_is_misled():
    with np.load(Path(os.environ["MERCER_DATA"]) / "uci_protein.npz") as data:
        rows, y, held_out = data["X"], data["y"], data["fold"] == 0
    rows = (rows - rows[~held_out].mean(axis=0)) / rows[~held_out].std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelRidge(n_components=1024, alpha="gcv", random_state=0).fit(rows[~held_out], y[~held_out])
        assert model.score(rows[held_out], y[held_out]) > 0.4
        shrunk = model.predict(rows[held_out])
        model._prior = None
        kept = model.predict(rows[held_out])
    assert model.score(rows[held_out], y[held_out]) < 0  # what it would be
    inside = np.abs(rows[held_out]).max(axis=1) < 4
    assert np.mean(shrunk[inside] == kept[inside]) > 0.998
