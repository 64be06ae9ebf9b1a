"""Packed objects as a source of rows."""

from collections.abc import Iterator

from mercer.data.sources.base import Block, Reader
from mercer.parallel import row_blocks
from mercer.structures import Ragged
from mercer.structures.domains import domain_of


class ObjectSource(Reader):
    """The objects of a packed value, such as ``Strings``: one column, without entries to check.

    >>> from mercer.data import as_blocks
    >>> from mercer.structures import Strings
    >>> [len(block) for block in as_blocks(Strings(["a", "bc", "d"]), block_rows=2)]
    [2, 1]
    """

    keeps_pieces = True

    def __init__(self, X: Ragged):
        self._X = X
        self.width, self.n_rows, self.dtype, self.domain = 1, len(X), X.dtype, domain_of(X)

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield views of the objects."""
        for rows in row_blocks(len(self._X), block_rows):
            yield Block(self._X[rows])
