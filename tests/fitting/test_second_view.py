"""A second view in place of y: sampled by the survey, encoded by the features of its map."""

import numpy as np
import pytest
from maps import Squares
from scipy import sparse

from mercer.data import Block, as_blocks
from mercer.fitting import Passes, Survey
from mercer.fitting.second_view import SecondView, as_view
from mercer.structures import Strings


def _view(samples):
    def draw(sample):
        samples.append(sample)
        return Squares()

    return SecondView("Test", draw=draw, size=10, seed=3)


def test_the_map_is_drawn_on_a_sample_of_the_second_view(rng):
    X, Y, weight = rng.rand(300, 2), rng.rand(300, 3), np.arange(300.0)
    samples = []
    for block_rows in (7, 300):
        blocks = as_blocks(X, Y, sample_weight=weight, block_rows=block_rows)
        targets = Survey.of(blocks, _view(samples), Passes("Test"), size=5, seed=0).targets
        block = Block(X[:4], Y[:4])
        np.testing.assert_array_equal(targets.encode(block), Squares().transform(Y[:4]))
    one, other = samples
    assert one.rows.shape == (10, 3)
    np.testing.assert_array_equal(one.rows, other.rows)  # whatever the blocks
    np.testing.assert_array_equal(Y[one.given_weight.astype(int)], one.rows)  # each row with its own weight


def test_one_dimension_is_one_column_and_what_is_no_number_is_refused():
    assert as_view("Test", [1, 2, 3]).tolist() == [[1.0], [2.0], [3.0]]
    assert sparse.issparse(as_view("Test", sparse.eye(3, format="csc")))
    with pytest.raises(ValueError, match="Test: y contains NaN at row 1, column 0"):
        as_view("Test", [[1.0], [np.nan]])
    with pytest.raises(ValueError, match="Test: y contains NaN at row 1"):
        _view([]).found_in(Block(np.zeros((2, 1)), np.array([1.0, np.nan])), np.ones(2))


def test_a_view_of_objects():
    assert as_view("Test", ["ab", "c"], "strings").shape == (2, 1)
    with pytest.raises(ValueError, match=r"Test: y\[1\] must be text"):
        as_view("Test", ["ab", 3], "strings")
    with pytest.raises(ValueError, match=r"Test: y is Strings.*rows of numbers"):
        as_view("Test", Strings(["ab"]))
