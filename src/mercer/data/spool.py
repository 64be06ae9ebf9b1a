"""Rows in a temporary file, for sources that are slow to read or can be read only once."""

import tempfile
from collections.abc import Iterable, Iterator
from typing import IO

import numpy as np

from mercer._typing import Array
from mercer.data.columns import Codes
from mercer.data.sources.base import Block, Source
from mercer.structures import Strings


class SpooledSource(Source):
    """The chosen columns of another source. The first pass writes them to a temporary file, which later passes read.

    So text is parsed only once, and a stream can be read several times. A number takes 4 bytes if float32 holds it
    exactly, else 8 bytes. The file has no name: it disappears with the process. TMPDIR sets its folder.
    """

    def __init__(self, source: Source):
        self._source, self._chosen = source, source.columns
        self.name, self.n_rows, self.own_target = source.name, source.n_rows, source.own_target
        self.width, self.dtype, self.names, self.labelled = source.width, source.dtype, source.names, source.labelled
        self.domain = source.domain
        self._file: IO[bytes] | None = None
        self._n_pieces = 0
        self._is_whole = False
        self._values: dict[int, dict[str | None, int]] = {}

    @property
    def kinds(self) -> dict[str, str]:  # type: ignore[override]
        """The kind of each column, in order."""
        return dict(self._source.kinds)

    def type_of(self, column: str) -> str:
        """Return the type of a column, for messages."""
        return self._source.type_of(column)

    def bytes_read(self) -> tuple[int, int] | None:
        """Return the position of the first pass; later passes know the number of rows."""
        return None if self._is_whole else self._source.bytes_read()

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield the pieces of the source, or of the temporary file once a pass has written it."""
        return self._from_file() if self._is_whole else self._from_source(block_rows)

    def close(self) -> None:
        """Delete the temporary file."""
        if self._file is not None:
            self._file.close()

    def _from_source(self, block_rows: int) -> Iterator[Block]:
        self.close()
        self._file = tempfile.TemporaryFile(prefix="mercer-")  # noqa: SIM115 - later passes read it
        self._n_pieces, n_rows = 0, 0
        self._values = {}
        for piece in self._source.pieces(block_rows):
            self._write(piece)
            n_rows += piece.n_rows
            self._n_pieces += 1
            yield piece
        self._file.flush()
        self.n_rows, self._is_whole = n_rows, True

    def _from_file(self) -> Iterator[Block]:
        assert self._file is not None  # noqa: S101
        self._file.seek(0)
        columns = self.columns
        values = [[str(value) for value in self._values[j]] for j in range(len(columns.categories))]
        for _ in range(self._n_pieces):
            X = self._read_rows()
            categories = tuple(Codes(self._read(), of) for of in values)
            y = None if columns.target is None else self._read_labels()
            yield Block(X, y, None if columns.weight is None else self._read(), 0, categories)

    def _write(self, piece: Block) -> None:
        if isinstance(piece.X, Strings):
            self._save(piece.X.text)
            self._save(piece.X.pointers())
        else:
            single = piece.X.astype(np.float32)
            self._save(single if np.array_equal(single, piece.X, equal_nan=True) else piece.X)
        for j, column in enumerate(piece.categories):
            self._save(self._recoded(j, column.codes, column.values))
        if piece.y is not None and piece.y.dtype == object:
            found = {value: code for code, value in enumerate(dict.fromkeys(piece.y.tolist()))}
            codes = np.array([found[value] for value in piece.y.tolist()], dtype=np.int64)
            self._save(self._recoded(-1, codes, list(found)))
        elif piece.y is not None:
            self._save(piece.y)
        if piece.sample_weight is not None:
            self._save(piece.sample_weight)

    def _recoded(self, column: int, codes: Array, values: Iterable[str | None]) -> Array:
        """Return codes that refer to the values of all pieces so far."""
        known = self._values.setdefault(column, {})
        table = np.array([known.setdefault(value, len(known)) for value in values] or [0], dtype=np.int32)
        recoded: Array = np.where(codes < 0, -1, table[np.maximum(codes, 0)]).astype(np.int32)
        return recoded

    def _read_rows(self) -> Array | Strings:
        rows = self._read()
        if self.domain == "strings":
            return Strings.of_arrays(rows, self._read())
        return rows.astype(self.dtype, copy=False)

    def _read_labels(self) -> Array:
        values = self._read()
        if -1 not in self._values:
            return values
        return np.array(list(self._values[-1]), dtype=object)[values]

    def _save(self, values: Array) -> None:
        assert self._file is not None  # noqa: S101
        np.save(self._file, values, allow_pickle=False)

    def _read(self) -> Array:
        assert self._file is not None  # noqa: S101
        values: Array = np.load(self._file, allow_pickle=False)
        return values
