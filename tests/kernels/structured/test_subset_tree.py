"""Fragments of trees."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from brute_force import children, tree_lists
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Normalized
from mercer.kernels import SubsetTree
from mercer.structures import Trees


def textbook(a, b, decay, *, leaves):
    """Return the sum of the recursion of Collins and Duffy over all pairs of nodes: fragments of any size."""
    below_a, below_b = children(a), children(b)

    @cache
    def common(u, v):
        same = a[0][u] == b[0][v] and [a[0][c] for c in below_a[u]] == [b[0][c] for c in below_b[v]]
        if not same or not below_a[u]:
            return decay if same and leaves else 0.0
        value = decay
        for c, d in zip(below_a[u], below_b[v], strict=True):
            value *= 1 + (common(c, d) if below_a[c] and below_b[d] else 0.0)
        return value

    return sum(common(u, v) for u in range(len(below_a)) for v in range(len(below_b)))


@settings(max_examples=30)
@given(tree_lists(), st.sampled_from([1.0, 0.4]), st.booleans())
def test_without_a_limit_equal_to_the_recursion(X, decay, leaves):
    expected = [[textbook(x, y, decay, leaves=leaves) for y in X] for x in X]
    np.testing.assert_allclose(SubsetTree(decay, max_size=7, leaves=leaves)(X), expected, rtol=1e-10)


def test_the_limit_leaves_larger_fragments_out():
    X = ["(a (b (c d)))"]
    values = [SubsetTree(1.0, max_size=size, leaves=False)(X)[0, 0] for size in (1, 2, 3)]
    assert values == [3, 5, 6]


def test_fragments_of_four_productions_follow_those_of_any_size():
    folder = os.environ.get("MERCER_DATA")
    path = Path(folder or "") / "structured" / "trees_questions.npz"
    if not folder or not path.exists():
        pytest.skip("MERCER_DATA has no trees_questions")
    data = np.load(path, allow_pickle=False)
    pointers = np.append(data["test_pointers"][:500], len(data["test_labels"]))
    X = Trees.of_arrays(data["test_labels"], data["test_parents"], pointers)
    K = Normalized(SubsetTree(0.4))(X)
    assert np.corrcoef(np.diag(K, 1), data["kelp_sstk"])[0, 1] > 0.997


def test_too_many_fragments_are_refused():
    wide = (["r"] + ["a", "b"] * 200, [-1, *(0 if v % 2 else v - 1 for v in range(1, 401))])
    with pytest.raises(ValueError, match="Lower max_size"):
        SubsetTree(max_size=20)([wide])
