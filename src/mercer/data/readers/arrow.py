"""Rows of pyarrow tables and datasets: parquet and csv files, folders of them."""

from collections.abc import Iterable, Iterator
from itertools import islice
from os import PathLike, fspath
from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.data.readers.base import Block, Reader
from mercer.data.readers.frames import refuse_text, split_columns

# Lines of a csv file that tell the types of its columns.
_FIRST_LINES = 512


class ArrowReader(Reader):
    """The rows of a pyarrow table or dataset; of a dataset, a few batches are in memory at a time.

    Parquet files are read without read-ahead, so that the columns of a page or two, and not the file, are in memory.
    """

    keeps_pieces = True

    def __init__(self, owner: str, source: Any, y: str | None = None, sample_weight: str | None = None):
        from pyarrow import Table, types  # noqa: PLC0415 - optional

        self._source, self._y, self._weight = source, y, sample_weight
        schema = source.schema
        self._columns = split_columns(owner, list(schema.names), y, sample_weight)
        kinds = [schema.field(name).type for name in self._columns]
        for name, kind in zip(self._columns, kinds, strict=True):
            if not (types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)):
                refuse_text(owner, name, kind, dated=types.is_temporal(kind))
        single = bool(kinds) and all(types.is_float32(kind) for kind in kinds)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.width, self.names, self.labelled = len(self._columns), tuple(self._columns), y is not None
        self._is_table = isinstance(source, Table)
        self.n_rows = self._count()

    def _count(self) -> int | None:
        """Return the rows of a table or of parquet files, whose footers say it; None where a file must be read."""
        if self._is_table:
            return int(self._source.num_rows)
        fragments = getattr(self._source, "format", None)
        return int(self._source.count_rows()) if getattr(fragments, "default_extname", "") == "parquet" else None

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield batches, converted to one type."""
        wanted = [name for name in (*self._columns, self._y, self._weight) if name is not None]
        for batch in self._batches(wanted, block_rows):
            X = np.empty((batch.num_rows, self.width), dtype=self.dtype)
            for j, name in enumerate(self._columns):
                X[:, j] = _column(batch, name)
            y = None if self._y is None else _column(batch, self._y)
            yield Block(X, y, None if self._weight is None else _column(batch, self._weight).astype(np.float64))

    def _batches(self, wanted: list[str], block_rows: int) -> Iterable[Any]:
        if self._is_table:
            yield from self._source.select(wanted).to_batches(max_chunksize=block_rows)
            return
        options: dict[str, Any] = {"batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}
        if self.n_rows is not None:
            from pyarrow.dataset import ParquetFragmentScanOptions  # noqa: PLC0415 - optional

            # Measured on 61 MiB of rows: 14 MiB so, 56 MiB with the buffers that pyarrow fills by default.
            options["fragment_scan_options"] = ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
        yield from self._source.to_batches(columns=wanted, batch_size=block_rows, **options)


class CsvReader(ArrowReader):
    """The rows of a csv file with a line of names, as many lines at a time as a block has rows.

    pyarrow's own scanner reads 32 blocks ahead whatever it is told. As there, a line is a row: no value may hold a
    line break. The types of y and of the weights are those of the first lines; numbers of X are floats.
    """

    def __init__(
        self, owner: str, path: str | PathLike[str], y: str | None = None, sample_weight: str | None = None
    ) -> None:
        self._path = fspath(path)
        first = next(self._tables(_FIRST_LINES), None)
        if first is None:
            raise ValueError(f"{owner}: X has 0 sample(s): {self._path!r} holds no lines below its names.")
        super().__init__(owner, first.slice(0, 0), y, sample_weight)
        self.n_rows = None  # of the file, which the first lines do not tell

    def _batches(self, wanted: list[str], block_rows: int) -> Iterable[Any]:
        from pyarrow import float64  # noqa: PLC0415 - optional

        types = {name: self._source.schema.field(name).type for name in wanted}
        types |= dict.fromkeys(self._columns, float64())
        tables = self._tables(block_rows, column_types=types, include_columns=wanted)
        return (batch for table in tables for batch in table.to_batches())

    def _tables(self, n_lines: int, **options: Any) -> Iterator[Any]:
        from pyarrow import BufferReader, csv  # noqa: PLC0415 - optional

        convert, serial = csv.ConvertOptions(**options), csv.ReadOptions(use_threads=False)
        with open(self._path, "rb") as file:
            header = file.readline()
            while lines := list(islice(file, n_lines)):
                yield csv.read_csv(BufferReader(header + b"".join(lines)), read_options=serial, convert_options=convert)


def _column(batch: Any, name: str) -> Array:
    values: Array = batch.column(name).to_numpy(zero_copy_only=False)
    return values


def file_reader(
    owner: str, path: str | PathLike[str], kind: str, y: str | None = None, sample_weight: str | None = None
) -> Reader:
    """Return a reader of a parquet or csv file, or of a folder of parquet files."""
    try:
        from pyarrow import dataset  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ImportError(
            f"{owner}: reading {path} needs pyarrow. Install it with pip install mercer[data]."
        ) from error
    if kind == "csv":
        return CsvReader(owner, path, y, sample_weight)
    return ArrowReader(owner, dataset.dataset(path, format=kind), y, sample_weight)
