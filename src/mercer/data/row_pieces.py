"""Rows on their way to a parquet or Arrow file: pieces that are kept until the file can be written as a whole.

The footer of such a file knows where all its rows are, so that a new process cannot continue a file that was begun. It
can continue a file of pieces: each piece is a complete Arrow stream.
"""

from collections.abc import Sequence
from typing import BinaryIO

from mercer._typing import Array
from mercer.data.writers import ArrowWriter, WriterState, arrow_table

# The formats that are kept as pieces.
KEPT_AS_PIECES = ("parquet", "arrow")


class PiecesWriter:
    """Writes each block of columns as an Arrow stream, at the end of a file.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from mercer.data.row_pieces import PiecesWriter, assemble
    >>> pieces, whole = io.BytesIO(), io.BytesIO()
    >>> PiecesWriter(pieces, ["a"], {}).write([np.arange(2)])
    >>> PiecesWriter(pieces, ["a"], {"rows": 2}).write([np.arange(3)])
    >>> _ = pieces.seek(0)
    >>> assemble("parquet", ["a"], pieces, whole)
    5
    """

    def __init__(self, file: BinaryIO, names: Sequence[str], state: WriterState):
        self._file, self._names, self._n_rows = file, names, int(state.get("rows", 0))

    @property
    def state(self) -> WriterState:
        """The number of rows."""
        return {"rows": self._n_rows}

    def write(self, columns: Sequence[Array]) -> None:
        """Write some rows as a piece."""
        from pyarrow import BufferOutputStream, ipc  # noqa: PLC0415 - optional

        table, piece = arrow_table(columns, self._names), BufferOutputStream()
        with ipc.new_stream(piece, table.schema) as stream:
            stream.write_table(table)
        self._file.write(piece.getvalue())
        self._n_rows += len(table)

    def close(self) -> None:
        """Do nothing: pieces have no end."""


def assemble(kind: str, names: Sequence[str], pieces: BinaryIO, whole: BinaryIO) -> int:
    """Write the file that an undisturbed run writes, piece by piece; return the number of rows."""
    from pyarrow import ipc  # noqa: PLC0415 - optional

    writer = ArrowWriter(whole, names, {}, kind)
    size = _size(pieces)
    while pieces.tell() < size:
        with ipc.open_stream(pieces) as stream:
            writer.write_table(stream.read_all())
    writer.close()
    return int(writer.state["rows"])


def _size(file: BinaryIO) -> int:
    place = file.tell()
    size = file.seek(0, 2)
    file.seek(place)
    return size
