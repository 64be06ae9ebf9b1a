"""Boosted symmetric trees: cells, what a sum of trees learns, and that held-out rows are not seen."""

from itertools import islice

import numpy as np

from mercer.solvers.local import boosting
from mercer.solvers.local.binned import Bins
from mercer.solvers.local.boosting import RATE, Trees, boosted
from mercer.solvers.local.boosting_losses import LogisticLoss, SquaredLoss


def test_a_constant_column_has_one_bin():
    bins = Bins.of(np.ones((20, 1)))
    assert len(bins.edges[0]) == 0
    tree, predicted, _ = next(boosted(bins, np.zeros((20, 1)), np.ones(20), np.arange(20, dtype=np.int32), 0))
    assert len(tree.columns) == 0
    assert not predicted.any()


def test_scores_are_the_sums_of_the_cells(rng):
    X = rng.standard_normal((300, 3))
    bins, Y = Bins.of(X), np.column_stack([X[:, 0] > 0, X[:, 1]]).astype(float)
    Y -= Y.mean(axis=0)
    total = np.zeros_like(Y)
    for tree, predicted, _ in islice(boosted(bins, Y, np.ones(300), np.arange(300, dtype=np.int32), 0), 20):
        Trees.of([tree]).add_scores(bins.codes, total)
        np.testing.assert_allclose(predicted, total)


def test_trees_of_fewer_levels_stand_beside_others(rng):
    bins = Bins.of(np.column_stack([rng.standard_normal(300), np.arange(300) % 2]))
    Y = (bins.codes[1:2].T > 0) - 0.5
    stump, _, _ = next(boosted(bins, Y, np.ones(300), np.arange(300, dtype=np.int32), 0))
    tree, _, _ = next(boosted(bins, rng.standard_normal((300, 1)), np.ones(300), np.arange(300, dtype=np.int32), 0))
    assert (len(stump.columns), len(tree.columns)) == (1, 6)
    alone, both = np.zeros((2, 300, 1))
    for one in (stump, tree):
        Trees.of([one]).add_scores(bins.codes, alone)
    Trees.of([stump, tree]).add_scores(bins.codes, both)
    np.testing.assert_array_equal(alone, both)
    np.testing.assert_allclose(alone.ravel() - tree_scores(tree, bins), 2 * stump.values[1, 0] * Y.ravel(), atol=1e-12)


def tree_scores(tree, bins):
    cells = 0
    for column, largest in zip(tree.columns, tree.bins, strict=True):
        cells = 2 * cells + (bins.codes[column].astype(int) > largest)
    return tree.values[cells, 0]


def test_the_value_of_a_cell_is_a_shrunken_mean_of_residuals(rng):
    X, weight = rng.standard_normal((200, 2)), rng.uniform(0.5, 2, 200)
    bins, Y = Bins.of(X), X[:, :1] ** 2 - 1
    inside = np.arange(150, dtype=np.int32)
    tree, _, _ = next(boosted(bins, Y, weight, inside, 0))
    cells = np.zeros(150, dtype=int)
    for column, largest in zip(tree.columns, tree.bins, strict=True):
        cells = 2 * cells + (bins.codes[column, :150] > largest)
    start = weight[inside] @ Y[inside, 0] / weight[inside].sum()
    for cell in np.unique(cells):
        some = inside[cells == cell]
        expected = RATE * weight[some] @ (Y[some, 0] - start) / (weight[some].sum() + 1.0)
        np.testing.assert_allclose(tree.values[cell, 0], expected, rtol=1e-9)


def test_rows_outside_change_nothing(rng):
    X = rng.standard_normal((200, 3))
    bins, Y = Bins.of(X), rng.standard_normal((200, 1))
    inside = np.arange(150, dtype=np.int32)
    other = Y.copy()
    other[150:] += 100
    both = [list(islice(boosted(bins, y, np.ones(200), inside, 0), 30))[-1][1].copy() for y in (Y, other)]
    np.testing.assert_array_equal(*both)


def test_errors_are_those_of_the_rows_outside(rng):
    X, weight = rng.standard_normal((200, 3)), rng.uniform(0.5, 2, 200)
    Y = rng.choice([-1.0, 1.0], (200, 2))
    for loss in (SquaredLoss(), LogisticLoss()):
        growing = boosted(Bins.of(X), Y, weight, np.arange(150, dtype=np.int32), 0, loss)
        for _, scores, errors in islice(growing, 5):
            expected = weight[150:] @ (Y - loss.expected(scores))[150:] ** 2
            np.testing.assert_allclose(errors, expected, rtol=1e-5)  # tangents are in float32


def test_a_box_is_learned(rng):
    X = rng.uniform(size=(4000, 5))
    y = ((X[:, 0] > 0.3) & (X[:, 1] < 0.6)).astype(float)[:, None] - 0.42
    growing = boosted(Bins.of(X), y, np.ones(4000), np.arange(3000, dtype=np.int32), 0)
    predicted = list(islice(growing, 100))[-1][1]
    assert np.mean((predicted[3000:] - y[3000:]) ** 2) < 0.05 * y.var()


def test_a_tree_sees_runs_of_rows_each_as_often_as_the_share_says(rng):
    rows = np.sort(rng.permutation(5000)[:1003]).astype(np.int32)
    counts, runs = np.zeros(5000), boosting._Runs(rows)
    for _ in range(400):
        seen = runs.some(0.3, rng)
        assert np.all(np.diff(seen) > 0)
        counts[seen] += 1
    assert not counts[np.setdiff1d(np.arange(5000), rows)].any()
    # 335 runs, each seen 120 times of 400, with a standard deviation of 9.2: six of these are a false alarm in 1e-6.
    assert np.all(np.abs(counts[rows] - 120) < 6 * 9.2)
