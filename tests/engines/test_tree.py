"""The tree of merges: its shape by numbers alone, one statistic per level, aligned runs merged elsewhere."""

import numpy as np
import pytest

from mercer.engines.tree import ARITY, Tree
from mercer.stats import Moments


class Words:
    """A statistic that records how it was merged."""

    def __init__(self, text=""):
        self.text = text

    def merge(self, other):
        self.text = f"({self.text}{other.text})" if self.text else other.text
        return self


def _static(leaves):
    """Return the tree of these leaves, level by level, as its definition says."""
    while len(leaves) > 1:
        nodes = []
        for start in range(0, len(leaves), ARITY):
            node, *rest = leaves[start : start + ARITY]
            for leaf in rest:
                node = f"({node}{leaf})"
            nodes.append(node)
        leaves = nodes
    return leaves[0] if leaves else ""


@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 272, 273, 4095, 4096, 4097, 5000])
def test_the_tree_is_that_of_the_numbers(n):
    tree = Tree(Words())
    for number in range(n):
        tree.add(Words(f"{number},"))
    assert tree.close().text == _static([f"{number}," for number in range(n)])


def test_one_statistic_per_level_is_held():
    tree = Tree(Words())
    for number in range(ARITY**3 + 5):
        tree.add(Words(f"{number},"))
        assert sum(node is not None for node in tree._nodes) <= 4


@pytest.mark.parametrize("run", [ARITY, ARITY**2])
def test_aligned_runs_may_be_merged_elsewhere(rng, run):
    empty = Moments.of(3, 1)
    leaves = [(rng.standard_normal((5, 3)).astype(np.float32), rng.standard_normal(5)) for _ in range(600)]
    whole = Tree(empty.zero())
    for X, y in leaves:
        whole.add(empty.zero().update(X, y))
    runs = []
    for start in range(0, len(leaves), run):
        part = Tree(empty.zero())
        for X, y in leaves[start : start + run]:
            part.add(empty.zero().update(X, y))
        runs.append(part.close())
    total = Tree(empty.zero())
    for node in runs:
        total.add(node)
    found, expected = total.close(), whole.close()
    for name, value in vars(found).items():
        np.testing.assert_array_equal(value, getattr(expected, name), err_msg=name)
