"""Trees from brackets, tuples and parents."""

import numpy as np
import pytest

from mercer.structures import Trees


def test_one_tree_in_three_forms():
    X = Trees(["(a b (c d))", ("a", "b", ("c", "d")), (["a", "b", "c", "d"], [-1, 0, 0, 2])])
    assert X.parents.tolist() == [-1, 0, 0, 2] * 3
    assert len(set(X.labels.tolist())) == 4


def test_a_leaf_alone_and_deep_trees():
    assert Trees(["a", ("a",)]).sizes.tolist() == [1, 1]
    depth = 5000
    assert Trees(["(a" * depth + ")" * depth]).sizes.tolist() == [depth]


def test_arrays():
    X = Trees.of_arrays(np.array([4, 5, 6]), np.array([-1, 0, -1]), np.array([0, 2, 3]))
    assert X.sizes.tolist() == [2, 1]
    with pytest.raises(ValueError, match=r"X\[1\] must be a tree.*parent 0 of node 0"):
        Trees.of_arrays(np.array([4, 5, 6]), np.array([-1, 0, 0]), np.array([0, 2, 3]))
    with pytest.raises(ValueError, match="must be integers"):
        Trees.of_arrays(np.array([0.5]), np.array([-1]), np.array([0, 1]))


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ("(a b", "matching brackets"),
        ("(a b))", "matching brackets"),
        ("(a) (b)", "matching brackets"),
        ("(a) b", "matching brackets"),
        ("((a) b)", "matching brackets"),
        ("", "matching brackets"),
        (None, "must be a tree"),
        (("a", 0.5), "integers or text"),
        ((["a", "b"], [1, 0]), "A cycle is no tree"),
        ((["a", "b"], [-1]), "a parent for each label"),
    ],
)
def test_the_tree_at_fault_is_named(tree, words):
    with pytest.raises(ValueError, match=rf"X\[1\].*{words}"):
        Trees(["(a b)", tree])
