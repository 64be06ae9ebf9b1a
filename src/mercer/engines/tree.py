"""The order in which statistics of blocks are merged: a tree that the numbers of the blocks define."""

from typing import Generic

from mercer.engines.base import S

ARITY = 16


class Tree(Generic[S]):
    """Merge statistics of blocks that arrive in order, 16 at a time.

    Blocks are leaves. Every 16 leaves are merged from left to right into a node, every 16 nodes into a node of the next
    level. Numbers alone define the tree. So the bits of a total depend neither on threads nor on workers, a stream of
    unknown length needs no plan, and any aligned run of 16 or 256 blocks may be merged elsewhere. One statistic per
    level is held: four at 65,536 blocks. Up to 16 blocks the tree is a left fold.

    Parameters
    ----------
    into : Statistic
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

    def __init__(self, into: S) -> None:
        self._into = into
        self._nodes: list[S | None] = []  # of each level, the node that still grows
        self._counts: list[int] = []

    def add(self, part: S) -> None:
        """Take the statistic of the next block."""
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

    def close(self) -> S:
        """Merge the nodes that are not full, and return the total."""
        last: S | None = None
        for node in self._nodes:  # a lower level holds later blocks
            if node is not None:
                last = node if last is None else node.merge(last)
        return self._into if last is None else self._into.merge(last)
