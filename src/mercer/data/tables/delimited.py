"""Tables in csv files and streams."""

import bz2
import csv as plain
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO

from mercer.data.tables.arrow import batch_of, kind_of, pyarrow
from mercer.data.tables.base import Batch, Kind, Table, TableError, Wanted

# Bytes parsed at once, and of which the first tell the types of the columns. pyarrow reads some 30 of them ahead.
_BLOCK_BYTES = 2**20


class CsvTable(Table):
    """A csv file with a line of names (.gz too), or a stream of one, which can be read once.

    Columns whose values in the first MiB are all numbers, or all missing, hold numbers; the others categories. An empty
    value, NA, null or nan is missing.

    Parameters
    ----------
    source : path or binary stream
    delimiter : str, default=","
    header : bool, default=True
        Without a line of names the columns are called x0, x1, ...
    categorical : names of columns of numbers that are categories
    name : str, optional
        Whom errors name.
    """

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
        self.name = name or (str(self._path) if self._path else "standard input")
        self.rereadable = False
        self._delimiter, self._header = delimiter, header
        self._file: Any = None
        self._stream = None if self._path else _Stream(source)  # type: ignore[arg-type]
        self._first_lines: bytes | None = None
        self.kinds: dict[str, Kind] = {}
        pa = pyarrow(self.name)
        self._types: dict[str, Any] = {}
        for field in self._look():
            chosen = pa.string() if field.name in categorical or pa.types.is_binary(field.type) else field.type
            if pa.types.is_null(chosen):
                chosen = pa.float64()
            self._types[field.name] = chosen
            self.kinds[field.name] = kind_of(self.name, field.name, chosen)

    def declare(self, kinds: dict[str, Kind]) -> None:
        """Read columns as what a model knows them to be, whatever their first values look like."""
        pa = pyarrow(self.name)
        for name, kind in kinds.items():
            if name in self.kinds and self.kinds[name] != kind:
                self.kinds[name] = kind
                self._types[name] = pa.float64() if kind == "number" else pa.string()

    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        """Parse the file a MiB at a time."""
        pa = pyarrow(self.name)
        columns = [*wanted.numbers, *wanted.categories]
        types = {name: pa.float64() if name in wanted.numbers else self._types[name] for name in columns}
        types |= {name: pa.bool_() for name in wanted.numbers if pa.types.is_boolean(self._types[name])}
        types |= dict.fromkeys(wanted.categories, pa.string())
        if wanted.target is not None:
            columns.append(wanted.target)
            numeric = self.kinds[wanted.target] == "number" and not pa.types.is_boolean(self._types[wanted.target])
            types[wanted.target] = pa.float64() if numeric else self._types[wanted.target]
        n_rows = 0
        with self._opened() as file:
            try:
                for batch in self._reader(file, column_types=types, include_columns=columns):
                    n_rows += batch.num_rows
                    if batch.num_rows:
                        yield batch_of(batch, wanted)
            except pa.ArrowInvalid as error:
                raise self._fault(error, types, n_rows) from None

    def bytes_read(self) -> tuple[int, int] | None:
        """Return the position in the file."""
        if self._path is None or self._file is None or self._file.closed:
            return None
        return self._file.tell(), self._path.stat().st_size

    def _look(self) -> Any:
        """Return the names and types that the first rows show."""
        pa = pyarrow(self.name)
        try:
            schema = next(iter(self._reader(self._head()))).schema
        except StopIteration:
            raise TableError(f"{self.name}: there are no rows below the line of names.") from None
        except pa.ArrowInvalid as error:
            raise self._fault(error, {}, 0) from None
        except UnicodeDecodeError:
            raise self._fault(pa.ArrowInvalid("its names are not UTF-8"), {}, 0) from None
        twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
        if twice:
            raise TableError(f"{self.name}: the line of names has {twice[0]!r} twice. Rename one of the columns.")
        return schema

    def _head(self) -> io.BytesIO:
        """Return the first whole lines: a MiB of them, or more where lines are longer."""
        if self._first_lines is None:
            if self._stream is not None:
                self._first_lines = self._stream.first_lines()
            else:
                with self._opened() as file:
                    self._first_lines = _whole_lines(file)
        return io.BytesIO(self._first_lines)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        if self._stream is not None:
            yield self._stream.all_lines(self.name)
            return
        assert self._path is not None  # noqa: S101
        with open(self._path, "rb") as raw:
            self._file = raw
            openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
            opener = openers.get(self._path.suffix)
            yield raw if opener is None else opener(raw)

    def _reader(self, file: Any, **convert: Any) -> Iterator[Any]:
        pa = pyarrow(self.name)
        from pyarrow import csv  # noqa: PLC0415 - optional

        names = {} if self._header else {"column_names": self._made_names()}
        longest = len(self._head().readline())
        with csv.open_csv(
            pa.PythonFile(file, mode="r"),
            read_options=csv.ReadOptions(block_size=max(_BLOCK_BYTES, 8 * longest), **names),
            parse_options=csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(strings_can_be_null=True, **convert),
        ) as reader:
            yield from reader

    def _made_names(self) -> list[str]:
        if not hasattr(self, "_n_columns"):
            line = self._head().readline().decode("utf-8", errors="replace")
            self._n_columns = len(next(plain.reader([line], delimiter=self._delimiter), []))
        return [f"x{j}" for j in range(self._n_columns)]

    def _fault(self, error: Exception, types: dict[str, Any], n_rows: int) -> TableError:
        """Say which line of the file is at fault: pyarrow, parsing many at once, does not know."""
        if self._stream is not None:
            return TableError(f"{self.name}: after row {n_rows}: {_first_line(error)}")
        if "Empty CSV" in str(error):
            return TableError(f"{self.name}: the file is empty; its first line must name the columns.")
        with self._opened() as file:
            found = self._first_fault(file, types)
        return TableError(f"{self.name}: {_first_line(error)}") if found is None else found

    def _first_fault(self, file: Any, types: dict[str, Any]) -> TableError | None:
        lines = _Lines(file)
        rows = plain.reader(lines, delimiter=self._delimiter)
        try:
            names = next(rows) if self._header else self._made_names()
            for row in rows:
                if row and len(row) != len(names):
                    return TableError(
                        f"{self.name} line {rows.line_num}: {len(row)} values, and there are {len(names)} columns. "
                        "Quote values that hold the delimiter, or name another one."
                    )
                for name, value in zip(names, row, strict=False):
                    if name in types and not _converts(value, types[name]):
                        return TableError(
                            f"{self.name} line {rows.line_num}: column {name!r} holds {value!r}, which is not a number "
                            "as the values above it. Correct it, or declare the column categorical."
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
    """The decoded lines of a file, counted."""

    def __init__(self, file: Any):
        self._file = file
        self.n_lines = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._file:
            self.n_lines += 1
            yield line.decode("utf-8-sig" if self.n_lines == 1 else "utf-8")


def _whole_lines(file: Any) -> bytes:
    """Read about a MiB, and at least two lines, up to the end of a line."""
    return bytes(file.read(_BLOCK_BYTES) + file.readline() + file.readline())


class _Stream:
    """A stream whose first lines can be looked at, and that can then be read once from its beginning."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self._first = b""
        self._read = False

    def first_lines(self) -> bytes:
        self._first = _whole_lines(self._file)
        return self._first

    def all_lines(self, name: str) -> Any:
        if self._read:
            raise TableError(f"{name}: a stream can be read once only.")
        self._read = True
        return io.BufferedReader(_Chained(self._first, self._file), _BLOCK_BYTES)


class _Chained(io.RawIOBase):
    """Bytes already read, then those of the stream."""

    def __init__(self, head: bytes, file: BinaryIO):
        super().__init__()
        self._head, self._file = memoryview(head), file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._head:
            data = getattr(self._file, "read1", self._file.read)(len(buffer))
        else:
            data, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def _converts(value: str, kind: Any) -> bool:
    from pyarrow import ArrowInvalid, csv, types  # noqa: PLC0415 - optional

    if types.is_string(kind) or value in csv.ConvertOptions().null_values:
        return True
    if types.is_boolean(kind):
        return value.lower() in ("true", "false", "0", "1")
    try:
        (int if types.is_integer(kind) else float)(value)
    except (ValueError, ArrowInvalid):
        return False
    return True


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
