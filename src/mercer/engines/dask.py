"""The engine of a Dask cluster: tasks with a lineage, no state on workers, merges by the fixed tree."""

import functools
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

import numpy as np

from mercer import core
from mercer.config import Config, get_config
from mercer.data import Block, Blocks
from mercer.data.sources.collections import Bundle, DaskSource, Delayed, Future
from mercer.engines.base import Done, S, T
from mercer.engines.tasks import n_bytes, parts_of, results_of_part, state_after_part, total_of_part
from mercer.engines.tree import fold_parts, merged

R = TypeVar("R")
# Seconds between two looks at the cluster.
_LOOK = 0.5
# Share of the memory of all workers that partitions may take between passes; beyond it, each pass reads them again.
_KEPT_SHARE = 0.6
# Tasks of ``map`` that are ahead of the caller.
_AHEAD = 8
# Statistics from this size on are merged two at a time: a task that merges 16 would need memory for 17 of them.
_LARGE = 2**20
# Share of a worker's memory that its tasks may take: a statistic of a part, that of a block, and a block of features.
_TASK_SHARE, _BLOCK_BYTES = 0.6, 2**26


class Task(Protocol):
    """What is used of a task in the scheduler of Dask."""

    suspicious: int


class Scheduler(Protocol):
    """What is used of the scheduler of Dask."""

    tasks: dict[str, Task]
    allowed_failures: int


class Client(Protocol):
    """What is used of a client of Dask."""

    def submit(self, work: Callable[..., T], *args: object, pure: bool) -> Future[T]:
        """Let a worker call a function; futures among its arguments become their values there."""

    def compute(self, value: Delayed) -> Future[Bundle]:
        """Let a worker compute a delayed value."""

    def run(self, work: Callable[[], T], *, workers: list[str], on_error: str) -> dict[str, T]:
        """Call a function on workers, and return the results by their names."""

    def run_on_scheduler(self, work: Callable[[list[str], Scheduler], T], keys: list[str]) -> T:
        """Call a function in the scheduler, which Dask gives it by the name ``dask_scheduler``."""

    def scheduler_info(self, *, n_workers: int) -> dict[str, dict[str, dict[str, int]]]:
        """Return what the scheduler knows; under "workers", numbers of each worker by its name."""

    def wait_for_workers(self, n_workers: int, timeout: float) -> None:
        """Wait until there are workers."""

    def cancel(self, futures: "list[Future[object]]", *, force: bool) -> None:
        """Let the cluster forget tasks."""


