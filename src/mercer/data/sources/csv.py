"""Rows of csv files and streams."""

import csv as plain
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from mercer._typing import Array
from mercer.data.calendar import days_of_text
from mercer.data.columns import Columns, Kind, TableError, warn_of_text
from mercer.data.sources.arrow import ArrowSource, pyarrow, strings_of, whole_labels
from mercer.data.sources.compression import opened
from mercer.structures import Strings

if TYPE_CHECKING:
    import pyarrow as pa
    from _typeshed import WriteableBuffer

# Bytes from which the types of the columns are found; the smallest and the largest number of bytes parsed at once.
# pyarrow always reads 32 such pieces ahead.
_HEAD_BYTES, _LEAST_BYTES, _MOST_BYTES = 2**20, 2**16, 2**20


class CsvSource(ArrowSource):
    """A csv file (also .gz, .bz2 and .zst), or a binary stream of csv, which can be read once.

    A column holds numbers if all its values in the first MiB are numbers or missing; else it holds categories. Missing
    values are empty, NA, null or nan. A value in quotes may hold line breaks and delimiters.

    Parameters
    ----------
    source : path or binary stream
    delimiter : str, default=","
    header : bool, default=True
        Without a line of names, the names of the columns are x0, x1, ...
    categorical : names of columns of numbers that are categories
    name : str, optional
        The name that begins error messages.
    """

    rereadable = False

    def __init__(
        self,
        source: str | PathLike[str] | BinaryIO,
        *,
        delimiter: str = ",",
        header: bool = True,
        categorical: tuple[str, ...] = (),
        name: str | None = None,
    ):
        self._path = Path(fspath(source)) if isinstance(source, str | PathLike) else None
        self._stream = None if isinstance(source, str | PathLike) else _Stream(source)
        self.name = name or (str(self._path) if self._path else "standard input")
        self._delimiter, self._header, self._categorical = delimiter, header, tuple(categorical)
        self._raw: BinaryIO | None = None  # the file of the running pass
        self._pa = pyarrow(self.name)
        self._head = self._first_lines()
        super().__init__(self.name, self._found_types(categorical), categorical)

    def declare(self, kinds: dict[str, Kind]) -> None:
        """Set the kinds of columns to those of a model, whatever the first values look like."""
        for name, kind in kinds.items():
            if name in self._kinds and self._kinds[name] != kind:
                self._kinds[name] = kind
                self._types[name] = self._declared(kind)

    def read_as(self, kinds: Mapping[str, str]) -> None:
        """Read some columns as another kind; in text that is read as numbers, what is no number is missing."""
        for name, kind in kinds.items():
            if self._kinds[name] == "category" and kind == "number":
                self._kinds[name] = "number"  # and the type is still text
            elif kind == "category":
                self._categorical = (*self._categorical, name)
                self.declare({name: "category"})
            else:
                self.declare({name: kind})  # type: ignore[dict-item]

    def warn_of_doubts(self) -> None:
        """Warn of chosen columns of text whose first values are numbers but for a few."""
        try:
            lines = self._head.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:  # reading will refuse the file
            return
        rows = plain.reader(lines, delimiter=self._delimiter)
        names = next(rows) if self._header else self._made_names()
        places = {name: names.index(name) for name in self.columns.categories if name in names}
        found: dict[str, list[tuple[str, str]]] = {name: [] for name in places}
        nulls = _null_values()
        for row in rows if places else ():
            if len(row) == len(names):
                for name, j in places.items():
                    if row[j] not in nulls:
                        found[name].append((f"line {rows.line_num}", row[j]))
        for name, values in found.items():
            if name not in self._categorical:
                warn_of_text(self.name, name, values)

    def _declared(self, kind: Kind) -> "pa.DataType":
        return {"number": self._pa.float64(), "date": self._pa.timestamp("us")}.get(kind, self._pa.string())

    def is_single(self, column: str) -> bool:
        """Return False: the numbers of a csv file are float64."""
        return False

    def bytes_read(self) -> tuple[int, int] | None:
        """Return the position in the file."""
        if self._path is None or self._raw is None or self._raw.closed:
            return None
        return self._raw.tell(), self._path.stat().st_size

    def _batches(self, columns: Columns, block_rows: int) -> "Iterator[pa.RecordBatch]":
        """Parse the file a few blocks of rows at a time."""
        types = {name: self._type_to_read(name) for name in columns.all}
        # The column of text is read as it is written: NA may be a word, and an empty text is a text.
        convert: dict[str, object] = {} if columns.objects is None else {"null_values": [""]}
        n_rows = 0
        with self._opened() as file:
            try:
                for batch in self._parsed(file, block_rows, column_types=types, include_columns=list(types), **convert):
                    n_rows += batch.num_rows
                    yield batch
            except self._pa.ArrowInvalid as error:
                raise self._fault(error, types, n_rows) from None
            except (OSError, EOFError) as error:  # of a compressed file
                raise TableError(f"{self.name}: the file is damaged: {_first_line(error)}") from None

    def _type_to_read(self, name: str) -> "pa.DataType":
        """Return the type to parse a column as: numbers are float64, because later numbers may have a fraction."""
        kind, types = self._types[name], self._pa.types
        if self._kinds[name] == "category" or types.is_string(kind):  # text that was declared to be numbers
            return self._pa.string()
        if types.is_date(kind) or types.is_timestamp(kind):  # later values may have a time
            return self._pa.timestamp("us", getattr(kind, "tz", None))
        return kind if types.is_boolean(kind) or types.is_time(kind) else self._pa.float64()

    def _strings(self, batch: "pa.RecordBatch", name: str, first_row: int) -> Strings:
        return strings_of(batch.column(name).fill_null(""))

    def _labels(self, column: "pa.Array", name: str) -> Array:
        labels = super()._labels(column, name)
        return whole_labels(self.name, name, labels) if self._pa.types.is_integer(self._types[name]) else labels

    def _found_types(self, categorical: tuple[str, ...]) -> "dict[str, pa.DataType]":
        """Return the types of the columns, found from the first lines."""
        pa = self._pa
        try:
            schema = next(iter(self._parsed(io.BytesIO(self._head), None))).schema
        except StopIteration:
            raise TableError(f"{self.name}: there are no rows below the line of names.") from None
        except pa.ArrowInvalid as error:
            raise self._fault(error, {}, 0) from None
        except UnicodeDecodeError:
            raise self._fault(pa.ArrowInvalid("its names are not UTF-8"), {}, 0) from None
        twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
        if twice:
            raise TableError(
                f"{self.name}: the line of names has {twice[0]!r} twice. Rename one of the columns; if the file has no "
                "line of names, say so (header=False, in the shell --no-header)."
            )
        types = {field.name: field.type for field in schema}
        for name, kind in types.items():
            if name in categorical or pa.types.is_binary(kind):
                types[name] = pa.string()
            elif pa.types.is_null(kind):
                types[name] = pa.float64()
        return types

    def _first_lines(self) -> bytes:
        """Return the first whole lines: about one MiB."""
        if self._stream is not None:
            return self._stream.first_lines()
        try:
            with self._opened() as file:
                return _whole_lines(file)
        except (OSError, EOFError) as error:
            raise TableError(f"{self.name}: the file is damaged or of another kind: {_first_line(error)}") from None

    @contextmanager
    def _opened(self) -> Iterator[io.BufferedIOBase]:
        if self._stream is not None:
            yield self._stream.all_lines(self.name)
            return
        with opened(str(self._path)) as (file, self._raw):
            yield file

    def _parsed(self, file: io.BufferedIOBase, block_rows: int | None, **convert: object) -> "Iterator[pa.RecordBatch]":
        from pyarrow import csv  # noqa: PLC0415 - optional

        names = {} if self._header else {"column_names": self._made_names()}
        with csv.open_csv(
            self._pa.PythonFile(file, mode="r"),
            read_options=csv.ReadOptions(block_size=self._bytes_at_once(block_rows), **names),
            parse_options=csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(strings_can_be_null=True, **convert),
        ) as reader:
            yield from reader

    def _bytes_at_once(self, block_rows: int | None) -> int:
        """Return the number of bytes to parse at once: a block of rows, and at least eight of the longest lines."""
        if block_rows is None:
            return len(self._head) + 1
        wanted = block_rows * len(self._head) // max(self._head.count(b"\n"), 1)
        longest = max(map(len, self._head.split(b"\n")))
        return max(min(max(wanted, _LEAST_BYTES), _MOST_BYTES), 8 * longest)

    def _made_names(self) -> list[str]:
        line = self._head.partition(b"\n")[0].decode("utf-8", errors="replace")
        return [f"x{j}" for j in range(len(next(plain.reader([line], delimiter=self._delimiter), [])))]

    def _fault(self, error: Exception, types: "dict[str, pa.DataType]", n_rows: int) -> TableError:
        """Return an error that names the faulty line: pyarrow parses many lines at once and does not know."""
        if self._stream is not None:
            return TableError(f"{self.name}: after row {n_rows}: {_first_line(error)}")
        if "Empty CSV" in str(error):
            return TableError(f"{self.name}: the file is empty; its first line must name the columns.")
        with self._opened() as file:
            found = self._first_fault(file, types)
        return TableError(f"{self.name}: {_first_line(error)}") if found is None else found

    def _first_fault(self, file: io.BufferedIOBase, types: "dict[str, pa.DataType]") -> TableError | None:
        lines = _Lines(file)
        rows = plain.reader(lines, delimiter=self._delimiter)
        try:
            names = next(rows) if self._header else self._made_names()
            for row in rows:
                if row and len(row) != len(names):
                    return TableError(
                        f"{self.name} line {rows.line_num}: {len(row)} values, and there are {len(names)} columns. "
                        "Quote values that hold the delimiter, or name another one (--delimiter)."
                    )
                for name, value in zip(names, row, strict=False):
                    if name in types and not _converts(value, types[name]):
                        return TableError(
                            f"{self.name} line {rows.line_num}: column {name!r} holds {value!r}, which is not "
                            f"{_called(types[name])} as the values above it. Correct it, or read the column as text "
                            f"(types={{{name!r}: 'category'}}, in the shell --type {name}=category), or leave it out "
                            f"(--ignore {name})."
                        )
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            return TableError(
                f"{self.name} line {lines.n_lines}: byte {error.start + 1} (0x{byte:02x}) is not UTF-8. Convert the "
                "file, for example with iconv -t utf-8."
            )
        except plain.Error as error:
            return TableError(f"{self.name} line {lines.n_lines}: {error}.")
        return None


