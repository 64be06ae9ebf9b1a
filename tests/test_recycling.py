"""Memory of results: given again only when no view of it is left."""

import copy
import gc
import pickle
import sys
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


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_the_base_cannot_be_copied(copied):
    """Both copies would give the memory back, and the next result would lie over this one."""
    first = empty(SHAPE, np.float32)
    with pytest.raises(TypeError, match=r"cannot be copied or pickled\. Copy the array itself"):
        copied(first.base)
    gc.collect()
    assert not np.shares_memory(first, empty(SHAPE, np.float32))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda Z: pickle.loads(pickle.dumps(Z)), np.array])
def test_arrays_are_copied_as_any_other(copied):
    first = empty(SHAPE, np.float32)
    first[:] = 7
    other = copied(first)
    del first
    gc.collect()
    empty(SHAPE, np.float32)[:] = 8
    assert np.all(other == 7)


def test_memory_that_is_not_there_is_one_error(monkeypatch):
    """And no exception in a finaliser, which Python would print beside it."""
    unraised = []
    monkeypatch.setattr(sys, "unraisablehook", unraised.append)

    def nothing_left(*args, **options):
        raise MemoryError

    monkeypatch.setattr(recycling.np, "empty", nothing_left)
    with pytest.raises(MemoryError):
        empty(SHAPE, np.float32)
    gc.collect()
    assert unraised == []


def test_results_that_do_not_own_their_data_can_be_copied_and_resized():
    Z = empty(SHAPE, np.float32)
    with pytest.raises(ValueError, match="does not own its data"):
        Z.resize(10, 10)
    assert np.resize(Z, (10, 10)).shape == (10, 10)
    Z.copy().resize(10, 10)


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
