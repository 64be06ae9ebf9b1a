"""Boosted trees of a table: cross-fitted predictions, stored models, and what stops them."""

import numpy as np
import pytest

from mercer import config_context
from mercer.fitting import HeldTargets, Numbers
from mercer.learners.local.boosted_trees import BoostedTrees, CrossFit
from mercer.solvers.local.boosting_losses import LogisticLoss
from mercer.state import check_stored


def held(Y, weight=None):
    return HeldTargets.of(Numbers("test"), Y, weight)


@pytest.fixture
def boxes(rng):
    X = rng.uniform(size=(1200, 4))
    y = 3.0 * (X[:, 0] > 0.3) * (X[:, 1] < 0.6) + 5.0 + 0.3 * rng.standard_normal(1200)
    return X, y[:, None]


def test_the_model_predicts_and_no_row_sees_its_own_fold(boxes, rng):
    X, Y = boxes
    trees, predicted = CrossFit(X, held(Y), 0).fit()
    fitted = Y - trees.scores(X)
    assert np.mean((Y - predicted) ** 2) < 0.1 * Y.var()
    assert np.mean(fitted**2) < np.mean((Y - predicted) ** 2)
    noise = rng.standard_normal(Y.shape)
    _, of_noise = CrossFit(X, held(noise), 0).fit()
    # Predictions of noise are independent of it: 4.9 standard errors of a correlation, a false alarm in 1e-6 runs.
    assert abs(np.corrcoef(of_noise.ravel(), noise.ravel())[0, 1]) < 4.9 / 1200**0.5


def test_scores_are_the_sums_of_the_cells(boxes):
    X, Y = boxes
    trees, _ = CrossFit(X, held(np.hstack([Y, Y**2])), 0).fit()
    expected = np.tile(trees.intercept, (50, 1))
    for columns, thresholds, values in zip(trees.columns, trees.thresholds, trees.values, strict=True):
        cells = [
            int("".join("1" if x[c] > t else "0" for c, t in zip(columns, thresholds, strict=True)), 2) for x in X[:50]
        ]
        expected += values[cells]
    np.testing.assert_allclose(trees.scores(X[:50]), expected)


def test_logistic_trees_predict_differences_of_probabilities(rng):
    X = rng.uniform(size=(3000, 3))
    truth = np.where(X[:, 0] > 0.5, 0.8, -0.6)
    Y = np.where(rng.uniform(size=3000) < (1 + truth) / 2, 1.0, -1.0)[:, None]
    trees, predicted = CrossFit(X[:2000], held(Y[:2000]), 0, LogisticLoss()).fit()
    scores = trees.scores(X[2000:])
    assert trees.is_logistic
    assert (np.abs(scores) < 1).all()
    assert np.mean((scores[:, 0] - truth[2000:]) ** 2) < 0.05 * truth.var()
    assert np.mean((predicted[:, 0] - truth[:2000]) ** 2) < 0.1 * truth.var()


def test_importances_are_those_of_the_columns_in_use(boxes):
    X, Y = boxes
    trees, _ = CrossFit(X, held(Y), 0).fit()
    assert trees.importances.sum() == pytest.approx(1)
    assert set(np.argsort(trees.importances)[-2:]) == {0, 1}


def test_threads_change_no_bit(boxes):
    X, Y = boxes
    found = []
    for threads in (1, 3):
        with config_context(threads=threads):
            trees, predicted = CrossFit(X, held(Y), 0).fit()
            found.append((trees.thresholds, trees.values, predicted))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_units_of_y_change_nothing_but_units(boxes):
    X, Y = boxes
    _, one = CrossFit(X, held(Y), 0).fit()
    _, other = CrossFit(X, held(1024 * Y), 0).fit()
    np.testing.assert_allclose(other, 1024 * one, rtol=1e-9)


def test_trees_far_behind_a_rival_or_without_time_are_left_out(boxes):
    X, Y = boxes
    assert CrossFit(X, held(Y), 0).fit(1e-4) is None
    assert CrossFit(X, held(Y), 0).fit(deadline=0.0) is None
    assert CrossFit(X, held(Y), 0).fit(1.0) is not None


def test_a_constant_table_has_trees_without_levels():
    trees, predicted = CrossFit(np.ones((600, 2)), held(np.arange(600.0)[:, None]), 0).fit()
    assert np.isfinite(predicted).all()
    assert np.ptp(trees.scores(np.ones((3, 2)))) == 0


def test_unsound_trees_are_refused(boxes):
    X, Y = boxes
    trees, _ = CrossFit(X, held(Y), 0).fit()
    check_stored(trees)
    with pytest.raises(ValueError, match="columns"):
        check_stored(BoostedTrees(2, trees.columns, trees.thresholds, trees.values, trees.intercept))
    with pytest.raises(ValueError, match="value for each cell"):
        check_stored(BoostedTrees(4, trees.columns, trees.thresholds, trees.values[:, :3], trees.intercept))
