"""The model of low order: residuals by refits, additive tables, saved models, and the choices of a sample."""

import numpy as np
import pytest

from mercer import Gaussian, ScaledColumns, TunedClassifier, TunedRegressor, config_context
from mercer.fitting import HeldTargets, Numbers
from mercer.learners.local import low_order
from mercer.learners.local.low_order import (
    LowOrderChoice,
    LowOrderRidge,
    is_worth_all_rows,
    low_order_choices,
)
from mercer.learners.local.metrics import MetricRows, first_fit
from mercer.storage import dumps, loads


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((300, 5))
    return X, np.column_stack([np.sin(2 * X).sum(axis=1), X[:, 0]]) + 0.3 * rng.standard_normal((300, 2))


CHOICE = LowOrderChoice("no", "Gaussian", 2.0, 1.0, ScaledColumns(Gaussian(gamma=0.3), [1.0] * 5), 0.1, 0.5)


def test_residuals_are_those_of_refits(rows, rng):
    X, Y = rows
    weight = rng.randint(1, 4, 300).astype(float)
    held = HeldTargets.of(Numbers("test"), Y, weight)
    model, residuals = LowOrderRidge.of(CHOICE, X, held, 0)
    for i in (0, 17, 299):
        less = weight.copy()
        less[i] -= 1  # one of the rows that the weight stands for
        other, _ = LowOrderRidge.of(CHOICE, X, HeldTargets.of(Numbers("test"), Y, less), 0)
        np.testing.assert_allclose(Y[i] - other.scores(X[i : i + 1])[0], residuals[i], rtol=1e-6)
    Z = model.feature_map.transform(X)
    np.testing.assert_allclose(model.scores(X), Z @ model.coef + model.intercept, rtol=1e-10)


def test_rows_in_a_pass_count_as_rows_in_memory(rows):
    X, Y = rows
    some = HeldTargets.of(Numbers("test"), Y[:100])
    seen = []

    def others(moments, empty):
        seen.append(empty().weight)
        return moments(X[100:], Y[100:], np.ones(200))

    model, residuals = LowOrderRidge.of(CHOICE, X[:100], some, 0, others)
    # As many features as for 100 rows: the number follows the rows in memory.
    assert model.feature_map.n_components == 64
    Z = model.feature_map.transform(X)
    Z -= Z.mean(axis=0)
    A = Z.T @ Z + CHOICE.alpha * np.eye(64)
    np.testing.assert_allclose(model.coef, np.linalg.solve(A, Z.T @ (Y - Y.mean(axis=0))), rtol=1e-6, atol=1e-9)
    leverage = 1 / 300 + np.einsum("ij,ij->i", Z, np.linalg.solve(A, Z.T).T)
    expected = (Y - model.scores(X)) / (1 - leverage)[:, None]
    np.testing.assert_allclose(residuals, expected[:100], rtol=1e-6)
    assert seen == [0.0]


def test_a_sample_says_whether_all_rows_are_worth_their_time(rows, rng, monkeypatch):
    """What the other models leave is all of the targets, noise that nothing predicts, or nothing to gain from."""
    X, Y = rows
    held = HeldTargets.of(Numbers("test"), Y)
    noise = 0.01 * rng.standard_normal(Y.shape)
    assert is_worth_all_rows(CHOICE, X, held, noise, 0)  # few rows: the model itself tells
    monkeypatch.setattr(low_order, "_JUDGING_ROWS", 140)
    monkeypatch.setattr(low_order, "_JUDGING_FEATURES", 64)
    assert is_worth_all_rows(CHOICE, X, held, Y - Y.mean(axis=0), 0)
    assert not is_worth_all_rows(CHOICE, X, held, noise, 0)
    monkeypatch.setattr(low_order, "_WORTHWHILE", 0.01)
    assert not is_worth_all_rows(CHOICE, X, held, Y - Y.mean(axis=0), 0)


def test_a_matrix_without_a_factor_gets_a_larger_ridge(rng):
    X = np.repeat(rng.standard_normal((4, 5)), 500, axis=0).astype(np.float32)
    held = HeldTargets.of(Numbers("test"), X[:, 0].astype(float))
    tiny = LowOrderChoice("no", "Gaussian", 2.0, 1.0, CHOICE.kernel, 1e-12, 0.5)
    model, residuals = LowOrderRidge.of(tiny, X, held, 0)
    assert np.isfinite(residuals).all()
    np.testing.assert_allclose(model.scores(X).ravel(), X[:, 0], atol=0.05)


def test_threads_change_no_bit(rows):
    X, Y = rows
    X, Y = np.tile(X, (20, 1)).astype(np.float32), np.tile(Y, (20, 1))
    found = []
    for threads in (1, 2):
        with config_context(threads=threads):
            model, residuals = LowOrderRidge.of(CHOICE, X, HeldTargets.of(Numbers("test"), Y), 0)
            found.append((model.coef, residuals, model.scores(X)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_additive_table_asks_for_low_order(rows):
    X, Y = rows
    sample = MetricRows(X, Y[:, :1] / Y[:, 0].std(), np.ones(300), np.ones(300), 128, 0)
    first = first_fit(sample)
    choices = [choice for some in low_order_choices(sample, first) for choice, _ in some]
    best = min(choices, key=lambda choice: choice.error)
    assert best.order == 2.0
    assert best.error < 0.8 * first.error
    assert {choice.family for choice in choices} == {"Gaussian", "Laplace"}
    assert {choice.metric for choice in choices} == {"no", "diagonal"}
    assert "order 2" in str(best)


def test_choices_that_are_tried_at_once_are_those_of_one_thread(rows):
    X, Y = rows
    sample = MetricRows(X, Y[:, :1], np.ones(300), np.ones(300), 128, 0)
    first, found = first_fit(sample), []
    for threads in (1, 2):
        with config_context(threads=threads):
            found.append([choice for some in low_order_choices(sample, first) for choice, _ in some])
    assert found[0] == found[1]
    # Both neighbours of a length scale are tried, and the walk goes on where the error falls.
    lengths = {choice.length for choice in found[0] if choice.metric == "no" and choice.family == "Gaussian"}
    assert {0.5, 1.0, 2.0} <= lengths


def test_a_noisy_additive_table_of_two_classes_takes_the_mean_of_both_models(rng):
    X = rng.standard_normal((10000, 8))
    score = np.sin(2 * X).sum(axis=1)
    y = score + rng.standard_normal(10000) > 0
    model = TunedClassifier(random_state=0, leaf_rows=500, n_landmarks=50).fit(X[:2000], y[:2000])
    assert model.low_order_ is not None
    assert 0 < model.low_order_share_ <= 1
    assert "low order" in model.report_.chosen
    alone = model.model_.predict(model.preparation_.transform(X[2000:])).ravel()
    targets = np.where(y[2000:], 1.0, -1.0)
    gains = (alone - targets) ** 2 - (model.decision_function(X[2000:]) - targets) ** 2
    assert gains.mean() > 4.75 * gains.std() / 8000**0.5  # of no gain, that is a false alarm in 1e-6 runs
    again = loads(dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_rotated_smooth_table_does_without(rng):
    X = rng.standard_normal((800, 6))
    model = TunedRegressor(random_state=0, leaf_rows=200).fit(X, np.sin(2 * X.sum(axis=1) / 6**0.5))
    assert model.low_order_ is None
    assert model.low_order_share_ == 0.0
