"""Complete subtrees."""

import numpy as np
import pytest
from brute_force import children, tree_lists
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import Subtree


def subtrees(tree):
    below = children(tree)

    def at(v):
        return (tree[0][v], *(at(c) for c in below[v]))

    def size(subtree):
        return 1 + sum(size(child) for child in subtree[1:])

    return [(at(v), size(at(v))) for v in range(len(below))]


@settings(max_examples=30)
@given(tree_lists(), st.sampled_from([1.0, 0.3]))
def test_equal_to_the_double_loop(X, decay):
    listed = [subtrees(tree) for tree in X]
    expected = [[sum(decay**s for a, s in x for b, _ in y if a == b) for y in listed] for x in listed]
    np.testing.assert_allclose(Subtree(decay)(X), expected, rtol=1e-12)


def test_bad_parameters():
    with pytest.raises(ValueError, match="decay must be"):
        Subtree(0.0)
    with pytest.raises(ValueError, match=r"needs decay=1\.0"):
        Subtree(0.5, counts="intersection")