class Dask:
    """An engine on the workers of a Dask cluster, one thread per task.

    Each pass sends its work once, as a task that all others depend on. A task works on a part of the rows and returns a
    statistic; tasks merge statistics 16 at a time, and the total comes back. Rows and features stay on the workers.
    Nothing is pinned to a worker: what a lost worker held is computed again. Merges follow the tree of ``Local``, so
    that a fit has the same bits on any number of workers.

    Parameters
    ----------
    client : dask.distributed.Client
    patience : float, default=60
        Seconds to wait for a first or a new worker.

    Examples
    --------
    .. code-block:: python
        :class: not-run

        import mercer
        from dask.distributed import Client
        from mercer import KernelRidge, as_blocks

        with mercer.config_context(engine=mercer.engines.Dask(Client("scheduler:8786"))):
            model = KernelRidge(n_components=4096).fit(as_blocks("rows/", target="label"))
    """

    shares_memory = False

    def __init__(self, client: Client, *, patience: float = 60.0):
        self.client, self.patience = client, patience
        self._known: set[str] = set()  # workers whose version was looked at
        self._machines = {_versions()[1]: "this process"}  # what rounding depends on, and where it was seen first
        self._warned = False

    def map(self, work: Callable[[Block], T], blocks: Blocks, done: Done | None = None) -> Iterator[T]:
        """Yield ``work(block)`` for each block, in order; a few parts are ahead of the caller."""
        with self._pass(results_of_part, work, blocks) as submit:
            waiting: list[tuple[Future[list[T]], int]] = []
            todo = iter(submit.parts)
            while True:
                while len(waiting) < _AHEAD and (numbered := next(todo, None)) is not None:
                    waiting.append((submit(*numbered), numbered[1].n_rows or 0))
                if not waiting:
                    return
                future, n_rows = waiting.pop(0)
                yield from self._result(future, None, submit)
                if done is not None:
                    done(n_rows)

    def reduce(self, work: Callable[[Block], S], blocks: Blocks, into: S, done: Done | None = None) -> S:
        """Merge ``work(block)`` of all blocks into ``into`` by the tree of the blocks' numbers, and return it."""
        size = n_bytes(into)
        self._check_memory(blocks.owner, size)
        with self._pass(total_of_part, work, blocks) as submit:

            def fold(few: Sequence[Future[S | None]]) -> Future[S | None]:
                if size < _LARGE:
                    return submit.keep(self.client.submit(_merged, *few, pure=False))
                return functools.reduce(lambda a, b: submit.keep(self.client.submit(_merged, a, b, pure=False)), few)

            root = fold_parts([submit(*numbered) for numbered in submit.parts], fold)
            total = self._result(root, done, submit)
            return into if total is None else into.merge(total)

    def chain(self, work: Callable[[T, Block], T], blocks: Blocks, state: T, done: Done | None = None) -> Iterator[T]:
        """Yield the state after each part; it comes back in between, so that a lost worker costs one part."""
        with self._pass(state_after_part, work, blocks) as submit:
            for number, part in submit.parts:
                future = submit(number, part, state)
                state = self._result(future, None, submit)
                if done is not None:
                    done(part.n_rows or 0)
                yield state

    def for_each(self, work: Callable[[Block], object], blocks: Blocks, done: Done | None = None) -> None:
        """Refuse: workers do not share the memory of this process."""
        raise NotImplementedError("Dask: workers do not share memory; use map or reduce.")

    @contextmanager
    def _pass(self, task: Callable[..., R], work: Callable[..., object], blocks: Blocks) -> "Iterator[_Submit[R]]":
        """Send the work, and cancel what is left of the tasks at the end, whatever the end."""
        parts = parts_of(blocks.owner, blocks)
        self._check_workers(blocks.owner)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")  # the map travels once per pass
            submit = _Submit(self.client, task, work, parts, self._loads(blocks))
            try:
                yield submit
            finally:
                submit.release()

    def _loads(self, blocks: Blocks) -> Callable[[int], Future[Bundle] | None]:
        """Return the function from a number to the future of a partition; None for other sources.

        Partitions are kept between passes if they fit. Otherwise a future lives until the task that needs it has been
        submitted: the partition is then computed just before that task, and forgotten after it.
        """
        source = blocks.reader
        if not isinstance(source, DaskSource):
            return lambda number: None
        if source.kept is None and self._can_keep(source):
            source.kept = [self._load(source, number) for number in range(len(source.loads))]
        kept = source.kept
        return (lambda number: self._load(source, number)) if kept is None else kept.__getitem__

    def _load(self, source: DaskSource, number: int) -> Future[Bundle]:
        """Return the future of a partition.

        On purpose without ``workers=``: if all workers are lost at once, tasks that name workers wait for ever, even
        with ``allow_other_workers``, because Dask does not offer them to workers that come later.
        """
        return self.client.compute(source.loads[number])

    def _can_keep(self, source: DaskSource) -> bool:
        limits = [worker["memory_limit"] or np.inf for worker in self._workers().values()]
        row_bytes = source.width * source.dtype.itemsize + 16
        return (source.n_rows or 0) * row_bytes <= _KEPT_SHARE * sum(limits)

    def _check_memory(self, owner: str, size: int) -> None:
        """Refuse statistics for which no worker has memory, before the first task."""
        workers = self._workers().values()
        if not workers:
            return
        rooms = [(worker["memory_limit"] or np.inf, worker["nthreads"]) for worker in workers]
        limit, threads = max(rooms, key=lambda room: room[0] / room[1])
        needed = threads * (2 * size + _BLOCK_BYTES)
        if size >= _LARGE and needed > _TASK_SHARE * limit:
            raise MemoryError(
                f"{owner}: a worker with {threads} threads needs {needed / 2**20:.0f} MiB for statistics of "
                f"{size / 2**20:.0f} MiB, and may use {_TASK_SHARE * limit / 2**20:.0f} MiB, 60 % of its memory limit. "
                "Lower n_components, start workers with fewer threads, or give them more memory."
            )

    def _workers(self) -> dict[str, dict[str, int]]:
        return self.client.scheduler_info(n_workers=-1)["workers"]

    def _check_workers(self, owner: str) -> None:
        """Wait for a worker, and refuse workers with another version of mercer."""
        from mercer import __version__  # noqa: PLC0415 - known once mercer is imported

        if not self._workers():
            try:
                self.client.wait_for_workers(1, timeout=self.patience)
            except Exception as error:
                raise self._nobody(owner) from error
        new = [name for name in self._workers() if name not in self._known]
        if new:
            for name, (version, machine) in self.client.run(_versions, workers=new, on_error="ignore").items():
                if version != __version__:
                    raise RuntimeError(
                        f"{owner}: worker {name} has mercer {version}, and this process has {__version__}. Install the "
                        "same version on all workers."
                    )
                self._known.add(name)
                self._machines.setdefault(machine, name)
            self._warn_of_machines(owner)

    def _warn_of_machines(self, owner: str) -> None:
        """Warn once that workers round differently."""
        if len(self._machines) > 1 and not self._warned:
            self._warned = True
            found = "; ".join(f"{name}: {machine}" for machine, name in self._machines.items())
            warnings.warn(
                f"{owner}: the workers differ ({found}), so that results are equal to rounding only, not bit for bit.",
                stacklevel=2,
            )

    def _nobody(self, owner: str) -> RuntimeError:
        return RuntimeError(
            f"{owner}: the cluster has no worker for {self.patience:g} s. Start workers, and fit again; or give "
            "Dask(client, patience=...) more time."
        )

    def _result(self, future: Future[R], done: Done | None, submit: "_Submit[R]") -> R:
        """Wait for a future; tell ``done`` of the rows of the parts that have ended, and give up without workers."""
        from distributed import TimeoutError as LateError  # noqa: PLC0415 - optional
        from distributed import wait  # noqa: PLC0415
        from distributed.scheduler import KilledWorker  # noqa: PLC0415

        last_seen = time.monotonic()
        while True:
            with suppress(LateError, TimeoutError):
                wait([future], timeout=_LOOK)
            if done is not None and (n_rows := submit.new_rows()):
                done(n_rows)
            if future.status in ("finished", "error", "cancelled", "lost"):
                break
            if self._workers():
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > self.patience:
                raise self._nobody(submit.parts[0][1].owner)
        try:
            return future.result()
        except KilledWorker as error:
            rows = submit.suspects(error.task)
            raise RuntimeError(
                f"{submit.parts[0][1].owner}: {rows} ended every worker that took them: {error}. "
                "Look at the log of a worker; give workers more memory, or lower n_components."
            ) from None


