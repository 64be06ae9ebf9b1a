"""Rows in memory: whole and in order from any source, weights of classes and of rows left out, bad input."""

import numpy as np
import pytest
from scipy import sparse

from mercer.data import as_blocks
from mercer.fitting import Classes, HeldTargets, Numbers, Passes, held_rows


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_rows_come_whole_and_in_order(layout):
    X, y, weight = np.arange(21.0).reshape(7, 3), np.arange(7), np.arange(7) / 7
    for source in (as_blocks(layout(X), y, sample_weight=weight, block_rows=2),):
        found, labels, given = held_rows(source, Passes("Test"))
        np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)
        np.testing.assert_array_equal(labels, y)
        np.testing.assert_array_equal(given, weight)
    assert held_rows(as_blocks(X, y), Passes("Test"))[2] is None


def test_rows_are_copies():
    X = np.ones((3, 2))
    found, _, _ = held_rows(as_blocks(X, np.ones(3)), Passes("Test"))
    assert not np.shares_memory(found, X)


def test_a_row_left_out_is_one_of_those_that_its_weight_stands_for():
    y, weight = np.array(["a", "b", "b", "a"]), np.array([1.0, 2.0, 0.5, 0.0])
    held = HeldTargets.of(Classes("Test", class_weight={"b": 4.0}), y, weight)
    np.testing.assert_array_equal(held.weight, [1.0, 8.0, 2.0, 0.0])
    np.testing.assert_array_equal(held.left_out, [1.0, 4.0, 2.0, 0.0])
    np.testing.assert_array_equal(held.given, weight)
    np.testing.assert_array_equal(held.kept, [True, True, True, False])
    np.testing.assert_array_equal(held.some(held.kept).left_out, [1.0, 4.0, 2.0])


def test_numbers_keep_their_dimensions():
    for y, flat in ((np.arange(4), True), (np.arange(8).reshape(4, 2), False)):
        held = HeldTargets.of(Numbers("Test"), y)
        assert held.Y.shape == (4, 1 if flat else 2)
        assert held.targets.is_flat is flat
        np.testing.assert_array_equal(held.targets.mean, np.atleast_1d(y.mean(axis=0)))


def test_bad_targets_are_refused_in_words():
    with pytest.raises(ValueError, match="Test: sample_weight must not be all zero"):
        HeldTargets.of(Numbers("Test"), np.ones(3), np.zeros(3))
    with pytest.raises(ValueError, match="Test: sample_weight must not be all zero"):
        HeldTargets.of(Classes("Test", class_weight={1: 0.0, 2: 0.0}), np.array([1, 2]))
    with pytest.raises(ValueError, match="at least 2 classes"):
        HeldTargets.of(Classes("Test"), np.array([1, 1]))
    with pytest.raises(ValueError, match="NaN"):
        HeldTargets.of(Numbers("Test"), np.array([1.0, np.nan]))
