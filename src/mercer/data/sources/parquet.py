"""Rows of parquet and Arrow (IPC, feather) files: one file, or all files of a folder in the order of their names."""

from collections.abc import Iterator
from copy import copy
from os import PathLike, fspath
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

from mercer.data.columns import Columns, TableError
from mercer.data.sources.arrow import ArrowSource, pyarrow, types_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.ipc import RecordBatchFileReader, RecordBatchStreamReader
    from pyarrow.parquet import ParquetFile

    Opened: TypeAlias = ParquetFile | RecordBatchFileReader | RecordBatchStreamReader

_SUFFIXES = {"parquet": (".parquet", ".pq"), "arrow": (".arrow", ".feather", ".ipc")}
# Bytes per column that are read at once. Measured on 46 MiB of rows: without this buffer, a whole row group is in
# memory; with the default read-ahead of pyarrow, several row groups are.
_BUFFER_BYTES = 2**16


class ArrowFiles(ArrowSource):
    """Parquet or Arrow files.

    Parameters
    ----------
    path : path of a file, or of a folder
    kind : "parquet" or "arrow"
    categorical : names of columns of numbers that are categories
    """

    reads_ahead = True

    def __init__(self, path: str | PathLike[str], kind: str = "parquet", *, categorical: tuple[str, ...] = ()):
        path = Path(fspath(path))
        self._kind = kind
        self._range: range | None = None  # the chosen rows; None: all
        self.name = str(path)
        found = sorted(file for file in path.rglob("*") if file.suffix in _SUFFIXES[kind]) if path.is_dir() else [path]
        self._files = [file for file in found if not file.name.startswith((".", "_"))]
        if not self._files:
            raise TableError(f"{path}: the folder holds no {_SUFFIXES[kind][0]} file.")
        types, counts = [], []
        for file in self._files:
            with self._opened(file) as opened:
                types.append(self._types_in(file, opened))
                counts.append(int(opened.metadata.num_rows) if kind == "parquet" else None)
        self._check_same(types)
        self._counts = counts
        super().__init__(str(path), types[0], categorical)
        known = [count for count in counts if count is not None]
        self.n_rows = sum(known) if len(known) == len(counts) else None
        if self.n_rows == 0:
            raise TableError(f"{path}: there are no rows.")

    @property
    def _pa(self) -> ModuleType:
        return pyarrow(self.name)

    @property
    def divides(self) -> bool:
        """Whether the files say how many rows they hold: parquet files do."""
        return self._kind == "parquet"

    def between(self, start: int, stop: int) -> "ArrowFiles":
        """Return a range of the rows, of which only the row groups that hold them are decoded."""
        other, first = copy(self), 0 if self._range is None else self._range.start
        other._range, other.n_rows = range(first + start, first + stop), stop - start
        return other

    def _batches(self, columns: Columns, block_rows: int) -> "Iterator[pa.RecordBatch]":
        """Read the files one after the other."""
        names, empty, last = list(columns.all), True, 0
        for file, count in zip(self._files, self._counts, strict=True):
            first, last = last, last + (count or 0)
            if self._range is not None and (last <= self._range.start or first >= self._range.stop):
                continue
            try:
                with self._opened(file) as opened:
                    for batch in self._record_batches(opened, names, block_rows, first):
                        empty = empty and not batch.num_rows
                        for start in range(0, batch.num_rows, block_rows):
                            yield batch.slice(start, block_rows)
            except (self._pa.ArrowException, OSError) as error:
                raise self._corrupt(file, error) from None
        if empty:
            raise TableError(f"{self.name}: there are no rows.")

    def _record_batches(
        self, opened: "Opened", names: list[str], block_rows: int, first: int
    ) -> "Iterator[pa.RecordBatch]":
        """Yield the batches of a file whose first row has the number ``first``, or those of the chosen rows."""
        if self._range is not None:
            yield from self._in_range(opened, names, block_rows, first)
        elif self._kind == "parquet":
            yield from opened.iter_batches(batch_size=block_rows, columns=names, use_threads=False)
        elif hasattr(opened, "num_record_batches"):
            for i in range(opened.num_record_batches):
                yield opened.get_batch(i).select(names)
        else:
            yield from (batch.select(names) for batch in opened)

    def _in_range(
        self, opened: "ParquetFile", names: list[str], block_rows: int, first: int
    ) -> "Iterator[pa.RecordBatch]":
        assert self._range is not None  # noqa: S101
        counts = [opened.metadata.row_group(i).num_rows for i in range(opened.num_row_groups)]
        starts = [first + sum(counts[:i]) for i in range(len(counts))]
        chosen = range(self._range.start, self._range.stop)
        groups = [i for i, a in enumerate(starts) if a < chosen.stop and a + counts[i] > chosen.start]
        row = starts[groups[0]] if groups else chosen.stop
        for batch in opened.iter_batches(batch_size=block_rows, row_groups=groups, columns=names, use_threads=False):
            begin, end = max(chosen.start - row, 0), min(chosen.stop - row, batch.num_rows)
            row += batch.num_rows
            if end > begin:
                yield batch.slice(begin, end - begin)

    def _opened(self, file: Path) -> "Opened":
        from pyarrow import ipc, parquet  # noqa: PLC0415 - optional

        try:
            if self._kind == "parquet":
                return parquet.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
            with self._pa.OSFile(str(file)) as source:
                magic = source.read(6)
            source = self._pa.OSFile(str(file))
            return ipc.open_file(source) if magic == b"ARROW1" else ipc.open_stream(source)
        except (self._pa.ArrowException, OSError) as error:
            raise self._corrupt(file, error) from None

    def _types_in(self, file: Path, opened: "Opened") -> "dict[str, pa.DataType]":
        return types_of(str(file), opened.schema_arrow if self._kind == "parquet" else opened.schema)

    def _check_same(self, types: "list[dict[str, pa.DataType]]") -> None:
        for file, found in zip(self._files, types, strict=True):
            if missing := [name for name in types[0] if name not in found]:
                raise TableError(f"{file}: column {missing[0]!r} is missing, which {self._files[0].name} has.")

    def _corrupt(self, file: Path, error: Exception) -> TableError:
        if file.stat().st_size == 0:
            return TableError(f"{file}: the file is empty.")
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        return TableError(f"{file}: the {self._kind} file is damaged or of another kind: {reason}.")
