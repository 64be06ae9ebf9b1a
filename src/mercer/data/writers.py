"""Writers of rows (predictions and features), one block at a time; the name of the output decides the format."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeAlias

import numpy as np
from numpy.lib import format as npy

from mercer._typing import Array

if TYPE_CHECKING:  # pyarrow is optional
    from pyarrow import Schema, Table
    from pyarrow.ipc import RecordBatchFileWriter
    from pyarrow.parquet import ParquetWriter


# What a writer needs in order to continue a file whose first rows another process has written.
WriterState: TypeAlias = Mapping[str, int | str]


class RowWriter(Protocol):
    """Writes blocks of columns to an open file."""

    @property
    def state(self) -> WriterState:
        """What a new writer needs to continue the file where it ends now: the number of rows, and more."""

    def write(self, columns: Sequence[Array]) -> None:
        """Write some rows: one array per column."""

    def close(self) -> None:
        """Write the end of the file, if the format has one."""


def row_writer(kind: str, names: Sequence[str], file: BinaryIO, state: WriterState | None = None) -> RowWriter:
    """Return the writer of a format; ``format_of`` returns the format of a path.

    With the ``state`` of an earlier writer, the file is continued at its end; files of parquet and Arrow cannot be
    (``row_pieces`` keeps their rows until the file can be written as a whole).
    """
    return writer_of(kind)(file, names, state or {})


def writer_of(kind: str) -> "Callable[[BinaryIO, Sequence[str], WriterState], RowWriter]":
    """Return the class of the writer of a format."""
    return _WRITERS[kind]


def format_of(path: str) -> str:
    """Return the format of a path, by its suffix; csv for standard output and devices."""
    suffix = Path(path).suffix
    if path == "-" or (not suffix and Path(path).exists()):
        return "csv"
    kind = {".pq": "parquet", ".feather": "arrow", ".ipc": "arrow", ".txt": "csv", ".ndjson": "jsonl"}.get(
        suffix, suffix[1:]
    )
    if kind not in _WRITERS:
        raise ValueError(f"{path}: the name does not tell the format; known are {', '.join(_WRITERS)}.")
    return kind


class CsvWriter:
    """A line of names, then one line per row; floats have as many digits as their value needs."""

    def __init__(self, file: BinaryIO, names: Sequence[str], state: WriterState, delimiter: str = ","):
        self._file, self._n_rows = file, int(state.get("rows", 0))
        self._text = io.StringIO()
        self._writer = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        if not self._n_rows:
            self._writer.writerow(names)

    @property
    def state(self) -> WriterState:
        """The number of rows."""
        return {"rows": self._n_rows}

    def write(self, columns: Sequence[Array]) -> None:
        """Write some rows."""
        self._writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
        self._flush()
        self._n_rows += len(columns[0])

    def _flush(self) -> None:
        self._file.write(self._text.getvalue().encode())
        self._file.flush()
        self._text.seek(0)
        self._text.truncate()

    def close(self) -> None:
        """Write the names, if there were no rows."""
        self._flush()


class JsonLinesWriter:
    """One JSON object per row."""

    def __init__(self, file: BinaryIO, names: Sequence[str], state: WriterState):
        self._file, self._names, self._n_rows = file, names, int(state.get("rows", 0))

    @property
    def state(self) -> WriterState:
        """The number of rows."""
        return {"rows": self._n_rows}

    def write(self, columns: Sequence[Array]) -> None:
        """Write some rows."""
        rows = zip(*(column.tolist() for column in columns), strict=True)
        lines = (json.dumps(dict(zip(self._names, row, strict=True))) for row in rows)
        self._file.write("".join(f"{line}\n" for line in lines).encode())
        self._file.flush()
        self._n_rows += len(columns[0])

    def close(self) -> None:
        """Do nothing: the format has no end."""


def arrow_table(columns: Sequence[Array], names: Sequence[str]) -> "Table":
    """Return columns as an Arrow table."""
    pa = _pyarrow("arrow")
    return pa.table([pa.array(column) for column in columns], names=list(names))


def _pyarrow(kind: str) -> ModuleType:
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional
    except ImportError:
        raise ImportError(f"writing {kind} needs pyarrow. Install it with pip install 'mercer[data]'.") from None
    module: ModuleType = pa
    return module


class ArrowWriter:
    """Parquet, or Arrow's IPC file, by pyarrow. Their footers know all rows, so that no other writer continues them."""

    def __init__(self, file: BinaryIO, names: Sequence[str], state: WriterState, kind: str):
        if state:
            raise ValueError(f"a {kind} file that was begun cannot be continued. Keep its rows as pieces.")
        self._file, self._names, self._kind = file, list(names), kind
        self._n_rows = 0
        self._writer: ParquetWriter | RecordBatchFileWriter | None = None
        _pyarrow(kind)  # an error now, before any work

    @property
    def state(self) -> WriterState:
        """The number of rows."""
        return {"rows": self._n_rows}

    def write(self, columns: Sequence[Array]) -> None:
        """Write some rows as a group."""
        self.write_table(arrow_table(columns, self._names))

    def write_table(self, batch: "Table") -> None:
        """Write the rows of an Arrow table as a group."""
        if self._writer is None:
            self._writer = self._opened(batch.schema)
        self._writer.write_table(batch)
        self._n_rows += len(batch)

    def _opened(self, schema: "Schema") -> "ParquetWriter | RecordBatchFileWriter":
        from pyarrow import ipc, parquet  # noqa: PLC0415 - optional

        return (
            parquet.ParquetWriter(self._file, schema) if self._kind == "parquet" else ipc.new_file(self._file, schema)
        )

    def close(self) -> None:
        """Write the footer."""
        if self._writer is not None:
            self._writer.close()


