"""Random trees: every row in one leaf, new rows on the path of their neighbours, equal rows, every layout."""

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers.local.trees import RandomTree, leaves_of
from mercer.state import UnsoundError, check_stored


@pytest.mark.parametrize("leaf_rows", [1, 7, 100, 1000])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_every_row_is_in_one_leaf_and_finds_it_again(rng, leaf_rows, layout):
    X = layout(rng.standard_normal((300, 4)))
    tree = RandomTree.of(X, leaf_rows, np.random.RandomState(1))
    assert sorted(np.concatenate(tree.leaves).tolist()) == list(range(300))
    assert max(map(len, tree.leaves)) <= leaf_rows
    found = tree.leaf_of(X)
    for b, rows in enumerate(tree.leaves):
        assert (found[rows] == b).all()
    check_stored(tree)


def test_rows_of_any_layout_and_precision_go_the_same_way(rng):
    X = rng.standard_normal((500, 5)).astype(np.float32)
    trees = [
        RandomTree.of(rows, 20, np.random.RandomState(0)) for rows in (X, X.astype(np.float64), sparse.csr_array(X))
    ]
    for tree in trees[1:]:
        np.testing.assert_array_equal(tree.order, trees[0].order)
    assert len(np.unique(trees[0].leaf_of(X[:1]))) == 1
    np.testing.assert_array_equal(trees[0].leaf_of(X), np.concatenate([trees[0].leaf_of(x[None]) for x in X]))


@pytest.mark.parametrize(("n_rows", "leaf_rows"), [(1024, 100), (1025, 1024), (999, 64)])
def test_leaves_are_as_few_as_can_be_and_of_one_size(rng, n_rows, leaf_rows):
    sizes = [len(rows) for rows in RandomTree.of(rng.standard_normal((n_rows, 3)), leaf_rows, rng).leaves]
    assert len(sizes) == -(-n_rows // leaf_rows)
    assert max(sizes) - min(sizes) <= len(sizes)  # each split rounds once


def test_directions_follow_the_rows(rng):
    """Where one column has nearly all of the variance, splits are along that column."""
    X = rng.standard_normal((200, 3)) * [100.0, 1.0, 1.0]
    directions = RandomTree.of(X, 100, rng).directions
    assert np.abs(directions[0, 0]) > 0.9


def test_equal_rows_stay_together_until_a_node_holds_nothing_else(rng):
    X = np.concatenate([np.zeros((50, 2)), rng.standard_normal((6, 2))])
    tree = RandomTree.of(X, 10, rng)
    assert max(map(len, tree.leaves)) <= 10
    assert len(np.unique(tree.leaf_of(np.zeros((4, 2))))) == 1
    check_stored(tree)
    constant = RandomTree.of(np.ones((33, 2)), 8, rng)
    assert max(map(len, constant.leaves)) <= 8


def test_one_leaf_has_no_nodes():
    tree = RandomTree.of(np.eye(3), 3, np.random.RandomState(0))
    assert tree.directions.shape == (0, 3)
    assert tree.leaf_of(np.eye(3)).tolist() == [0, 0, 0]
    check_stored(tree)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("children", np.array([[0, -1], [-2, -3]]), "children must hold every leaf"),
        ("children", np.array([[1, 1], [-2, -3]]), "children must hold every leaf"),
        ("order", np.zeros(6, dtype=np.int64), "order must hold every row once"),
        ("ends", np.array([2, 1, 6]), "ends must ascend"),
        ("ends", np.array([3, 6]), "one node less than leaves"),
    ],
)
def test_what_no_tree_is_is_refused(name, value, message):
    X = np.arange(6.0)[:, None]
    tree = RandomTree.of(X, 3, np.random.RandomState(0))
    tree = RandomTree.of(X, 2, np.random.RandomState(0)) if tree.n_leaves < 3 else tree
    object.__setattr__(tree, "children", np.array([[1, -1], [-2, -3]]))
    object.__setattr__(tree, "directions", np.ones((2, 1)))
    object.__setattr__(tree, "thresholds", np.ones(2))
    object.__setattr__(tree, "ends", np.array([2, 4, 6]))
    check_stored(tree)
    object.__setattr__(tree, name, value)
    with pytest.raises(UnsoundError, match=message):
        check_stored(tree)


def test_the_leaves_of_all_rows_are_those_of_the_tree(rng):
    X = rng.standard_normal((130, 3))
    whole = RandomTree.of(X, 20, np.random.RandomState(0)).leaves
    found = leaves_of(X, 20, np.arange(130), np.random.RandomState(0))
    assert len(found) == len(whole)
    for one, other in zip(found, whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_leaves_of_some_rows_hold_these_and_no_others_are_grown(rng):
    X = rng.standard_normal((500, 3))
    found = leaves_of(X, 20, np.array([3, 77, 78]), np.random.RandomState(0))
    assert 1 <= len(found) <= 3
    assert all(np.isin([3, 77, 78], leaf).any() and len(leaf) <= 20 for leaf in found)
    assert {3, 77, 78} <= set(np.concatenate(found).tolist())
