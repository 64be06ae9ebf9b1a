"""Packed objects as blocks."""

import numpy as np
import pytest

from mercer.data import as_blocks
from mercer.structures import Bags, Graphs, Strings, Trees

OBJECTS = {
    "strings": Strings(["a", "bc", "", "d"]),
    "graphs": Graphs([([(0, 1)], 2), ([], 1), ([], 0), ([(0, 1)], 2)]),
    "trees": Trees(["a", "(a b)", "b", "(a c)"]),
    "bags": Bags([np.ones((2, 2)), np.zeros((1, 2)), np.empty((0, 2)), np.eye(2)]),
}


@pytest.mark.parametrize("X", OBJECTS.values(), ids=OBJECTS.keys())
def test_blocks_are_cut_and_joined(X):
    y = np.arange(4)
    blocks = list(as_blocks(X, y, block_rows=3).labelled())
    assert [block.n_rows for block in blocks] == [3, 1]
    assert blocks[1].y.tolist() == [3]
    again = type(X).stack([block.X for block in blocks])
    assert {k: v.tolist() for k, v in again.content().items()} == {k: v.tolist() for k, v in X.content().items()}


@pytest.mark.parametrize("X", OBJECTS.values(), ids=OBJECTS.keys())
def test_the_fingerprint_is_that_of_the_objects(X):
    prints = {as_blocks(X, block_rows=size).fingerprint for size in (1, 3, 4)}
    assert len(prints) == 1
    assert as_blocks(X[::-1]).fingerprint not in prints
    assert X.hashes().tolist() == X[::-1].hashes()[::-1].tolist()
    assert X.hashes()[0] != X.hashes()[1]


def test_objects_never_become_an_array():
    with pytest.raises(TypeError, match="no array of numbers"):
        np.asarray(Strings(["a"]))
