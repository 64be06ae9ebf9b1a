"""Boosted trees of a table: their scores, importances, and stored models."""

import numpy as np
import pytest

from mercer.fitting import HeldTargets, Numbers
from mercer.learners.local.boosted_trees import NO_SPLIT, BoostedTrees
from mercer.learners.local.cross_fit import CrossFit
from mercer.solvers.local.boosting_losses import LogisticLoss
from mercer.state import check_stored


def held(Y, weight=None):
    return HeldTargets.of(Numbers("test"), Y, weight)


@pytest.fixture
def boxes(rng):
    X = rng.uniform(size=(1200, 4))
    y = 3.0 * (X[:, 0] > 0.3) * (X[:, 1] < 0.6) + 5.0 + 0.3 * rng.standard_normal(1200)
    return X, y[:, None]


def test_scores_are_the_sums_of_the_cells(boxes):
    X, Y = boxes
    trees, _, _ = CrossFit(X, held(np.hstack([Y, Y**2])), 0).fit()
    expected = np.tile(trees.intercept, (50, 1))
    for columns, thresholds, values in zip(trees.columns, trees.thresholds, trees.values, strict=True):
        cells = [
            int("".join("1" if x[c] > t else "0" for c, t in zip(columns, thresholds, strict=True)), 2) for x in X[:50]
        ]
        expected += values[cells]
    np.testing.assert_allclose(trees.scores(X[:50]), expected)


def test_a_row_at_a_threshold_does_not_exceed_it(boxes):
    X, Y = boxes
    trees, _, _ = CrossFit(X, held(Y), 0).fit()
    real = trees.thresholds < NO_SPLIT
    row = np.median(X, axis=0)
    for column, threshold in zip(trees.columns[real][:20], trees.thresholds[real][:20], strict=True):
        at, below, above = (row.copy() for _ in range(3))
        at[column], below[column] = threshold, np.nextafter(threshold, -1.0)
        above[column] = np.nextafter(threshold, 9.0)
        scores = trees.scores(np.array([at, below, above])).ravel()
        assert scores[0] == scores[1]
        assert scores[2] != scores[0]


def test_more_thresholds_than_bins_are_refused(boxes):
    columns, values = np.zeros((300, 1), np.int32), np.zeros((300, 2, 1))
    check_stored(BoostedTrees(1, columns[:255], np.arange(255.0)[:, None], values[:255], np.zeros(1)))
    with pytest.raises(ValueError, match="255 thresholds per column"):
        check_stored(BoostedTrees(1, columns, np.arange(300.0)[:, None], values, np.zeros(1)))


def test_logistic_trees_predict_differences_of_probabilities(rng):
    X = rng.uniform(size=(3000, 3))
    truth = np.where(X[:, 0] > 0.5, 0.8, -0.6)
    Y = np.where(rng.uniform(size=3000) < (1 + truth) / 2, 1.0, -1.0)[:, None]
    trees, predicted, _ = CrossFit(X[:2000], held(Y[:2000]), 0, LogisticLoss()).fit()
    scores = trees.scores(X[2000:])
    assert trees.is_logistic
    assert (np.abs(scores) < 1).all()
    assert np.mean((scores[:, 0] - truth[2000:]) ** 2) < 0.05 * truth.var()
    assert np.mean((predicted[:, 0] - truth[:2000]) ** 2) < 0.1 * truth.var()


def test_importances_are_those_of_the_columns_in_use(boxes):
    X, Y = boxes
    trees, _, _ = CrossFit(X, held(Y), 0).fit()
    assert trees.importances.sum() == pytest.approx(1)
    assert set(np.argsort(trees.importances)[-2:]) == {0, 1}


def test_unsound_trees_are_refused(boxes):
    X, Y = boxes
    trees, _, _ = CrossFit(X, held(Y), 0).fit()
    check_stored(trees)
    with pytest.raises(ValueError, match="columns"):
        check_stored(BoostedTrees(2, trees.columns, trees.thresholds, trees.values, trees.intercept))
    with pytest.raises(ValueError, match="value for each cell"):
        check_stored(BoostedTrees(4, trees.columns, trees.thresholds, trees.values[:, :3], trees.intercept))
