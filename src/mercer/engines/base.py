"""The verbs of an engine."""

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from mercer._typing import Array
from mercer.data import Block, Blocks
from mercer.stats import Stacked, Statistic

S = TypeVar("S", bound=Statistic)
T = TypeVar("T")


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

    def map(self, work: Callable[[Block], T], blocks: Blocks) -> Iterator[T]:
        """Yield ``work(block)`` for each block, in order."""

    def reduce(self, work: Callable[[Block], S], blocks: Blocks, into: S) -> S:
        """Merge ``work(block)`` of all blocks into ``into`` by the tree of ``engines.tree``, and return it.

        ``work`` returns a new statistic for each block: the engine may merge others into it.
        """

    def for_each(self, work: Callable[[Block], object], blocks: Blocks) -> None:
        """Call ``work(block)`` for each block, in any order, for what it writes into shared memory."""


def rows_of(engine: Engine, work: Callable[[Block], Array], blocks: Blocks) -> Array:
    """Return the rows ``work(block)`` of all blocks as one array, in the order of the blocks."""
    return engine.reduce(lambda block: Stacked().update(work(block)), blocks, Stacked()).rows()
