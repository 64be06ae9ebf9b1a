"""Sequences of FASTA files."""

from collections.abc import Iterator
from os import PathLike, fspath
from typing import NamedTuple

import numpy as np

from mercer._typing import Array
from mercer.data.columns import Kind, TableError
from mercer.data.sources.base import Block, Source, in_batches
from mercer.data.sources.compression import opened
from mercer.structures import Strings

# Bytes read at once.
_CHUNK_BYTES = 2**18
_WHITE_SPACE = b" \t\r\n"


class _Record(NamedTuple):
    id: str
    description: str
    sequence: bytes


class FastaSource(Source):
    r"""The sequences of a FASTA file (also .gz, .bz2 and .zst) as strings, one object per record.

    A record is a line that begins with ``>`` and the lines of its sequence. White space inside a sequence is left out.
    The columns are ``sequence``, the objects; ``id``, the first word of the line of a record; and ``description``, the
    rest of it. Either of the last two may be the target: ``>read7 promoter`` has the description ``promoter``.

    Parameters
    ----------
    path : str or path
    categorical : names of columns
        No effect: both columns that may be a target hold text.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer.data import as_blocks
    >>> path = os.path.join(tempfile.mkdtemp(), "reads.fasta")
    >>> _ = open(path, "w").write(">a promoter\nACGT\nAC\n>b other\nGG\n")
    >>> [(block.X.tolist(), block.y.tolist()) for block in as_blocks(path, target="description").labelled()]
    [([b'ACGTAC', b'GG'], ['promoter', 'other'])]
    """

    own_objects = "sequence"

    def __init__(self, path: str | PathLike[str], *, categorical: tuple[str, ...] = ()):
        self.name = fspath(path)
        self._kinds: dict[str, Kind] = {"sequence": "object", "id": "category", "description": "category"}

    def type_of(self, column: str) -> str:
        """Return the type of a column, for messages."""
        return "sequences" if column == "sequence" else "text"

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield the records, ``block_rows`` at a time."""
        first_row = 0
        for records in in_batches(self._records(), block_rows):
            yield Block(Strings([record.sequence for record in records]), self._labels(records, first_row))
            first_row += len(records)
        if first_row == 0:
            raise TableError(f"{self.name}: there are no records.")

    def _labels(self, records: list[_Record], first_row: int) -> Array | None:
        target = self.columns.target
        if target is None:
            return None
        labels = [getattr(record, target) for record in records]
        if "" in labels:
            row = first_row + labels.index("")
            raise TableError(f"{self.name}: record {row} has no {target}, which is the target. Add it after the '>'.")
        return np.array(labels, dtype=object)

    def _records(self) -> Iterator[_Record]:
        """Yield the records; each is cut at the next '>' that begins a line."""
        try:
            with opened(self.name) as (file, _):
                first = file.read(_CHUNK_BYTES).lstrip()
                if first[:1] not in (b">", b""):
                    found = first[:20]
                    raise TableError(f"{self.name}: not a FASTA file: record 0 must begin with '>', got {found!r}.")
                held = [first[1:]]  # of the current record: joined once it ends, because it may be very long
                while chunk := file.read(_CHUNK_BYTES):
                    held.append(chunk)
                    if b"\n>" in held[-2][-1:] + chunk:
                        *whole, last = b"".join(held).split(b"\n>")
                        yield from map(_record, whole)
                        held = [last]
                yield from map(_record, b"".join(held).split(b"\n>") if first else ())
        except (OSError, EOFError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise TableError(f"{self.name}: not a readable FASTA file: {error}.") from None


def _record(text: bytes) -> _Record:
    header, _, lines = text.partition(b"\n")
    name, _, description = header.decode("utf-8", "replace").strip().partition(" ")
    return _Record(name, description.strip(), lines.translate(None, _WHITE_SPACE))
