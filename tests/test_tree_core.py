"""Symmetric trees: results are arrays of their own, and wrong arguments are refused."""

import numpy as np
import pytest

from mercer import core, tree_core


def test_a_tree_and_its_step():
    codes, rows = np.array([[0, 0, 1, 1], [0, 0, 0, 0]], np.uint8), np.arange(4, dtype=np.int32)
    slopes, scores = np.array([[-1.0], [-1.0], [3.0], [3.0]]), np.zeros((4, 1))
    columns, two = np.arange(2, dtype=np.int32), np.full(2, 2, np.int32)
    found = tree_core.grow_symmetric_tree(codes, rows, slopes, np.ones(4), columns, two, 1e-9, 3)
    assert [part.tolist() for part in found] == [[0], [0]]
    values = tree_core.step_by_symmetric_tree(codes, *found, slopes, np.ones((4, 1)), 1e-12, 0.5, scores)
    np.testing.assert_allclose(values, [[-0.5], [1.5]])
    np.testing.assert_allclose(scores.ravel(), [-0.5, -0.5, 1.5, 1.5])


@pytest.mark.skipif(not core.COMPILED, reason="the fallback is not checked")
def test_wrong_arguments_are_refused_in_words():
    codes, rows = np.zeros((2, 3), np.uint8), np.arange(3, dtype=np.int32)
    slopes, weights, columns = np.ones((3, 1)), np.ones(3), np.arange(2, dtype=np.int32)
    two = np.full(2, 2, np.int32)
    with pytest.raises(ValueError, match="rows must lie in"):
        tree_core.grow_symmetric_tree(codes, rows + 1, slopes, weights, columns, two, 1.0, 2)
    with pytest.raises(ValueError, match="columns must lie in"):
        tree_core.grow_symmetric_tree(codes, rows, slopes, weights, columns + 1, two, 1.0, 2)
    with pytest.raises(ValueError, match="n_bins must lie in"):
        tree_core.grow_symmetric_tree(codes, rows, slopes, weights, columns, 0 * two, 1.0, 2)
    with pytest.raises(ValueError, match="penalty must be positive"):
        tree_core.grow_symmetric_tree(codes, rows, slopes, weights, columns, two, 0.0, 2)
    with pytest.raises(ValueError, match=r"slopes.shape\[0\] must be the number of rows"):
        tree_core.grow_symmetric_tree(codes, rows, slopes[:2], weights, columns, two, 1.0, 2)
    with pytest.raises(ValueError, match="at most 8 levels"):
        tree_core.step_by_symmetric_tree(codes, *[np.zeros(9, np.int32)] * 2, slopes, slopes, 1.0, 0.1, slopes.copy())
    with pytest.raises(ValueError, match="one column, or one per target"):
        tree_core.step_by_symmetric_tree(codes, columns, columns, slopes, np.ones((3, 2)), 1.0, 0.1, slopes.copy())