class _Submit(Generic[R]):
    """Submits the tasks of one pass, and releases them at its end."""

    def __init__(
        self,
        client: Client,
        task: Callable[..., R],
        work: Callable[..., object],
        parts: list[Blocks],
        load: Callable[[int], Future[Bundle] | None],
    ) -> None:
        self._client, self._task, self._load = client, task, load
        self.parts = list(enumerate(parts))
        self._config = replace(get_config(), engine=None)  # the engine does not travel
        self._futures: list[weakref.ref[Future[object]]] = []
        self._ended: deque[int] = deque()  # the rows of parts, from the threads of the client
        self._rows: dict[str, str] = {}  # of the keys of tasks, for errors
        self._sent = self.keep(client.submit(_same, _pickled(work), pure=False))

    def __call__(self, number: int, part: Blocks, *more: object) -> Future[R]:
        bundle = self._load(number)
        future: Future[R] = self._client.submit(
            _run, self._task, self._sent, part, self._config, bundle, *map(_pickled, more), pure=False
        )
        rows = f"rows {part.first_row} to {part.first_row + (part.n_rows or 0) - 1}"
        for key in (future.key, getattr(bundle, "key", future.key)):
            self._rows[key] = f"{rows} ({part.place} of X)" if part.place else rows
        n_rows, ended = part.n_rows or 0, self._ended
        future.add_done_callback(lambda one: ended.append(n_rows if one.status == "finished" else 0))
        return self.keep(future)

    def suspects(self, key: str) -> str:
        """Return the rows of the task ``key`` and of all others that were with as many lost workers.

        Dask reports one of them; it may be the one that waited behind the rows that end workers.
        """
        found = {key, *self._client.run_on_scheduler(_blamed, list(self._rows))}
        named = dict.fromkeys(rows for one, rows in self._rows.items() if one in found)
        return " or ".join(named) or "merged statistics"

    def keep(self, future: Future[T]) -> Future[T]:
        """Remember a task for the end of the pass, but let the cluster forget its result when nothing needs it."""
        self._futures.append(weakref.ref(future))
        return future

    def new_rows(self) -> int:
        """Return the rows of the parts that have ended since the last call."""
        n_rows = 0
        with suppress(IndexError):
            while True:
                n_rows += self._ended.popleft()
        return n_rows

    def release(self) -> None:
        """Cancel what has not ended."""
        found = [future for reference in self._futures if (future := reference()) is not None]
        left = [future for future in found if future.status == "pending"]
        if left:
            self._client.cancel(left, force=True)
        self._futures.clear()


def _pickled(value: object) -> bytes:
    import cloudpickle  # noqa: PLC0415 - optional, comes with Dask

    sent: bytes = cloudpickle.dumps(value)
    return sent


def _same(value: bytes) -> bytes:
    return value


def _run(task: Callable[..., R], sent: bytes, part: Blocks, config: Config, bundle: Bundle | None, *more: bytes) -> R:
    import cloudpickle  # noqa: PLC0415 - optional, comes with Dask

    return task(cloudpickle.loads(sent), part, config, bundle, *map(cloudpickle.loads, more))


def _merged(*parts: S | None) -> S | None:
    return merged([part for part in parts if part is not None])


def _blamed(keys: list[str], dask_scheduler: Scheduler) -> list[str]:
    """Return the tasks that Dask gave up because their workers were lost; runs in the scheduler."""
    tasks, allowed = dask_scheduler.tasks, dask_scheduler.allowed_failures
    return [key for key in keys if key in tasks and tasks[key].suspicious > allowed]


def _versions() -> tuple[str, str]:
    """Return the version of mercer, and what rounding depends on."""
    from mercer import __version__  # noqa: PLC0415

    return __version__, f"{core.simd_level()}, NumPy {np.__version__}"
