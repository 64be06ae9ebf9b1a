"""An engine on the processes of ``concurrent.futures``."""

from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

from mercer.data import Blocks
from mercer.engines import tasks
from mercer.engines.tree import fold_parts, merged


class Processes:
    """Works on parts of the rows in other processes, and merges statistics here.

    Parameters
    ----------
    executor : concurrent.futures.ProcessPoolExecutor
    """

    shares_memory = False

    def __init__(self, executor: Executor):
        self.executor = executor

    def map(self, work: Any, blocks: Blocks, done: Any = None) -> Iterator[Any]:
        """Yield ``work(block)`` for each block, in order."""
        for results in self._parts(tasks.results_of_part, work, blocks, done):
            yield from results

    def reduce(self, work: Any, blocks: Blocks, into: Any, done: Any = None) -> Any:
        """Merge ``work(block)`` of all blocks into ``into``, by the fixed tree."""
        totals = self._parts(tasks.total_of_part, work, blocks, done)
        return into.merge(fold_parts([t for t in totals if t is not None], merged))

    def chain(self, work: Any, blocks: Blocks, state: Any, done: Any = None) -> Any:
        """Yield the state after each part: the state travels, and the rows stay."""
        errand = tasks.Errand(tasks.state_after_part, work)
        for part in tasks.parts_of(blocks.owner, blocks):
            state = self.executor.submit(errand, part, None, state).result()
            if done is not None:
                done(part.n_rows)
            yield state

    def _parts(self, task: Any, work: Any, blocks: Blocks, done: Any) -> Iterator[Any]:
        """Yield the results of all parts, in order."""
        parts, errand = tasks.parts_of(blocks.owner, blocks), tasks.Errand(task, work)
        futures = [self.executor.submit(errand, part) for part in parts]
        try:
            for part, future in zip(parts, futures, strict=True):
                yield future.result()
                if done is not None:
                    done(part.n_rows)
        finally:  # an error, or Ctrl-C: nothing more is begun
            for future in futures:
                future.cancel()
