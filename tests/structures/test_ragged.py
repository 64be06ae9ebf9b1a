"""Packed objects are cut, taken and stacked like the rows of a matrix."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from mercer.structures import Bags, Graphs, Sequences, Strings, Trees
from mercer.structures.ragged import ends_of

OBJECTS = {
    "strings": Strings(["acgt", "", "gg", "tta"]),
    "sequences": Sequences([[1, 2], [], ["word"], [2, 2, 2]]),
    "graphs": Graphs([([(0, 1), (1, 2)], [3, 1, 3]), ([], 0), ([(0, 1)], 2), ([(0, 0), (1, 3)], [5, 6, 7, 8])]),
    "trees": Trees(["(a b (c d))", "a", ("x", "y"), "(a b b)"]),
    "bags": Bags([np.arange(4.0).reshape(2, 2), np.empty((0, 2)), np.ones((1, 2)), -np.ones((3, 2))]),
}


def content(X):
    """Return the arrays of each object, which is all that there is to compare."""
    objects = []
    for i in range(len(X)):
        one = []
        for level, names in X._levels.items():
            start, stop = X.pointers(level)[i : i + 2]
            one += [None if X._arrays[name] is None else X._arrays[name][start:stop].tolist() for name in names]
        objects.append(one)
    return objects


@pytest.fixture(params=OBJECTS.values(), ids=OBJECTS.keys())
def X(request):
    return request.param


@given(st.lists(st.integers(-4, 3), min_size=1, max_size=6))
def test_numbers_choose_objects_in_their_order(numbers):
    for X in OBJECTS.values():
        expected = [content(X)[i] for i in numbers]
        assert content(X[np.array(numbers)]) == content(X[numbers, ...]) == expected


@given(st.slices(4))
def test_slices_choose_as_those_of_lists(rows):
    for X in OBJECTS.values():
        assert content(X[rows]) == content(X)[rows]


def test_masks_and_single_numbers(X):
    assert content(X[np.array([True, False, False, True])]) == [content(X)[i] for i in (0, 3)]
    assert content(X[2]) == [content(X)[2]]


def test_stacked_parts_are_the_whole(X):
    assert content(type(X).stack([X[:1], X[1:3], X[3:]])) == content(X)


def test_pickles_and_copies_hold_the_same(X):
    assert content(pickle.loads(pickle.dumps(X))) == content(X.copy()) == content(X)


def test_shape_types_and_size(X):
    assert X.shape == (4, 1)
    assert X.ndim == 2
    assert len(X) == 4
    assert X.astype(np.float64).dtype == np.float64
    assert X.astype(X.dtype, copy=False) is X
    assert X.nbytes > 0
    with pytest.raises(ValueError, match="float32 or float64"):
        X.astype(np.int64)
    with pytest.raises(IndexError, match="one index"):
        X[0, 1]


def test_scikit_learn_cuts_them(X):
    train, test = train_test_split(X, test_size=2, random_state=0)
    assert len(train) == len(test) == 2


def test_parts_with_and_without_an_optional_array_do_not_stack():
    plain, labelled = Graphs([([(0, 1)], 2)]), Graphs([([(0, 1)], 2, [4])])
    with pytest.raises(ValueError, match="some objects have edge_labels"):
        Graphs.stack([plain, labelled])


def test_ends_of_sizes():
    assert ends_of([2, 0, 3]).tolist() == [0, 2, 2, 5]
