"""Rows of blocks that come in any order are those of all blocks, whatever was expected of their sizes."""

import threading

import numpy as np
import pytest

from mercer.features.structured.joined_rows import JoinedRows, SparseBlock


def block(rng, n_rows, most, dtype):
    sizes = rng.integers(0, most + 1, size=n_rows)
    pointers = np.concatenate([[0], np.cumsum(sizes)])
    return SparseBlock(rng.normal(size=pointers[-1]).astype(dtype), rng.integers(50, size=pointers[-1]), pointers)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("most", [[3, 3, 3, 3], [0, 0, 40, 1], [40, 0, 0, 0], [1, 1, 1, 4000]])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_all_entries_in_their_rows(dtype, most, order):
    rng = np.random.default_rng(0)
    blocks = [block(rng, 5, number, dtype) for number in most]
    rows = JoinedRows([5] * 4, (20, 50), dtype)
    for number in order:
        rows.put(number, blocks[number])
    Z = rows.result()
    assert Z.shape == (20, 50)
    assert Z.dtype == dtype
    assert Z.indices.dtype == Z.indptr.dtype == np.int32
    np.testing.assert_array_equal(Z.data, np.concatenate([one.data for one in blocks]))
    np.testing.assert_array_equal(Z.indices, np.concatenate([one.columns for one in blocks]))
    np.testing.assert_array_equal(np.diff(Z.indptr), np.concatenate([np.diff(one.pointers) for one in blocks]))


def test_no_blocks_and_empty_ones():
    assert JoinedRows([], (0, 3), np.float32).result().shape == (0, 3)
    rows = JoinedRows([0, 0], (2, 3), np.float32)
    for number in (1, 0):
        rows.put(number, block(np.random.default_rng(0), 1, 0, np.float32))
    assert rows.result().nnz == 0


def test_unused_memory_is_given_up():
    """The first block expects 1000 times as many entries as there are."""
    rng = np.random.default_rng(0)
    rows = JoinedRows([1, 999], (4, 50), np.float32)
    first = SparseBlock(np.ones(500, np.float32), np.zeros(500, np.int32), np.array([0, 500]))
    rows.put(0, first)
    rows.put(1, block(rng, 3, 2, np.float32))
    Z = rows.result()
    base = Z.data if Z.data.base is None else Z.data.base
    assert base.nbytes < 2 * 4 * (Z.nnz + 10)


def test_threads_may_put_at_the_same_time():
    rng = np.random.default_rng(0)
    blocks = [block(rng, 2, 30, np.float64) for _ in range(40)]
    rows = JoinedRows([2] * 40, (80, 50), np.float64)
    threads = [
        threading.Thread(target=lambda start=start: [rows.put(i, blocks[i]) for i in range(start, 40, 4)])
        for start in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(rows.result().data, np.concatenate([one.data for one in blocks]))
