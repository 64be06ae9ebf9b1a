"""Boosted symmetric trees: results are arrays of their own, and wrong arguments are refused."""

import numpy as np
import pytest

from mercer import core, tree_core
from mercer.tree_core import BinnedRows, BoostedRows


def rows_and_targets():
    codes, columns = np.array([[0, 0, 1, 1], [0, 0, 0, 0]], np.uint8), np.arange(2, dtype=np.int32)
    bundles = columns, np.full(2, -1, np.int32)
    seen = BinnedRows(codes, np.arange(4, dtype=np.int32), columns, np.full(2, 2, np.int32), *bundles)
    Y = np.array([[-1.0], [-1.0], [3.0], [3.0]])
    return seen, BoostedRows(Y, np.ones(4), np.array([0, 0, 0, 1.0]), np.zeros((4, 1)), np.zeros((4, 1)), False)


def test_a_tree_and_its_step():
    seen, boosted = rows_and_targets()
    tree = tree_core.boost_symmetric_tree(seen, boosted, 1e-12, 0.5, 3)
    assert (tree.columns.tolist(), tree.bins.tolist()) == ([0], [0])
    np.testing.assert_allclose(tree.values, [[-0.5], [1.5]])
    np.testing.assert_allclose(boosted.scores.ravel(), [-0.5, -0.5, 1.5, 1.5])
    np.testing.assert_array_equal(boosted.expected, boosted.scores)
    np.testing.assert_allclose(tree.errors, [2.25])


@pytest.mark.skipif(not core.COMPILED, reason="the fallback is not checked")
def test_wrong_arguments_are_refused_in_words():
    seen, boosted = rows_and_targets()

    def refused(match, seen=seen, boosted=boosted, penalty=1.0, depth=2):
        with pytest.raises(ValueError, match=match):
            tree_core.boost_symmetric_tree(seen, boosted, penalty, 0.5, depth)

    refused("rows must lie in", seen._replace(rows=seen.rows + 1))
    refused("columns must lie in", seen._replace(columns=seen.columns + 1))
    refused("n_bins must lie in", seen._replace(n_bins=0 * seen.n_bins))
    refused("tables must lie in", seen._replace(tables=seen.tables + 1))
    refused("members below n_bins", seen._replace(members=seen.members + 3))
    refused(r"len\(members\) must be", seen._replace(members=seen.members[:1]))
    refused("penalty must be positive", penalty=0.0)
    refused(r"targets.shape\[0\] must be the number of rows", boosted=boosted._replace(targets=boosted.targets[:2]))
    refused(r"len\(judges\) must be", boosted=boosted._replace(judges=np.ones(3)))
    refused("at most 8 levels", depth=9)
