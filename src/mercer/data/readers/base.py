"""What a reader is: one pass over the rows of a source, a piece at a time."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mercer._typing import Array


class Block(NamedTuple):
    """Some rows: X, where the source has them y and sample_weight, one entry a row, and the first row's number."""

    X: Any
    y: Array | None = None
    sample_weight: Array | None = None
    first_row: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def rows(self, rows: slice) -> "Block":
        """Return a range of the rows, as views where X is an array."""
        X, y, weight = (None if part is None else part[rows] for part in self[:3])
        return Block(X, y, weight, self.first_row + (rows.start or 0))


def stacked(blocks: list[Block]) -> Block:
    """Return the rows of several blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    X: Any = [block.X for block in blocks]
    X = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.vstack(X)
    y, weight = _joined([block.y for block in blocks]), _joined([block.sample_weight for block in blocks])
    return Block(X, y, weight, blocks[0].first_row)


def _joined(parts: list[Array | None]) -> Array | None:
    given = [part for part in parts if part is not None]
    if given and sparse.issparse(given[0]):
        rows: Array = sparse.vstack(given, format="csr")
        return rows
    return np.concatenate(given) if given else None


def entries(values: Any) -> Any:
    """Return y as an array of one entry, or row of entries, a row; sparse ones as CSR."""
    return values.tocsr() if sparse.issparse(values) else np.asarray(values)


def own_rows(X: Any, piece: Block) -> Block:
    """Return a piece with X in place of its own, all in memory that no later piece can overwrite."""
    apart = isinstance(piece.X, np.ndarray) and isinstance(X, np.ndarray) and not np.may_share_memory(X, piece.X)
    y, weight = (None if part is None else part.copy() for part in (piece.y, piece.sample_weight))
    return Block(X if apart else X.copy(), y, weight)


class Reader(ABC):
    """A source of rows that can be read any number of times, a piece at a time.

    A subclass writes ``pieces`` and sets what it knows: ``width``, ``dtype`` (float32 or float64), ``is_sparse``,
    ``names`` of the columns, ``n_rows``. Pieces may have any number of rows: ``Blocks`` checks them and cuts them anew.
    ``Blocks`` also copies each piece, since a reader may fill the same arrays again. A reader whose pieces never change
    once they are yielded sets ``keeps_pieces``, and saves the copy.

    >>> import numpy as np
    >>> from mercer.data import Block, Reader, as_blocks
    >>> class Squares(Reader):
    ...     width, dtype = 2, np.dtype(float)
    ...     def pieces(self, block_rows):
    ...         for i in range(3):
    ...             yield Block(np.array([[i, i * i]], dtype=float))
    >>> [block.tolist() for block in as_blocks(Squares(), block_rows=2)]
    [[[0.0, 0.0], [1.0, 1.0]], [[2.0, 4.0]]]
    """

    width: int
    dtype: np.dtype[Any]
    is_sparse: bool = False
    names: tuple[str, ...] | None = None
    n_rows: int | None = None
    labelled: bool = False
    keeps_pieces: bool = False

    @abstractmethod
    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield all rows in order, preferably ``block_rows`` at a time; each call begins at the first row."""
