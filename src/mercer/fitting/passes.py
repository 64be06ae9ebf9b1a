"""Passes over blocks of rows: on an engine, with progress, and with row numbers in errors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mercer.data import Block, Blocks
from mercer.engines import Engine, Local
from mercer.engines.base import S, T
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

    def reduce(self, title: str, work: Callable[[Block], S], blocks: Blocks, into: S) -> S:
        """Merge ``work(block)`` of all blocks into ``into``, in their order, and return it."""
        with self._watched(title, work, blocks) as watched:
            return self.engine.reduce(watched, blocks, into)

    def map(self, title: str, work: Callable[[Block], T], blocks: Blocks) -> Iterator[T]:
        """Yield ``work(block)`` for each block, in order."""
        with self._watched(title, work, blocks) as watched:
            yield from self.engine.map(watched, blocks)

    def for_each(self, title: str, work: Callable[[Block], object], blocks: Blocks) -> None:
        """Call ``work(block)`` for each block, in any order."""
        with self._watched(title, work, blocks) as watched:
            self.engine.for_each(watched, blocks)

    @contextmanager
    def _watched(self, title: str, work: Callable[[Block], T], blocks: Blocks) -> Iterator[Callable[[Block], T]]:
        """Wrap ``work``: report progress, and number rows from the start of the data in errors."""
        with progress(f"{self.owner}: {title}", blocks.n_rows, self.verbose) as advance:

            def watched(block: Block) -> T:
                with rows_from(block.first_row):
                    part = work(block)
                if advance is not None:
                    advance(block.n_rows)
                return part

            yield watched
