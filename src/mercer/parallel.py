"""The only thread pool of mercer: it works on blocks of rows, and limits the threads of BLAS.

Compiled functions are single-threaded and release the GIL. BLAS is held to one thread while the pool works: two pools
that take turns were measured 15 times slower than one.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from mercer.config import get_config

T = TypeVar("T")
R = TypeVar("R")

# Threads that share rows which fit in few blocks. More would be idle less often on large machines, but what a block
# prepares (a packed projection) would cost more than 3 % in blocks of 1000 rows.
_SHARES = 8
# The nice value of threads that take what others leave.
_LOWEST_PRIORITY = 19


class _Pool:
    """A ThreadPoolExecutor, created at the first use, and replaced by a larger one if more threads are needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._size = 0
        self.inside = threading.local()
        self._n_background = 0

    def free_threads(self, n_threads: int) -> int:
        """Return how many of some threads are left by background tasks that do not give way, at least one."""
        return max(1, n_threads - self._n_background)

    def count_background(self, change: int) -> None:
        """Add to the number of background tasks that run now and do not give way."""
        with self._lock:
            self._n_background += change

    def submit(self, n_threads: int, task: Callable[[], None]) -> Future[None]:
        with self._lock:
            if self._executor is None or self._size < n_threads:
                # The smaller pool still finishes its tasks; its threads end after that.
                if self._executor is not None:
                    self._executor.shutdown(wait=False)
                self._executor = ThreadPoolExecutor(n_threads, thread_name_prefix="mercer")
                self._size = n_threads
            return self._executor.submit(task)


class _BlasLimit:
    """Hold BLAS to one thread while at least one user is inside.

    The limit holds for the whole process, and threadpoolctl restores the limit that it found on entry: two overlapping
    contexts would leave the limit at one for ever. Hence one context, entered by the first user and left by the last.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._controller: ThreadpoolController | None = None
        self._limits = ExitStack()
        self._users = 0

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        with self._lock:
            if self._controller is None:
                self._controller = ThreadpoolController()  # 1 ms: it walks the loaded libraries
            if self._users == 0:
                self._limits.enter_context(self._controller.limit(limits=1, user_api="blas"))
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._limits.close()


_pool = _Pool()
_blas = _BlasLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread inside a ``with`` block: factorisations are faster, and the same on every machine.

    Eigenvectors of a 1000 x 1000 matrix were measured 3 to 15 times slower on two threads that share busy cores.
    """
    with _blas.one_thread():
        yield


def _renew_after_fork() -> None:
    """Forget the threads and locks of the parent process: its threads do not exist in the child."""
    globals().update(_pool=_Pool(), _blas=_BlasLimit())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)


