"""Which rows are held: the same ones whatever the blocks, told by their numbers."""

import numpy as np
import pytest
from scipy import sparse

from mercer.data import Block, as_blocks
from mercer.fitting import Passes, RowPick, held_rows


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("block_rows", [1, 7, 50])
def test_cuts_of_blocks_change_no_row(layout, block_rows):
    X, y, weight = np.arange(150.0).reshape(50, 3), np.arange(50), np.arange(50) / 50
    pick = RowPick.of(50, 20, seed=4)
    numbers = np.flatnonzero(pick.mask(0, 50))
    assert len(numbers) == 20
    blocks = as_blocks(layout(X), y, sample_weight=weight, block_rows=block_rows)
    found, labels, given = held_rows(blocks, Passes("Test"), pick)
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X[numbers])
    np.testing.assert_array_equal(labels, numbers)
    np.testing.assert_array_equal(given, weight[numbers])


def test_text_of_later_blocks_is_not_cut():
    y = np.array(["a"] * 10 + ["longer"] * 10)
    _, labels, _ = held_rows(as_blocks(np.ones((20, 1)), y, block_rows=5), Passes("Test"), RowPick.of(20, 19, seed=0))
    assert set(labels) == {"a", "longer"}


def test_all_rows_need_no_pick():
    assert RowPick.of(5, 5, seed=0) is None
    block = RowPick.of(5, 1, seed=0).of_block(Block(np.ones((3, 2)), first_row=2))
    assert block.y is None
