"""Tables in parquet and Arrow files, folders of them, and data frames."""

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.data.tables.base import BATCH_ROWS, Batch, Codes, Kind, Table, TableError, Wanted


def pyarrow(owner: str) -> Any:
    """Return the package, or say how to install it."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ImportError(f"{owner}: reading it needs pyarrow. Install it with pip install 'mercer[data]'.") from error
    return pa


class ArrowTable(Table):
    """Parquet or Arrow (IPC, feather) files: one, or all of a folder, in the order of their names.

    Parameters
    ----------
    path : path
    kind : "parquet" or "arrow"
    categorical : names of columns of numbers that are categories
    """

    def __init__(self, path: str | PathLike[str], kind: str = "parquet", *, categorical: tuple[str, ...] = ()):
        path = Path(fspath(path))
        self.name, self._kind, self._categorical = str(path), kind, categorical
        suffixes = (".parquet", ".pq") if kind == "parquet" else (".arrow", ".feather", ".ipc")
        found = sorted(file for file in path.rglob("*") if file.suffix in suffixes) if path.is_dir() else [path]
        self._files = [file for file in found if not file.name.startswith((".", "_"))]
        if not self._files:
            raise TableError(f"{path}: the folder holds no {suffixes[0]} file.")
        self._pa = pyarrow(self.name)
        schemas = [self._schema(file) for file in self._files]
        self._check_same(schemas)
        self._types = {field.name: field.type for field in schemas[0]}
        self.kinds: dict[str, Kind] = {
            name: "category" if name in categorical else kind_of(self.name, name, of)
            for name, of in self._types.items()
        }
        self.n_rows = self._count()

    def _opened(self, file: Path) -> Any:
        from pyarrow import ipc, parquet  # noqa: PLC0415 - optional

        try:
            if self._kind == "parquet":
                return parquet.ParquetFile(file, memory_map=False)
            source = self._pa.OSFile(str(file))
            magic = source.read(6)
            source.seek(0)
            return ipc.open_file(source) if magic == b"ARROW1" else ipc.open_stream(source)
        except (self._pa.ArrowException, OSError) as error:
            raise self._corrupt(file, error) from None

    def _corrupt(self, file: Path, error: Exception) -> TableError:
        if file.stat().st_size == 0:
            return TableError(f"{file}: the file is empty.")
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        return TableError(f"{file}: the {self._kind} file is damaged or of another kind: {reason}.")

    def _schema(self, file: Path) -> Any:
        opened = self._opened(file)
        return opened.schema_arrow if self._kind == "parquet" else opened.schema

    def _check_same(self, schemas: list[Any]) -> None:
        for file, schema in zip(self._files, schemas, strict=True):
            if missing := [name for name in schemas[0].names if name not in schema.names]:
                raise TableError(f"{file}: column {missing[0]!r} is missing, which {self._files[0].name} has.")

    def _count(self) -> int | None:
        if self._kind != "parquet":
            return None
        n_rows = sum(int(self._opened(file).metadata.num_rows) for file in self._files)
        if n_rows == 0:
            raise TableError(f"{self.name}: there are no rows.")
        return n_rows

    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        """Read the files one after the other, a few thousand rows at a time."""
        columns = [*wanted.numbers, *wanted.categories, *([wanted.target] if wanted.target is not None else [])]
        empty = True
        for file in self._files:
            try:
                for batch in self._record_batches(file, columns):
                    empty = empty and not batch.num_rows
                    for start in range(0, batch.num_rows, BATCH_ROWS):
                        yield batch_of(batch.slice(start, BATCH_ROWS), wanted)
            except (self._pa.ArrowException, OSError) as error:
                raise self._corrupt(file, error) from None
        if empty:
            raise TableError(f"{self.name}: there are no rows.")

    def _record_batches(self, file: Path, columns: list[str]) -> Iterator[Any]:
        opened = self._opened(file)
        if self._kind == "parquet":
            yield from opened.iter_batches(batch_size=BATCH_ROWS, columns=columns, use_threads=True)
        elif hasattr(opened, "num_record_batches"):
            for i in range(opened.num_record_batches):
                yield opened.get_batch(i).select(columns)
        else:
            yield from (batch.select(columns) for batch in opened)


def kind_of(owner: str, name: str, kind: Any) -> Kind:
    """Return whether a column of a type of pyarrow holds numbers or categories, or refuse it."""
    from pyarrow import types  # noqa: PLC0415 - optional

    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "category"
    raise TableError(
        f"{owner}: column {name!r} holds {kind}; columns must hold numbers or text. Turn it into numbers, declare it "
        "categorical, or leave it out."
    )


def batch_of(batch: Any, wanted: Wanted) -> Batch:
    """Return a record batch as numbers, codes and the target."""
    numbers = np.empty((batch.num_rows, len(wanted.numbers)))
    for j, name in enumerate(wanted.numbers):
        numbers[:, j] = numbers_of(batch.column(name))
    categories = tuple(codes_of(batch.column(name)) for name in wanted.categories)
    target = None if wanted.target is None else target_of(batch.column(wanted.target))
    return Batch(numbers, categories, target)


def numbers_of(column: Any) -> Array:
    """Return a column as float64, NaN where it is missing."""
    from pyarrow import float64, types  # noqa: PLC0415 - optional

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_decimal(column.type):
        column = column.cast(float64())
    values: Array = column.to_numpy(zero_copy_only=False)
    if values.dtype == object:  # booleans with missing values
        values = np.array([np.nan if value is None else float(value) for value in values])
    return values


def codes_of(column: Any) -> Codes:
    """Return a column of text, or of numbers declared categories, as codes."""
    from pyarrow import string, types  # noqa: PLC0415 - optional

    if not types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes: Array = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return Codes(codes.astype(np.int64, copy=False), column.dictionary.cast(string()).to_pylist())


def target_of(column: Any) -> Array:
    """Return a target: numbers, NaN where missing, or text, None where missing."""
    from pyarrow import types  # noqa: PLC0415 - optional

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_boolean(column.type):
        return np.array([None if value is None else str(value).lower() for value in column.to_pylist()], dtype=object)
    if types.is_string(column.type) or types.is_large_string(column.type) or types.is_string_view(column.type):
        return np.array(column.to_pylist(), dtype=object)
    return numbers_of(column) if column.null_count else column.to_numpy(zero_copy_only=False)
