"""Rows of pyarrow tables and datasets; columns of pyarrow as numbers, codes and labels."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from mercer._typing import Array
from mercer.data.columns import Codes, Columns, Kind, TableError, number_in
from mercer.data.sources.base import Block, Source
from mercer.structures import Strings

if TYPE_CHECKING:  # pyarrow is optional
    import pyarrow as pa
    from pyarrow.dataset import Dataset

# Whole numbers above this are not told apart as float64.
_LARGEST_WHOLE = 2**53


def pyarrow(owner: str) -> ModuleType:
    """Return the package pyarrow; the error says how to install it."""
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise ImportError(f"{owner}: reading it needs pyarrow. Install it with pip install 'mercer[data]'.") from error


class ArrowSource(Source):
    """Base of sources with columns of pyarrow; a subclass implements ``_batches``, which yields record batches.

    Parameters
    ----------
    name : str
        The name that begins error messages.
    types : dict
        From the names of the columns to pyarrow's types.
    categorical : names of columns of numbers that are categories
    """

    def __init__(self, name: str, types: "Mapping[str, pa.DataType]", categorical: tuple[str, ...] = ()):
        self.name, self._types = name, dict(types)
        self._kinds: dict[str, Kind] = {column: kind_of(kind) for column, kind in types.items()}
        self._kinds |= {column: "category" for column in categorical if column in self._kinds}

    def type_of(self, column: str) -> str:
        """Return the type of a column, for messages."""
        return str(self._types[column])

    @abstractmethod
    def _batches(self, columns: Columns, block_rows: int) -> "Iterable[pa.RecordBatch]":
        """Yield record batches of the columns."""

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield batches, the numbers converted to one type."""
        first_row = 0
        for batch in self._batches(self.columns, block_rows):
            if batch.num_rows:
                yield self._block(batch, first_row)
                first_row += batch.num_rows

    def _block(self, batch: "pa.RecordBatch", first_row: int) -> Block:
        columns = self.columns
        X = self._numbers(batch) if columns.objects is None else self._strings(batch, columns.objects, first_row)
        y = None if columns.target is None else self._labels(batch.column(columns.target), columns.target)
        weight = None if columns.weight is None else numbers_of(batch.column(columns.weight)).astype(np.float64)
        categories = () if not columns.categories else tuple(_codes(batch.column(name)) for name in columns.categories)
        return Block(X, y, weight, 0, categories)

    def _numbers(self, batch: "pa.RecordBatch") -> Array:
        numbers = (*self.columns.numbers, *self.columns.dates)
        X = np.empty((batch.num_rows, len(numbers)), dtype=self.dtype)
        for j, name in enumerate(numbers):
            X[:, j] = numbers_of(batch.column(name))
        return X

    def _strings(self, batch: "pa.RecordBatch", name: str, first_row: int) -> Strings:
        column = batch.column(name)
        if column.null_count:
            row = first_row + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise TableError(f"{self.name}: column {name!r} misses its text in row {row}. Fill it in, or drop the row.")
        return strings_of(column)

    def _labels(self, column: "pa.Array", name: str) -> Array:
        if self._kinds[name] == "category":
            codes, values = _codes(column)
            return np.array([*values, None], dtype=object)[codes]
        return labels_of(column)


