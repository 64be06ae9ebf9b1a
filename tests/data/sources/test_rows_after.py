"""The rows that follow the first ones of a source, and blocks of them."""

import numpy as np
import pytest

from mercer.data import as_blocks
from mercer.data.sources import RowsAfter
from mercer.data.sources.arrays import ArraySource

X, Y = np.arange(22.0).reshape(11, 2), np.arange(11)


@pytest.mark.parametrize("skipped", [0, 3, 4, 10, 11])
@pytest.mark.parametrize("size", [1, 4, 20])
def test_the_rows_that_are_left(skipped, size):
    pieces = [piece.X for piece in RowsAfter(ArraySource("X", X), skipped).pieces(size)]
    assert np.array_equal(np.concatenate([X[:0], *pieces]), X[skipped:])


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("n_done", [4, 8, 11])
def test_blocks_after_a_block_are_the_same_blocks(is_stream, n_done):
    source = (lambda: iter([(X[:5], Y[:5]), (X[5:], Y[5:])])) if is_stream else X
    blocks = as_blocks(source, block_rows=4) if is_stream else as_blocks(X, Y, block_rows=4)
    expected = [block for block in blocks.labelled() if block.first_row >= n_done]
    found = list(blocks.after(n_done).labelled())
    assert [block.first_row for block in found] == [block.first_row for block in expected]
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one.X, other.X)
        assert np.array_equal(one.y, other.y)


def test_blocks_of_a_plan_end_where_they_ended():
    blocks = as_blocks(X, Y, block_rows=2, plan=(5, 3, 3))
    before = [(block.first_row, block.n_rows, blocks.ends_part(block)) for block in blocks.labelled()]
    for first in [row for row, _, _ in before[1:]]:
        rest = blocks.after(first)
        after = [(block.first_row, block.n_rows, rest.ends_part(block)) for block in rest.labelled()]
        assert after == [item for item in before if item[0] >= first]
