"""Bags of vectors."""

import numpy as np
import pytest

from mercer.structures import Bags


def test_precision_is_that_of_the_vectors():
    assert Bags([np.ones((2, 3), np.float32)]).values.dtype == np.float32
    assert Bags([np.ones((2, 3), int), np.ones((2, 3), np.float32)]).values.dtype == np.float64
    assert Bags([np.ones((2, 3))]).astype(np.float32).values.dtype == np.float32


def test_arrays_and_iteration():
    X = Bags.of_arrays(np.arange(6.0).reshape(3, 2), np.array([0, 1, 1, 3]))
    assert [len(bag) for bag in X] == [1, 0, 2]
    assert len(Bags(np.ones((4, 2, 3)))) == 4
    with pytest.raises(ValueError, match="pointers must ascend"):
        Bags.of_arrays(np.ones((3, 2)), np.array([0, 4]))


@pytest.mark.parametrize(
    ("bag", "words"),
    [
        (np.ones((2, 4)), "must have 3 columns"),
        (np.ones(3), "must be a matrix"),
        ([["a", "b", "c"]], "must be a matrix"),
        ([[1.0], [1.0, 2.0]], "different lengths"),
        (np.array([[1.0, np.nan, 0.0]]), "nan at row 0, column 1"),
    ],
)
def test_the_bag_at_fault_is_named(bag, words):
    with pytest.raises(ValueError, match=rf"X\[1\].*{words}"):
        Bags([np.ones((1, 3)), bag])


def test_no_bags():
    with pytest.raises(ValueError, match="at least one bag"):
        Bags([])