class TableSource(ArrowSource):
    """The rows of a pyarrow table or dataset; only a few batches of a dataset are in memory at a time.

    Parquet files are read without read-ahead: only one or two pages per column are in memory.
    """

    def __init__(self, owner: str, source: "pa.Table | Dataset"):
        from pyarrow import Table  # noqa: PLC0415 - optional

        super().__init__(owner, types_of(owner, source.schema))
        self._source, self._is_table = source, isinstance(source, Table)
        file_format = getattr(getattr(source, "format", None), "default_extname", "")
        self._is_parquet = not self._is_table and file_format == "parquet"
        # The footers of parquet files hold the number of rows; other files would have to be read.
        self.n_rows = source.num_rows if self._is_table else source.count_rows() if self._is_parquet else None

    def _batches(self, columns: Columns, block_rows: int) -> "Iterable[pa.RecordBatch]":
        names = list(columns.all)
        if self._is_table:
            return self._source.select(names).to_batches(max_chunksize=block_rows)  # type: ignore[no-any-return]
        options: dict[str, object] = {"batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}
        if self._is_parquet:
            from pyarrow.dataset import ParquetFragmentScanOptions  # noqa: PLC0415 - optional

            # Measured on 61 MiB of rows: 14 MiB of memory, and 56 MiB with the default buffers of pyarrow.
            options["fragment_scan_options"] = ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
        return self._source.to_batches(columns=names, batch_size=block_rows, **options)  # type: ignore[no-any-return]


def types_of(name: str, schema: "pa.Schema") -> "dict[str, pa.DataType]":
    """Return the types of the columns by name; two columns with one name are an error."""
    types = {field.name: field.type for field in schema}
    if len(types) < len(schema):
        names = schema.names
        twice = next(column for column in names if names.count(column) > 1)
        raise TableError(f"{name}: the column {twice!r} is there twice. Rename one of the columns.")
    return types


def kind_of(kind: "pa.DataType") -> Kind:
    """Return the kind of a column with a type of pyarrow."""
    from pyarrow import types  # noqa: PLC0415 - optional

    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return "number"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "date"
    if types.is_time(kind) or types.is_duration(kind):
        return "number"
    return "category" if _is_text(kind) else "object" if _is_bytes(kind) else "other"


def _is_text(kind: "pa.DataType") -> bool:
    from pyarrow import types  # noqa: PLC0415 - optional

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_bytes(kind: "pa.DataType") -> bool:
    from pyarrow import types  # noqa: PLC0415 - optional

    return bool(types.is_binary(kind) or types.is_large_binary(kind))


def strings_of(column: "pa.Array") -> Strings:
    """Return a column of text without missing values, packed; its bytes are not copied."""
    from pyarrow import large_binary, large_string, types  # noqa: PLC0415 - optional

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    column = column.cast(large_binary() if _is_bytes(column.type) else large_string())
    _, ends, letters = column.buffers()
    offsets = np.frombuffer(ends, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    text = np.empty(0, dtype=np.uint8) if letters is None else np.frombuffer(letters, dtype=np.uint8)
    return Strings.of_arrays(text[offsets[0] : offsets[-1]], offsets - offsets[0])


def numbers_of(column: "pa.Array") -> Array:
    """Return a column as numbers, NaN where a value is missing.

    Dates are days since 1970, in UTC; durations are days, times of the day are hours. Text that is no number is
    missing.
    """
    from pyarrow import float64, types  # noqa: PLC0415 - optional

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_temporal(column.type):
        return _days(column)
    if _is_text(column.type):
        return _numbers_in_text(column)
    if types.is_decimal(column.type):
        column = column.cast(float64())
    values: Array = column.to_numpy(zero_copy_only=False)
    if values.dtype == object:  # truth values of which some are missing
        values = np.array([np.nan if value is None else float(value) for value in values])
    return values


def _days(column: "pa.Array") -> Array:
    """Return dates and durations in days, and times of the day in hours."""
    from pyarrow import duration, float64, int64, time64, timestamp, types  # noqa: PLC0415 - optional

    if types.is_time(column.type):
        return (
            np.asarray(column.cast(time64("us")).cast(int64()).cast(float64()).to_numpy(zero_copy_only=False)) / 3.6e9
        )
    if types.is_timestamp(column.type):
        fine = column.cast(timestamp("us", column.type.tz), safe=False)
    else:
        fine = column.cast(duration("us") if types.is_duration(column.type) else timestamp("us"), safe=False)
    return np.asarray(fine.cast(int64()).cast(float64()).to_numpy(zero_copy_only=False)) / 86400e6


def _numbers_in_text(column: "pa.Array") -> Array:
    codes, values = _codes(column)
    numbers = np.append(np.array([number_in(value) for value in values], dtype=np.float64), np.nan)
    return np.asarray(numbers[codes])


def _codes(column: "pa.Array") -> Codes:
    from pyarrow import string, types  # noqa: PLC0415 - optional

    if not types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes: Array = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return Codes(codes.astype(np.int64, copy=False), column.dictionary.cast(string()).to_pylist())


def labels_of(column: "pa.Array") -> Array:
    """Return a target without conversion; missing values are NaN among numbers, else None."""
    from pyarrow import types  # noqa: PLC0415 - optional

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_decimal(column.type):
        return numbers_of(column)
    values: Array = column.to_numpy(zero_copy_only=False)
    return values


def whole_labels(name: str, column: str, values: Array) -> Array:
    """Return labels of type float64 as integers, if all labels are whole numbers."""
    if not np.isfinite(values).all() or not (values == np.floor(values)).all():
        return values
    if np.abs(values).max(initial=0) > _LARGEST_WHOLE:
        raise TableError(
            f"{name}: column {column!r} holds whole numbers above 2^53, which are not told apart. Declare it "
            "categorical, or number its values."
        )
    return values.astype(np.int64)
