"""Boosted trees of a table: their scores, importances, and stored models."""

import numpy as np
import pytest

from mercer.fitting import HeldTargets, Numbers
from mercer.learners.local.boosted_trees import BoostedTrees
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


def test_unsound_trees_are_refused(boxes):
    X, Y = boxes
    trees, _ = CrossFit(X, held(Y), 0).fit()
    check_stored(trees)
    with pytest.raises(ValueError, match="columns"):
        check_stored(BoostedTrees(2, trees.columns, trees.thresholds, trees.values, trees.intercept))
    with pytest.raises(ValueError, match="value for each cell"):
        check_stored(BoostedTrees(4, trees.columns, trees.thresholds, trees.values[:, :3], trees.intercept))
