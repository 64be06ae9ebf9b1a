"""The engine of one machine: mercer's thread pool."""

import threading
from collections.abc import Callable, Iterator
from typing import Generic

from mercer.config import get_config
from mercer.data import Block, Blocks
from mercer.engines.base import S, T
from mercer.engines.tree import Tree
from mercer.parallel import for_each_block


class Local:
    """An engine on the threads of ``config_context(threads=...)``, with BLAS held to one thread.

    One thread at a time reads a block; all threads check blocks and work on them. One block per thread is in work and
    as many results wait, whatever the number of rows. Results are merged in the order of the blocks, by ``Tree``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data import as_blocks
    >>> from mercer.engines import Local
    >>> list(Local().map(lambda block: float(block.X.sum()), as_blocks(np.eye(5), block_rows=2)))
    [2.0, 2.0, 1.0]
    """

    shares_memory = True

    def map(self, work: Callable[[Block], T], blocks: Blocks) -> Iterator[T]:
        """Yield ``work(block)`` for each block, in order: a few blocks per thread at a time."""
        at_once = 4 * get_config().threads
        rows = blocks.labelled(finite=False)
        while group := [block for _, block in zip(range(at_once), rows, strict=False)]:
            results: dict[int, T] = {}

            def store(numbered: tuple[int, Block], results: dict[int, T] = results) -> None:
                results[numbered[0]] = work(blocks.check_finite(numbered[1]))

            for_each_block(store, list(enumerate(group)))
            yield from (results[number] for number in range(len(group)))

    def reduce(self, work: Callable[[Block], S], blocks: Blocks, into: S) -> S:
        """Merge ``work(block)`` of all blocks into ``into``, by the tree of the blocks' numbers, and return it."""
        turns = _Turns(Tree(into))

        def merge(numbered: tuple[int, Block]) -> None:
            number, block = numbered
            try:
                turns.add(number, work(blocks.check_finite(block)))
            except BaseException:
                turns.give_up()
                raise

        for_each_block(merge, enumerate(blocks.labelled(finite=False)))
        return turns.tree.close()

    def for_each(self, work: Callable[[Block], object], blocks: Blocks) -> None:
        """Call ``work(block)`` for each block, begun in the order of the blocks."""
        for_each_block(lambda block: work(blocks.check_finite(block)), blocks.labelled(finite=False))


class _Turns(Generic[S]):
    """Hand results to a tree in the order of their numbers; a thread that is early waits for its turn."""

    def __init__(self, tree: Tree[S]) -> None:
        self.tree = tree
        self._next = 0
        self._failed = False
        self._turn = threading.Condition()

    def add(self, number: int, part: S) -> None:
        with self._turn:
            self._turn.wait_for(lambda: self._failed or self._next == number)
            if self._failed:
                return
            self.tree.add(part)
            self._next += 1
            self._turn.notify_all()

    def give_up(self) -> None:
        """Release the threads that wait: the block before theirs will not come."""
        with self._turn:
            self._failed = True
            self._turn.notify_all()
