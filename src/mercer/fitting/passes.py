"""Passes over blocks of rows: on an engine, with progress, and with row numbers in errors."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Generic

from mercer.checkpoints import CheckpointError, LoopState, PassRecord, Recorder, recording
from mercer.config import get_config
from mercer.data import Block, Blocks
from mercer.engines import Engine, Local
from mercer.engines.base import Done, ResumingEngine, S, T
from mercer.fitting.progress import progress
from mercer.validation import rows_from


@dataclass(frozen=True)
class Passes:
    """The verbs of an engine, with progress shown; errors number rows from the first row of the data.

    Parameters
    ----------
    owner : str
        The name that progress and errors begin with.
    engine : Engine
        Threads of this process by default.
    verbose : int
        1 shows the progress of each pass.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data import as_blocks
    >>> from mercer.fitting import Passes
    >>> blocks = as_blocks(np.ones((5, 2)), block_rows=2)
    >>> list(Passes("KernelRidge").map("sums", lambda block: float(block.X.sum()), blocks))
    [4.0, 4.0, 2.0]
    """

    owner: str
    engine: Engine = field(default_factory=Local)
    verbose: int = 0

    def reduce(self, title: str, work: Callable[[Block], S], blocks: Blocks, into: S, *, writes: bool = False) -> S:
        """Merge ``work(block)`` of all blocks into ``into``, in their order, and return it.

        With a checkpoint, the result is recorded, and a pass that was interrupted goes on from the middle. ``writes``
        says that the work also writes into shared memory: its results are then made again.
        """
        recorder = recording()
        with self._progress(title, blocks) as done:
            if recorder is None or writes or not recorder.holds(into):
                return self.engine.reduce(_stopping(recorder, Numbered(work)), blocks, into, done)
            return _recorded(recorder, self.engine, title, Numbered(work), blocks, into, done)

    def map(self, title: str, work: Callable[[Block], T], blocks: Blocks) -> Iterator[T]:
        """Yield ``work(block)`` for each block, in order."""
        with self._progress(title, blocks) as done:
            yield from self.engine.map(Numbered(work), blocks, done)

    def for_each(self, title: str, work: Callable[[Block], object], blocks: Blocks) -> None:
        """Call ``work(block)`` for each block, in any order."""
        with self._progress(title, blocks) as done:
            self.engine.for_each(_stopping(recording(), Numbered(work)), blocks, done)

    def _progress(self, title: str, blocks: Blocks) -> AbstractContextManager[Done | None]:
        return progress(f"{self.owner}: {title}", blocks.n_rows, self.verbose)


@dataclass(frozen=True)
class Numbered(Generic[T]):
    """Work on blocks whose errors number rows from the start of the data. It travels if the work does."""

    work: Callable[[Block], T]

    def __call__(self, block: Block) -> T:
        """Return the work on a block."""
        with rows_from(block.first_row):
            return self.work(block)


def _recorded(
    recorder: Recorder,
    engine: Engine,
    title: str,
    work: Callable[[Block], S],
    blocks: Blocks,
    into: S,
    done: Done | None,
) -> S:
    """Return the recorded result of a pass in ``into``, else the result of the pass, which is recorded."""
    record = recorder.begin_pass(title)
    cut = blocks.block_rows or get_config().block_rows
    if record.value is not None and record.value["block_rows"] != cut:
        raise CheckpointError(
            f"{blocks.owner}: the checkpoint has blocks of {record.value['block_rows']} rows and this fit has blocks "
            f"of {cut}. Set block_rows and memory as they were, or delete the checkpoint to begin again."
        )
    if record.is_done:
        blocks.count(record.value["n_rows"])
        vars(into).update(vars(record.value["statistic"]))
        return into
    if isinstance(engine, ResumingEngine):
        total = engine.resume(work, blocks, into, done, _Cut(record, cut))
    else:
        total = engine.reduce(_stopping(recorder, work), blocks, into, done)
    record.end({"n_rows": blocks.n_rows, "block_rows": cut, "statistic": total})
    recorder.save_if_due()
    return total


@dataclass(frozen=True)
class _Cut:
    """The record of a pass, with the size of its blocks."""

    record: PassRecord
    block_rows: int

    @property
    def value(self) -> LoopState | None:
        state: LoopState | None = self.record.value
        return state

    def passed(self, n_rows: int, state: Callable[[], LoopState]) -> None:
        self.record.passed(n_rows, lambda: {**state(), "block_rows": self.block_rows})


def _stopping(recorder: Recorder | None, work: Callable[[Block], T]) -> Callable[[Block], T]:
    """Return work that ends between two blocks where a signal has asked the fit to stop."""
    if recorder is None:
        return work

    def stopping(block: Block) -> T:
        recorder.stop_here()
        return work(block)

    return stopping
