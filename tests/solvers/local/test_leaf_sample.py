"""Samples of whole leaves, and their errors against the definition."""

import numpy as np
import pytest

from mercer import Gaussian
from mercer.solvers.local.leaf_ridge import LeafSystem
from mercer.solvers.local.leaf_sample import LeafSample, relative_error
from mercer.solvers.local.trees import RandomTree


@pytest.fixture
def tree(rng):
    X = rng.standard_normal((200, 2))
    return X, RandomTree.of(X, 20, rng)


def test_a_sample_holds_whole_leaves(tree, rng):
    X, cut = tree
    sample = LeafSample.of(cut, 3, rng)
    assert len(sample.leaves) == 3
    leaf = cut.leaf_of(X[sample.rows])
    for place in sample.leaves:
        assert len(np.unique(leaf[place])) == 1
        assert len(place) == len(cut.leaves[leaf[place[0]]])


def test_a_sample_around_rows_holds_their_leaves(tree):
    X, _ = tree
    sample = LeafSample.around(X, 20, np.array([5, 17]), np.random.RandomState(0))
    assert {5, 17} <= set(sample.rows.tolist())
    assert 1 <= len(sample.leaves) <= 2
    assert len(set(sample.rows.tolist())) == len(sample.rows) == sum(len(place) for place in sample.leaves)


def test_errors_are_in_units_of_the_variance_and_count_weights(tree, rng):
    X, cut = tree
    Y, weight = rng.standard_normal((200, 2)) * [1.0, 100.0], rng.choice([1.0, 3.0], 200)
    system = LeafSystem(Gaussian(gamma=1.0), X, cut.leaves)
    residuals = system.solve(Y, 0.5, weight).loo_residuals
    share = weight / weight.sum()
    variance = share @ (Y - share @ Y) ** 2
    assert relative_error(system, Y, 0.5, weight) == pytest.approx(np.mean(share @ residuals**2 / variance))
    given = relative_error(system, Y, 0.5, weight, variance=np.array([2.0, 3.0]))
    assert given == pytest.approx(np.mean(share @ residuals**2 / [2.0, 3.0]))
