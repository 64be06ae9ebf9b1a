"""The order in which statistics of blocks are merged: a tree that the numbers of the blocks define."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Generic

from mercer.engines.base import S, T

ARITY = 16


class Tree(Generic[S]):
    """Merge statistics of blocks that arrive in order, 16 at a time.

    Blocks are leaves. Every 16 leaves are merged from left to right into a node, every 16 nodes into a node of the next
    level. Numbers alone define the tree. So the bits of a total depend neither on threads nor on workers, a stream of
    unknown length needs no plan, and any aligned run of 16 or 256 blocks may be merged elsewhere. One statistic per
    level is held: four at 65,536 blocks. Up to 16 blocks the tree is a left fold.

    Parameters
    ----------
    into : Statistic, optional
        Receives the total when ``close`` is called. A statistic given to ``add`` is changed.

    Examples
    --------
    >>> from mercer.engines.tree import Tree
    >>> from mercer.stats import Totals
    >>> tree = Tree(Totals.of(1))
    >>> for number in range(100):
    ...     tree.add(Totals.of(1).update([[number]]))
    >>> tree.close().values.tolist()
    [4950.0]
    """

    def __init__(self, into: S | None = None) -> None:
        self._into = into
        self._nodes: list[S | None] = []  # of each level, the node that still grows
        self._counts: list[int] = []

    def add(self, part: S, *, ends_part: bool = False) -> None:
        """Take the statistic of the next block; this tree knows no parts."""
        level, node = 0, part
        while True:
            if level == len(self._nodes):
                self._nodes.append(None)
                self._counts.append(0)
            grown = self._grown(level, node)
            if self._counts[level] < ARITY:
                return
            self._nodes[level], self._counts[level] = None, 0
            level, node = level + 1, grown

    def _grown(self, level: int, part: S) -> S:
        node = self._nodes[level]
        grown = part if node is None else node.merge(part)
        self._nodes[level] = grown
        self._counts[level] += 1
        return grown

    def total(self) -> S | None:
        """Merge the nodes that are not full, and return the total without ``into``; None without blocks."""
        last: S | None = None
        for node in self._nodes:  # a lower level holds later blocks
            if node is not None:
                last = node if last is None else node.merge(last)
        return last

    @property
    def state(self) -> dict[str, Any]:
        """What a tree in another process needs in order to go on: the nodes that still grow, and their counts."""
        return {"nodes": list(self._nodes), "counts": list(self._counts)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from the state of a tree that has taken the blocks before."""
        self._nodes, self._counts = list(state["nodes"]), list(state["counts"])

    def close(self) -> S:
        """Merge the nodes that are not full, and return ``into`` with the total."""
        assert self._into is not None  # noqa: S101
        last = self.total()
        return self._into if last is None else self._into.merge(last)


class PartTree(Tree[S]):
    """A tree over parts, whose leaves are the totals of trees over the blocks of each part.

    If all parts but the last have 16 or 256 blocks, this is the tree over all blocks.
    """

    def __init__(self, into: S | None = None) -> None:
        super().__init__(into)
        self._part: Tree[S] = Tree()

    def add(self, part: S, *, ends_part: bool = False) -> None:
        """Take the statistic of the next block, and whether it is the last one of its part."""
        self._part.add(part)
        if ends_part:
            self._end_part()

    def total(self) -> S | None:
        """Return the total of all parts, without ``into``."""
        self._end_part()
        return super().total()

    @property
    def state(self) -> dict[str, Any]:
        """What a tree in another process needs in order to go on, also in the middle of a part."""
        return {**super().state, "part": self._part.state}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from the state of a tree that has taken the blocks before."""
        super().restore(state)
        self._part.restore(state["part"])

    def _end_part(self) -> None:
        total = self._part.total()
        if total is not None:
            super().add(total)
        self._part = Tree()


def fold_parts(parts: Sequence[T], fold: Callable[[Sequence[T]], T]) -> T:
    """Return the total of at least one part, in the order of ``Tree``, by a function that folds up to 16 at a time.

    The parts may be statistics, or futures of them.

    >>> fold_parts([str(number) for number in range(18)], lambda few: "(" + " ".join(few) + ")")
    '((0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) (16 17))'
    """
    level, rests = list(parts), []
    while level:
        full = len(level) - len(level) % ARITY
        if rest := level[full:]:
            rests.append(rest[0] if len(rest) == 1 else fold(rest))
        level = [fold(level[start : start + ARITY]) for start in range(0, full, ARITY)]
    total = rests[0]
    for node in rests[1:]:  # a lower level holds later parts
        total = fold([node, total])
    return total


def merged(parts: Sequence[S]) -> S:
    """Return the statistics of consecutive parts, merged from left to right; the given ones stay as they are."""
    total = deepcopy(parts[0])
    for part in parts[1:]:
        total = total.merge(part)
    return total
