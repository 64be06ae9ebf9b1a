"""The verbs of an engine."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar, runtime_checkable

from mercer._typing import Array
from mercer.data import Block, Blocks
from mercer.stats import Stacked, Statistic

S = TypeVar("S", bound=Statistic)
T = TypeVar("T")
# Is told how many more rows have been worked on, from any thread.
Done = Callable[[int], None]


class Engine(Protocol):
    """What a fit asks of an engine, on one machine or on many.

    The work on a block depends on the block alone. Merges follow an order that depends on the number of blocks alone,
    so that the result does not depend on the number of workers.

    Attributes
    ----------
    shares_memory : bool
        Whether work may write into arrays of this process. If not, it may only return results.
    """

    shares_memory: bool

    def map(self, work: Callable[[Block], T], blocks: Blocks, done: Done | None = None) -> Iterator[T]:
        """Yield ``work(block)`` for each block, in order; ``done`` is told how many rows have ended."""

    def reduce(self, work: Callable[[Block], S], blocks: Blocks, into: S, done: Done | None = None) -> S:
        """Merge ``work(block)`` of all blocks into ``into`` by the tree of ``engines.tree``, and return it.

        ``work`` returns a new statistic for each block: the engine may merge others into it.
        """

    def chain(self, work: Callable[[T, Block], T], blocks: Blocks, state: T, done: Done | None = None) -> Iterator[T]:
        """Go through the blocks one after the other, ``state = work(state, block)``, and yield states on the way.

        The state travels, and the rows stay. The last state that is yielded is that after all blocks.
        """

    def for_each(self, work: Callable[[Block], object], blocks: Blocks, done: Done | None = None) -> None:
        """Call ``work(block)`` for each block, in any order, for what it writes into shared memory."""


class PassKeeper(Protocol):
    """Keeps how far a pass is, so that another process can go on."""

    @property
    def value(self) -> Any:
        """``{"n_rows": ..., "tree": ...}`` of a pass that was interrupted, else None."""

    def passed(self, n_rows: int, state: Callable[[], dict[str, Any]]) -> None:
        """Say that the first ``n_rows`` rows are done, and how to get the state after them."""


@runtime_checkable
class ResumingEngine(Protocol):
    """An engine whose passes can go on from the middle."""

    def resume(self, work: Callable[[Block], S], blocks: Blocks, into: S, done: Done | None, keeper: PassKeeper) -> S:
        """Do what ``reduce`` does, from the rows that ``keeper`` knows to be done, with the same bits."""


def rows_of(engine: Engine, work: Callable[[Block], Array], blocks: Blocks) -> Array:
    """Return the rows ``work(block)`` of all blocks as one array, in the order of the blocks."""
    return engine.reduce(lambda block: Stacked().update(work(block)), blocks, Stacked()).rows()
