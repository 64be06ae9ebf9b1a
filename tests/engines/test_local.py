"""The engine of one machine: order, threads that change no bit, faults that end it, memory flat in the blocks."""

import time
import weakref

import numpy as np
import pytest

from mercer import config_context
from mercer.data import as_blocks
from mercer.engines import Local
from mercer.stats import Moments


def _moments(blocks, threads):
    with config_context(threads=threads):
        empty = Moments.of(7, 1)
        return Local().reduce(lambda block: empty.zero().update(block.X, block.y), blocks, empty.zero())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_changes_no_bit(rng, dtype):
    X, y = rng.standard_normal((4001, 7)).astype(dtype), rng.standard_normal(4001)
    blocks = as_blocks(X, y, block_rows=37)
    one = _moments(blocks, 1)
    for threads in (2, 3, 2):
        for name, value in vars(_moments(blocks, threads)).items():
            np.testing.assert_array_equal(value, getattr(one, name), err_msg=name)
    other = _moments(as_blocks(X, y, block_rows=38), 1)
    assert not np.array_equal(other.gram, one.gram)  # the test can tell orders of summation apart


@pytest.mark.parametrize("threads", [1, 2])
def test_map_keeps_the_order(threads):
    blocks = as_blocks(np.arange(103.0)[:, None], block_rows=4)

    def late_when_even(block):
        time.sleep(0.002 * (block.X[0, 0] % 8 == 0))
        return block.X[0, 0]

    with config_context(threads=threads):
        assert list(Local().map(late_when_even, blocks)) == list(range(0, 103, 4))


@pytest.mark.parametrize("threads", [1, 2])
def test_for_each_sees_every_block_once_and_checks_it(threads):
    X, seen = np.arange(103.0)[:, None], []
    with config_context(threads=threads):
        Local().for_each(lambda block: seen.append(block.X[0, 0]), as_blocks(X, block_rows=4))
        assert sorted(seen) == list(range(0, 103, 4))
        X[50] = np.nan
        with pytest.raises(ValueError, match="NaN at row 50"):
            Local().for_each(lambda block: None, as_blocks(X, block_rows=4))


def test_work_may_write_into_memory_of_this_process():
    out = np.zeros(10)

    def work(block):
        out[block.first_row : block.first_row + block.n_rows] = block.X[:, 0]

    assert Local().shares_memory
    Local().for_each(work, as_blocks(np.arange(10.0)[:, None], block_rows=3))
    assert out.tolist() == list(range(10))


class _Order:
    """Collects the numbers merged."""

    def __init__(self, numbers=()):
        self.numbers = list(numbers)

    def merge(self, other):
        self.numbers += other.numbers
        return self


def test_merges_follow_the_blocks_though_their_work_ends_in_another_order():
    blocks = as_blocks(np.arange(40.0)[:, None], block_rows=1)

    def work(block):
        time.sleep(0.002 * (block.X[0, 0] % 2 == 0))
        return _Order([block.X[0, 0]])

    with config_context(threads=4):
        assert Local().reduce(work, blocks, _Order()).numbers == list(range(40))


def test_few_blocks_are_in_memory():
    """A block in work and one result waiting for each thread, the one being read, and the one just left."""
    gone = []
    most = 0

    def factory():
        nonlocal most
        before = len(gone)
        for i in range(60):
            block = np.full((1, 1), float(i))  # views of it keep it alive
            weakref.finalize(block, gone.append, i)
            most = max(most, i + 1 - (len(gone) - before))
            yield block

    with config_context(threads=2):
        Local().reduce(lambda block: _Order([float(block.X[0, 0])]), as_blocks(factory, block_rows=1), _Order())
    assert most <= 2 * 2 + 2


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("where", ["work", "source"])
def test_a_fault_ends_the_work_and_comes_out(threads, where):
    def factory():
        for i in range(50):
            if where == "source" and i == 20 and len(passes) > 3:
                raise OSError("disk gone")
            yield np.full((1, 1), float(i))

    passes = [0] * 4

    def work(block):
        if where == "work" and block.X[0, 0] == 20:
            raise OSError("disk gone")
        return _Order([block.X[0, 0]])

    total = _Order()
    with config_context(threads=threads), pytest.raises(OSError, match="disk gone"):
        Local().reduce(work, as_blocks(factory, block_rows=1), total)
    assert total.numbers == list(range(len(total.numbers)))
    assert len(total.numbers) <= 20
