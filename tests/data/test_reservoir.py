"""A uniform sample of a stream."""

import numpy as np
import pytest
from scipy import sparse

from mercer.data import as_blocks, reservoir
from mercer.testing import assert_mean_close


def stream(n_rows, block_rows, dtype=np.float64):
    X = np.arange(n_rows, dtype=dtype).reshape(-1, 1)
    return as_blocks(X, block_rows=block_rows)


@pytest.mark.parametrize("block_rows", [1, 4, 30])
def test_every_pair_of_rows_is_equally_likely(block_rows):
    counts = []
    for seed in range(1000):
        _, numbers = reservoir(stream(9, block_rows), 4, np.random.RandomState(seed))
        chosen = np.zeros(9)
        chosen[numbers] = 1
        counts.append(np.outer(chosen, chosen)[np.triu_indices(9)])
    pair = 4 * 3 / (9 * 8)
    expected = np.where(np.eye(9), 4 / 9, pair)[np.triu_indices(9)]
    assert_mean_close(counts, expected, detect=0.5)


def test_rows_come_with_their_numbers():
    rows, numbers = reservoir(stream(50, 7), 20, np.random.RandomState(0))
    np.testing.assert_array_equal(rows[:, 0], numbers)
    assert len(set(numbers)) == 20


def test_a_short_stream_is_returned_whole_and_in_order():
    rows, numbers = reservoir(
        iter([np.ones((2, 3), dtype=np.float32), np.zeros((1, 3), dtype=np.float32)]), 10, np.random.RandomState(0)
    )
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(numbers, [0, 1, 2])


def test_sparse_blocks_stay_sparse():
    X = sparse.random_array((30, 6), density=0.3, format="csr", rng=np.random.default_rng(0))
    rows, numbers = reservoir(as_blocks(X, block_rows=4), 11, np.random.RandomState(0))
    assert sparse.issparse(rows)
    np.testing.assert_array_equal(rows.toarray(), X.toarray()[numbers])


def test_bad_streams():
    with pytest.raises(ValueError, match="the stream of blocks is empty"):
        reservoir(iter([]), 3, np.random.RandomState(0))
    with pytest.raises(ValueError, match="X has 2 columns and Y has 3"):
        reservoir(iter([np.ones((2, 2)), np.ones((2, 3))]), 9, np.random.RandomState(0))
    with pytest.raises(ValueError, match="block contains NaN at row 0, column 1"):
        reservoir(iter([np.array([[0.0, np.nan]])]), 3, np.random.RandomState(0))