class _Lines:
    """The decoded lines of a file, and their number."""

    def __init__(self, file: io.BufferedIOBase):
        self._file = file
        self.n_lines = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self.n_lines += 1
            yield line.decode("utf-8-sig" if self.n_lines == 1 else "utf-8")


def _whole_lines(file: io.BufferedIOBase | BinaryIO) -> bytes:
    """Read about a MiB, and at least two lines, up to the end of a line."""
    return bytes(file.read(_HEAD_BYTES) + file.readline() + file.readline())


class _Stream:
    """A stream that can be read once from its beginning, after its first lines have been read ahead."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self._first = b""
        self._read = False

    def first_lines(self) -> bytes:
        self._first = _whole_lines(self._file)
        return self._first

    def all_lines(self, name: str) -> io.BufferedReader:
        if self._read:
            raise TableError(f"{name}: a stream can be read once only.")
        self._read = True
        return io.BufferedReader(_Chained(self._first, self._file), _MOST_BYTES)


class _Chained(io.RawIOBase):
    """Bytes that were read ahead, then the rest of the stream."""

    def __init__(self, head: bytes, file: BinaryIO):
        super().__init__()
        self._head, self._file = memoryview(head), file

    def readable(self) -> bool:
        return True

    def readinto(self, into: "WriteableBuffer") -> int:
        buffer = memoryview(into)
        if not self._head:
            data = getattr(self._file, "read1", self._file.read)(len(buffer))
        else:
            data, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def _converts(value: str, kind: "pa.DataType") -> bool:
    from pyarrow import types  # noqa: PLC0415 - optional

    if types.is_string(kind) or value in _null_values():
        return True
    if types.is_boolean(kind):
        return value.lower() in ("true", "false", "0", "1")
    if types.is_temporal(kind):
        return types.is_time(kind) or days_of_text([value]) is not None
    try:
        float(value)
    except ValueError:
        return False
    return True


def _null_values() -> list[str]:
    from pyarrow import csv  # noqa: PLC0415 - optional

    return list(csv.ConvertOptions().null_values)


def _called(kind: "pa.DataType") -> str:
    return "a date" if str(kind).startswith(("date", "timestamp")) else "a number"


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
