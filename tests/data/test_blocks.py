"""Blocks: re-iterable, views, any layout."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer import config_context
from mercer.data import as_blocks


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sparse.csr_array, pd.DataFrame])
def test_the_blocks_make_up_the_rows_on_every_pass(rng, make):
    X = rng.standard_normal((11, 3))
    blocks = as_blocks(make(X), block_rows=4)
    for _ in range(2):
        parts = [block.toarray() if blocks.is_sparse else block for block in blocks]
        np.testing.assert_array_equal(np.vstack(parts), X)
    assert (blocks.n_rows, blocks.width, blocks.dtype, len(blocks)) == (11, 3, np.float64, 3)


def test_blocks_of_an_array_are_views(rng):
    X = rng.standard_normal((8, 3)).astype(np.float32)
    blocks = as_blocks(X, block_rows=3)
    assert blocks.dtype == np.float32
    assert all(np.shares_memory(block, X) for block in blocks)
    assert as_blocks(blocks) is blocks


def test_the_block_size_follows_the_configuration(rng):
    with config_context(block_rows=2):
        assert len(as_blocks(rng.standard_normal((5, 1)))) == 3