def row_blocks(n_rows: int, block_rows: int | None = None) -> list[slice]:
    """Cut ``n_rows`` rows into slices of ``block_rows`` rows, the last one shorter.

    >>> row_blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = block_rows or get_config().block_rows
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def shared_rows(n_rows: int, least: int, most: int) -> int:
    """Return the rows per block, between ``least`` and ``most``, that let eight threads share ``n_rows`` rows.

    The result depends on the number of rows alone, on purpose: BLAS rounds a row by the height of the block that the
    row is in. Blocks as high as the threads of the moment like would give other bits with other threads.

    >>> [shared_rows(n, 512, 4096) for n in (100, 4000, 100_000)]
    [512, 512, 3125]
    """
    n_blocks = _SHARES * max(1, -(-n_rows // (_SHARES * most)))
    return max(least, -(-n_rows // n_blocks))


def for_each_block(work: Callable[[T], object], blocks: Iterable[T]) -> None:
    """Call ``work`` once per block, on the pool's threads, with BLAS held to one thread.

    Blocks are slices of rows, or what an iterator yields, and must be independent. Threads take them in order, one at a
    time: an iterator needs no lock, and at most one of its blocks per thread is in memory. A call from inside ``work``
    runs in the calling thread, so that the pool never waits for itself. After an exception no further block is begun;
    the exception is raised once the running blocks have ended.

    A task in the background that does not give way has one of the threads to itself. Otherwise a thread that gets the
    lock of the interpreter may wait for a core: growing trees during a search took up to twice the time.
    """
    n_threads = _pool.free_threads(get_config().threads)
    if isinstance(blocks, Sized):
        n_threads = min(n_threads, len(blocks))
    if n_threads <= 1 or getattr(_pool.inside, "block", False):
        with _blas.one_thread():
            for block in blocks:
                work(block)
        return
    _run_on_pool(work, blocks, n_threads)


def on_threads(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return ``work(item)`` of each item, in order, computed on the pool's threads.

    >>> on_threads(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    found: dict[int, R] = {}

    def one(number: int) -> None:
        found[number] = work(items[number])

    for_each_block(one, range(len(items)))
    return [found[number] for number in range(len(items))]


@contextmanager
def in_background(task: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Run a task on a thread of its own while the block of ``with`` runs, which is given a function that waits for it.

    For work whose result is needed later, while steps that wait for each other leave cores idle: where the system
    lets a thread have a low priority, the task takes what other threads leave, and else one of the threads of the pool.
    The task must end early where it is not needed any more: the end of ``with`` waits for it. What it calls runs in its
    thread alone. Its exception is raised by the function, or at the end of ``with`` unless there is another one.

    >>> found = []
    >>> with in_background(lambda: found.append(1)) as wait:
    ...     wait()
    >>> found
    [1]
    """
    future: Future[None] = Future()
    pool = _pool

    def run() -> None:
        pool.inside.block = True
        counted = 0 if _takes_what_others_leave() else 1
        pool.count_background(counted)
        try:
            with _blas.one_thread():  # as in the pool: two threads would round differently
                task()
            error = None
        except BaseException as raised:  # whoever waits raises it
            error = raised
        pool.count_background(-counted)
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

    def wait() -> None:
        error = _outcome(future)
        if error is not None:
            raise error

    thread = threading.Thread(target=partial(copy_context().run, run), name="mercer-background", daemon=True)
    thread.start()
    try:
        yield wait
    except BaseException:
        thread.join()
        raise
    wait()


def _takes_what_others_leave() -> bool:
    """Give this thread, for good, the lowest priority; return whether the system has one per thread."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOWEST_PRIORITY)
    except OSError:
        return False
    return True


def in_turns(turns: Iterable[Sequence[Callable[[], object]]]) -> None:
    """Call the tasks of each turn on the pool's threads, each turn after the one before it.

    The tasks of a turn must be independent. All turns are handed to the pool at once. A thread that is early sleeps
    until the previous turn has ended: to wake a thread costs a fraction of a new submission to the pool, so that turns
    may be short. Threads take tasks in order, so a task that others wait for is always running, even in a busy pool.
    """
    ended, failed = 0, False
    change = threading.Condition()

    def numbered() -> Iterator[tuple[int, Callable[[], object]]]:
        n_before = 0
        for turn in turns:
            for task in turn:
                yield n_before, task
            n_before += len(turn)

    def run(numbered_task: tuple[int, Callable[[], object]]) -> None:
        nonlocal ended, failed
        n_before, task = numbered_task
        with change:
            change.wait_for(lambda: failed or ended >= n_before)
            if failed:
                return
        try:
            task()
        except BaseException:
            with change:
                failed = True
                change.notify_all()
            raise
        with change:
            ended += 1
            change.notify_all()

    for_each_block(run, numbered())


def _outcome(future: Future[None]) -> BaseException | None:
    """Wait for a future in short intervals: a thread that sleeps without a timeout would not see a Ctrl-C."""
    while True:
        try:
            return future.exception(timeout=0.2)
        except TimeoutError:
            continue


def _run_on_pool(work: Callable[[T], object], blocks: Iterable[T], n_threads: int) -> None:
    todo = iter(blocks)
    lock = threading.Lock()
    failed = threading.Event()
    pool = _pool

    def worker() -> None:
        pool.inside.block = True
        try:
            while not failed.is_set():
                with lock:
                    if failed.is_set():
                        return
                    try:
                        block = next(todo)
                    except StopIteration:
                        return
                work(block)
        except BaseException:
            failed.set()
            raise
        finally:
            pool.inside.block = False

    with _blas.one_thread():
        # Each thread gets a copy of the caller's context: configuration and NumPy's error state hold inside the blocks.
        futures = [pool.submit(n_threads, partial(copy_context().run, worker)) for _ in range(n_threads)]
        try:
            errors = [_outcome(future) for future in futures]
        except BaseException:  # Ctrl-C in the waiting thread: let the workers stop at their next block
            failed.set()
            raise
    for error in errors:
        if error is not None:
            raise error
