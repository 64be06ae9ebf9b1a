"""The rows of a source that follow the first ones."""

from collections.abc import Iterator

from mercer.data.sources.base import Block, Reader


class RowsAfter(Reader):
    """The rows that follow the first ``n_skipped`` rows of a source that must be read from its beginning.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data.sources import RowsAfter
    >>> from mercer.data.sources.arrays import ArraySource
    >>> rows = RowsAfter(ArraySource("X", np.arange(5.0)[:, None]), 3)
    >>> [block.X.ravel().tolist() for block in rows.pieces(2)]
    [[3.0], [4.0]]
    """

    def __init__(self, reader: Reader, n_skipped: int):
        self._reader, self._n_skipped = reader, n_skipped
        self.width, self.dtype, self.is_sparse, self.names = reader.width, reader.dtype, reader.is_sparse, reader.names
        self.labelled, self.keeps_pieces, self.domain = reader.labelled, reader.keeps_pieces, reader.domain
        self.reads_ahead = reader.reads_ahead
        self.n_rows = None if reader.n_rows is None else reader.n_rows - n_skipped

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield the rows that are left."""
        left = self._n_skipped
        for piece in self._reader.pieces(block_rows):
            if piece.n_rows > left:
                yield piece.rows(slice(left, piece.n_rows)) if left else piece
            left = max(left - piece.n_rows, 0)
