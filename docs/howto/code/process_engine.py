"""An engine on the processes of ``concurrent.futures``: what a new engine must do, and nothing more."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import cloudpickle

from mercer.config import Config, get_config
from mercer.data import Blocks
from mercer.engines.tasks import (
    parts_of,
    results_of_part,
    state_after_part,
    total_of_part,
)
from mercer.engines.tree import fold_parts, merged


class Processes:
    """Works on parts of the rows in the processes of an executor, and merges their statistics here.

    Parameters
    ----------
    executor : concurrent.futures.ProcessPoolExecutor
    """

    shares_memory = False

    def __init__(self, executor: Executor):
        self.executor = executor

    def map(
        self, work: Any, blocks: Blocks, done: Callable[[int], None] | None = None
    ) -> Iterator[Any]:
        """Yield ``work(block)`` for each block, in order."""
        for results in self._parts(results_of_part, work, blocks, done):
            yield from results

    def reduce(
        self,
        work: Any,
        blocks: Blocks,
        into: Any,
        done: Callable[[int], None] | None = None,
    ) -> Any:
        """Merge ``work(block)`` of all blocks into ``into``, by the fixed tree."""
        totals = [
            total
            for total in self._parts(total_of_part, work, blocks, done)
            if total is not None
        ]
        return into.merge(fold_parts(totals, merged))

    def chain(
        self,
        work: Any,
        blocks: Blocks,
        state: Any,
        done: Callable[[int], None] | None = None,
    ) -> Iterator[Any]:
        """Yield the state after each part: the state travels, and the rows stay."""
        sent, config = cloudpickle.dumps((state_after_part, work)), _config()
        for part in parts_of(blocks.owner, blocks):
            state = self.executor.submit(_run, sent, part, config, None, state).result()
            if done is not None:
                done(part.n_rows or 0)
            yield state

    def _parts(
        self, task: Any, work: Any, blocks: Blocks, done: Callable[[int], None] | None
    ) -> Iterator[Any]:
        config = _config()
        parts = parts_of(blocks.owner, blocks)
        sent = cloudpickle.dumps(
            (task, work)
        )  # plain pickle does not take functions within functions
        futures = [self.executor.submit(_run, sent, part, config) for part in parts]
        try:
            for part, future in zip(parts, futures, strict=True):
                yield future.result()
                if done is not None:
                    done(part.n_rows or 0)
        finally:
            for future in futures:
                future.cancel()


def _config() -> Config:
    return replace(get_config(), engine=None)  # the engine does not travel


def _run(sent: bytes, part: Blocks, config: Config, *more: Any) -> Any:
    task, work = cloudpickle.loads(sent)
    return task(work, part, config, *more)
