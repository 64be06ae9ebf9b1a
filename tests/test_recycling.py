"""Memory of results: given again only when no view of it is left."""

import gc
import threading

import numpy as np
import pytest

from mercer import FourierFeatures, recycling
from mercer.recycling import empty

SHAPE = 1024, 512  # float32: 2 MiB


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(recycling, "_kept", recycling._Kept())


def _place(array):
    return array.__array_interface__["data"][0]


def test_memory_that_nobody_holds_is_given_again():
    first = empty(SHAPE, np.float32)
    place = _place(first)
    del first
    gc.collect()
    assert _place(empty((512, 512), np.float64)) == place


@pytest.mark.parametrize("view", [lambda Z: Z[3:5], lambda Z: Z.T, lambda Z: Z.ravel()[7:], memoryview])
def test_a_view_keeps_its_memory(view):
    first = empty(SHAPE, np.float32)
    first[:] = 7
    kept = view(first)
    del first
    gc.collect()
    second = empty(SHAPE, np.float32)
    second[:] = 8
    assert np.all(np.asarray(kept) == 7)


def test_two_results_at_once_are_apart():
    first, second = empty(SHAPE, np.float32), empty(SHAPE, np.float32)
    assert not np.shares_memory(first, second)


def test_arrays_are_plain():
    Z = empty(SHAPE, np.float32)
    assert type(Z) is np.ndarray
    assert Z.flags.c_contiguous
    assert Z.flags.writeable
    assert Z.flags.aligned


@pytest.mark.parametrize("shape", [(3, 2), (0, 5), (2**14, 2**13)])
def test_small_and_large_results_are_left_to_numpy(shape):
    assert empty(shape, np.float64).flags.owndata


def test_no_more_is_kept_than_the_limit():
    held = [empty((2**24,), np.float32) for _ in range(4)]
    held.clear()
    gc.collect()
    assert sum(memory.nbytes for memory in recycling._kept._memory) <= recycling._MOST


def test_a_memory_much_too_large_is_not_given():
    first = empty((8 * 2**20,), np.uint8)
    place = _place(first)
    del first
    gc.collect()
    assert _place(empty((2**20,), np.uint8)) != place


def test_threads_never_share():
    faults = []

    def work(number):
        for _ in range(200):
            Z = empty((2**18,), np.float64)
            Z[:] = number
            if np.ptp(Z) or Z[0] != number:
                faults.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_features_of_one_block_outlive_those_of_the_next():
    X = np.random.default_rng(0).standard_normal((2000, 3)).astype(np.float32)
    fourier = FourierFeatures(n_components=512, random_state=0).fit(X)
    Z = [fourier.transform(block) for block in (X[:1000], X[1000:])]
    np.testing.assert_array_equal(np.vstack(Z), fourier.transform(X))
