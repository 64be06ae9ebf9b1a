"""The engine of one machine: mercer's thread pool."""

import threading
from collections.abc import Callable, Iterator
from typing import Generic

from mercer.config import get_config
from mercer.data import Block, Blocks
from mercer.engines.base import Done, PassKeeper, S, T
from mercer.engines.tree import PartTree, Tree
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

    def map(self, work: Callable[[Block], T], blocks: Blocks, done: Done | None = None) -> Iterator[T]:
        """Yield ``work(block)`` for each block, in order: a few blocks per thread at a time."""
        at_once = 4 * get_config().threads
        work = _checked(work, blocks, done)
        rows = blocks.labelled(finite=False)
        while group := [block for _, block in zip(range(at_once), rows, strict=False)]:
            results: dict[int, T] = {}

            def store(numbered: tuple[int, Block], results: dict[int, T] = results) -> None:
                results[numbered[0]] = work(numbered[1])

            for_each_block(store, list(enumerate(group)))
            yield from (results[number] for number in range(len(group)))

    def reduce(self, work: Callable[[Block], S], blocks: Blocks, into: S, done: Done | None = None) -> S:
        """Merge ``work(block)`` of all blocks into ``into``, by the tree of the blocks' numbers, and return it."""
        return self._tree(work, blocks, into, done).close()

    def resume(self, work: Callable[[Block], S], blocks: Blocks, into: S, done: Done | None, keeper: PassKeeper) -> S:
        """Do what ``reduce`` does, from the rows that ``keeper`` knows to be done; it is told of the rows that follow.

        The result has the bits of ``reduce``: the tree goes on by the numbers of the blocks.
        """
        before, left = keeper.value, blocks
        tree: Tree[S] = Tree(into) if blocks.plan is None else PartTree(into)
        if before is not None:
            tree.restore(before["tree"])
            left = blocks.after(before["n_rows"])
            if done is not None:
                done(before["n_rows"])
        if left.n_rows != 0:

            def added(block: Block) -> None:
                n_rows = _end(blocks, block)
                keeper.passed(n_rows, lambda: {"n_rows": n_rows, "tree": tree.state})

            self._fill(tree, work, left, done, added)
        if left.n_rows is not None:
            blocks.count(_end(blocks, left))
        return tree.close()

    def total(self, work: Callable[[Block], S], blocks: Blocks) -> S | None:
        """Return the merged ``work(block)`` of all blocks, for an engine that merges parts; None without blocks."""
        return self._tree(work, blocks, None, None).total()

    def _tree(self, work: Callable[[Block], S], blocks: Blocks, into: S | None, done: Done | None) -> Tree[S]:
        tree: Tree[S] = Tree(into) if blocks.plan is None else PartTree(into)
        self._fill(tree, work, blocks, done, None)
        return tree

    @staticmethod
    def _fill(
        tree: Tree[S],
        work: Callable[[Block], S],
        blocks: Blocks,
        done: Done | None,
        added: Callable[[Block], None] | None,
    ) -> None:
        """Add the work on all blocks to a tree; ``added`` is told of each block, one at a time and in order."""
        turns = _Turns(tree)
        work = _checked(work, blocks, done)

        def merge(numbered: tuple[int, Block]) -> None:
            number, block = numbered
            try:
                turns.add(number, work(block), blocks, block, added)
            except BaseException:
                turns.give_up()
                raise

        for_each_block(merge, enumerate(blocks.labelled(finite=False)))

    def chain(self, work: Callable[[T, Block], T], blocks: Blocks, state: T, done: Done | None = None) -> Iterator[T]:
        """Yield the state after each block."""
        for block in blocks.labelled():
            state = work(state, block)
            if done is not None:
                done(block.n_rows)
            yield state

    def for_each(self, work: Callable[[Block], object], blocks: Blocks, done: Done | None = None) -> None:
        """Call ``work(block)`` for each block, begun in the order of the blocks."""
        for_each_block(_checked(work, blocks, done), blocks.labelled(finite=False))


def _checked(work: Callable[[Block], T], blocks: Blocks, done: Done | None) -> Callable[[Block], T]:
    """Return ``work`` of blocks whose entries are finite; ``done`` is told the rows of each."""

    def checked(block: Block) -> T:
        found = work(blocks.check_finite(block))
        if done is not None:
            done(block.n_rows)
        return found

    return checked


def _end(blocks: Blocks, part: Block | Blocks) -> int:
    """Return how many of the rows of ``blocks`` end with a part of them."""
    return part.first_row - blocks.first_row + (part.n_rows or 0)


class _Turns(Generic[S]):
    """Hand results to a tree in the order of their numbers; a thread that is early waits for its turn."""

    def __init__(self, tree: Tree[S]) -> None:
        self._tree = tree
        self._next = 0
        self._failed = False
        self._turn = threading.Condition()

    def add(self, number: int, part: S, blocks: Blocks, block: Block, added: Callable[[Block], None] | None) -> None:
        with self._turn:
            self._turn.wait_for(lambda: self._failed or self._next == number)
            if self._failed:
                return
            self._tree.add(part, ends_part=blocks.ends_part(block))
            if added is not None:  # the tree holds the blocks up to this one, and no other thread changes it
                added(block)
            self._next += 1
            self._turn.notify_all()

    def give_up(self) -> None:
        """Release the threads that wait: the block before theirs will not come."""
        with self._turn:
            self._failed = True
            self._turn.notify_all()
