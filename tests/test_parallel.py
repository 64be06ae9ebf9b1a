"""The pool: every block once, errors out, no deadlock, BLAS limits restored."""

import contextlib
import multiprocessing
import os
import sys
import threading
import time
from functools import partial

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from mercer import Polynomial, TensorSketch, config_context, parallel
from mercer.config import get_config
from mercer.parallel import (
    for_each_block,
    in_background,
    in_turns,
    on_threads,
    row_blocks,
    shared_rows,
)


def _blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_block_is_worked_once(threads):
    seen = np.zeros(103, dtype=int)
    with config_context(threads=threads):
        for_each_block(lambda rows: np.add.at(seen, np.arange(rows.start, rows.stop), 1), row_blocks(103, 10))
    assert (seen == 1).all()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(threads):
    def late(number):
        time.sleep(0.001 * (7 - number))
        return number**2

    with config_context(threads=threads):
        assert on_threads(late, range(7)) == [number**2 for number in range(7)]
        assert on_threads(late, []) == []


@pytest.mark.parametrize("n_rows", [1, 511, 2048, 2049, 4097, 100_001])
def test_shared_rows_are_a_matter_of_the_number_of_rows_alone(n_rows):
    heights = set()
    for threads in (1, 2, 7):
        with config_context(threads=threads):
            heights.add(shared_rows(n_rows, 512, 1024))
    (height,) = heights
    assert 512 <= height <= 1024
    assert -(-n_rows // height) >= min(8, -(-n_rows // 512))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_reaches_the_caller_and_ends_the_work(threads):
    worked = []

    def work(rows):
        worked.append(rows)
        raise RuntimeError(f"row {rows.start}")

    with config_context(threads=threads), pytest.raises(RuntimeError, match="row "):
        for_each_block(work, row_blocks(1000, 1))
    assert len(worked) <= threads


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_turn_begins_when_the_turn_before_has_ended(threads):
    n_ended, seen = 0, []
    lock = threading.Lock()

    def task(turn):
        nonlocal n_ended
        with lock:
            seen.append((turn, n_ended))
        time.sleep(1e-3 * (turn % 3))  # turns of different lengths: an early thread must wait
        with lock:
            n_ended += 1

    sizes = [3, 1, 4, 1, 2] * 4
    with config_context(threads=threads):
        in_turns([partial(task, turn)] * size for turn, size in enumerate(sizes))
    starts = np.cumsum([0, *sizes])
    assert len(seen) == n_ended == sum(sizes)
    for turn, n_before in seen:
        assert starts[turn] <= n_before < starts[turn + 1]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_in_a_turn_lets_those_that_wait_go(threads):
    ran = []

    def fail():
        time.sleep(0.05)  # the other thread is waiting by then
        raise RuntimeError("no")

    with config_context(threads=threads), pytest.raises(RuntimeError, match="no"):
        in_turns([[fail], [partial(ran.append, 1)], [partial(ran.append, 2)]])
    assert not ran


def test_turns_end_however_many_users_share_the_pool():
    totals = [np.zeros(1) for _ in range(6)]

    def user(total):
        def add():
            total[0] += 1  # alone in its turn

        with config_context(threads=2):
            in_turns([add] for _ in range(200))

    users = [threading.Thread(target=user, args=(total,)) for total in totals]
    for thread in users:
        thread.start()
    for thread in users:
        thread.join(timeout=60)
    assert [total.tolist() for total in totals] == [[200.0]] * 6


def test_a_background_task_sees_the_configuration_and_works_in_one_thread():
    found = []

    def task():
        found.append(get_config().threads)
        for_each_block(lambda _: found.append(threading.get_ident()), range(20))

    with config_context(threads=3), in_background(task) as wait:
        wait()
        assert found[0] == 3
        assert len(set(found[1:])) == 1
        assert found[1] != threading.get_ident()


def _threads_of_the_pool():
    """Return how many threads share blocks that wait for each other where there are several."""
    found, together = set(), threading.Barrier(2)

    def work(_):
        found.add(threading.get_ident())
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(timeout=0.5)

    for_each_block(work, range(2))
    return len(found)


@pytest.mark.parametrize("gives_way", [True, False])
def test_a_background_task_that_does_not_give_way_has_a_thread_to_itself(gives_way, monkeypatch):
    monkeypatch.setattr(parallel, "_takes_what_others_leave", lambda: gives_way)
    begun, ends = threading.Event(), threading.Event()

    def task():
        begun.set()
        ends.wait(10)

    with config_context(threads=2):
        with in_background(task), contextlib.ExitStack() as at_the_end:
            at_the_end.callback(ends.set)  # a failure must not leave the task waiting
            assert begun.wait(10)
            assert _threads_of_the_pool() == (2 if gives_way else 1)
        assert _threads_of_the_pool() == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads have priorities of their own on Linux alone")
def test_a_background_task_gives_way_and_other_threads_keep_their_priority():
    def priority():
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    before, found = priority(), []
    with config_context(threads=2), in_background(lambda: found.append(priority())) as wait:
        wait()
        found += on_threads(lambda _: priority(), range(4))
    assert found == [19] + [before] * 4
    assert priority() == before


def test_a_background_task_that_fails_leaves_its_thread():
    def fail():
        raise KeyError("background")

    with config_context(threads=2):
        with pytest.raises(KeyError, match="background"), in_background(fail):
            pass
        assert _threads_of_the_pool() == 2


def test_a_background_task_holds_blas_to_one_thread():
    before, found = _blas_threads(), []
    with in_background(lambda: found.extend(_blas_threads())) as wait:
        wait()
    assert found == [1] * len(before)
    assert _blas_threads() == before


def test_an_exception_of_a_background_task_is_raised_by_who_waits():
    def fail():
        raise KeyError("background")

    with pytest.raises(KeyError, match="background"), in_background(fail):
        pass
    with pytest.raises(ValueError, match="inside"), in_background(fail):  # the first exception is the one that is told
        raise ValueError("inside")
    with pytest.raises(KeyError, match="background"), in_background(fail) as wait:
        wait()


def test_nested_calls_do_not_wait_for_themselves():
    inner = []
    with config_context(threads=2):
        for_each_block(lambda _: for_each_block(inner.append, row_blocks(4, 1)), row_blocks(6, 1))
    assert len(inner) == 24


def test_blas_is_held_to_one_thread_inside_and_restored_outside():
    before = _blas_threads()
    inside = []
    with config_context(threads=2):
        for_each_block(lambda _: inner_limits(inside), row_blocks(4, 1))
    assert set(inside) == {1}
    assert _blas_threads() == before


def inner_limits(collected):
    collected.extend(_blas_threads())


def test_overlapping_users_restore_the_blas_limit():
    before = _blas_threads()
    together = threading.Barrier(2)

    def user():
        with config_context(threads=1):
            for_each_block(lambda _: together.wait(timeout=10), [slice(0, 1)])

    users = [threading.Thread(target=user) for _ in range(2)]
    for thread in users:
        thread.start()
    for thread in users:
        thread.join()
    assert _blas_threads() == before


def _sketch(seed=0):
    X = np.random.RandomState(1).standard_normal((2000, 20))
    return TensorSketch(Polynomial(2, coef0=1.0), n_components=64, random_state=seed).fit_transform(X)


def test_two_user_threads_at_once_get_the_same_as_one():
    expected = _sketch()
    results = [None] * 4

    def user(i):
        results[i] = [_sketch() for _ in range(5)]

    users = [threading.Thread(target=user, args=(i,)) for i in range(4)]
    for thread in users:
        thread.start()
    for thread in users:
        thread.join()
    for result in results:
        for Z in result:
            np.testing.assert_array_equal(Z, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_use_after_fork():
    expected = _sketch()  # the parent's pool is at work before the fork
    with multiprocessing.get_context("fork").Pool(2) as children:
        for Z in children.map(_sketch, [0, 0, 0], chunksize=1):
            np.testing.assert_array_equal(Z, expected)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_nested_in_joblib(backend):
    X = np.random.RandomState(1).standard_normal((2000, 20))
    sketch = TensorSketch(n_components=64, random_state=0)
    expected = sketch.fit_transform(X)
    jobs = (joblib.delayed(TensorSketch.fit_transform)(sketch, X) for _ in range(3))
    for Z in joblib.Parallel(n_jobs=2, backend=backend)(jobs):
        np.testing.assert_array_equal(Z, expected)