class NpyWriter:
    """A .npy file. Its header holds the number of rows, and is written again at the end."""

    def __init__(self, file: BinaryIO, names: Sequence[str], state: WriterState):
        self._file, self._n_rows = file, int(state.get("rows", 0))
        self._width = len(names)
        self._dtype = np.dtype(str(state["dtype"])) if "dtype" in state else None

    @property
    def state(self) -> WriterState:
        """The number of rows, and their type once there are any."""
        return {"rows": self._n_rows} | ({} if self._dtype is None else {"dtype": self._dtype.str})

    def write(self, columns: Sequence[Array]) -> None:
        """Write some rows."""
        rows = np.column_stack(list(columns)) if self._width > 1 else np.asarray(columns[0])
        if self._dtype is None:
            if not self._file.seekable():
                raise ValueError("a .npy file cannot be written to a stream; take csv, or name a file.")
            self._dtype = rows.dtype
            self._header()
        if rows.dtype != self._dtype:
            rows = rows.astype(self._dtype)
        self._file.write(np.ascontiguousarray(rows).data)
        self._n_rows += len(rows)

    def _header(self) -> None:
        assert self._dtype is not None  # noqa: S101
        self._file.seek(0)
        shape = (self._n_rows,) if self._width == 1 else (self._n_rows, self._width)
        # NumPy pads the header so that it takes as many bytes whatever the number of rows.
        npy.write_array_header_1_0(
            self._file, {"shape": shape, "fortran_order": False, "descr": npy.dtype_to_descr(self._dtype)}
        )

    def close(self) -> None:
        """Write the header with the number of rows."""
        if self._dtype is not None:
            self._header()


_WRITERS: dict[str, Callable[[BinaryIO, Sequence[str], WriterState], RowWriter]] = {
    "csv": CsvWriter,
    "tsv": lambda file, names, state: CsvWriter(file, names, state, "\t"),
    "jsonl": JsonLinesWriter,
    "parquet": lambda file, names, state: ArrowWriter(file, names, state, "parquet"),
    "arrow": lambda file, names, state: ArrowWriter(file, names, state, "arrow"),
    "npy": NpyWriter,
}
