"""Tables whose columns have numbers for names: .npy, .npz and svmlight files."""

import zipfile
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.data.readers import SvmlightReader
from mercer.data.tables.base import BATCH_ROWS, Batch, Codes, Table, TableError, Wanted


class MatrixTable(Table):
    """A matrix whose columns are x0, x1, ... and, beside it, columns with names of their own.

    A subclass writes ``_pieces``: blocks of the matrix, and the number of their first row.
    """

    _width: int

    def __init__(self, name: str, width: int, beside: dict[str, Array], categorical: tuple[str, ...]):
        self.name, self._width, self._beside = name, width, beside
        self.kinds = {f"x{j}": "number" for j in range(width)}
        for column, values in beside.items():
            if values.dtype.kind not in "biufUSO":
                raise TableError(f"{name}: {column!r} holds {values.dtype}; columns must hold numbers or text.")
            self.kinds[column] = "number" if values.dtype.kind in "biuf" else "category"
        self.kinds |= {column: "category" for column in categorical if column in self.kinds}

    def _pieces(self) -> Iterator[tuple[Any, int]]:
        raise NotImplementedError

    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        """Cut the matrix into rows of the columns wanted."""
        own = [int(name[1:]) for name in wanted.numbers if name not in self._beside]
        others = [name for name in wanted.numbers if name in self._beside]
        whole = own == list(range(self._width))
        for piece, first in self._pieces():
            rows = slice(first, first + piece.shape[0])
            numbers = piece if whole else piece[:, own]
            if not self.is_sparse:
                numbers = np.asarray(numbers, dtype=np.float64)
            if others:
                numbers = np.column_stack([numbers, *(self._beside[name][rows] for name in others)])
                order = [*own, *others]
                names = [f"x{j}" if isinstance(j, int) else j for j in order]
                numbers = numbers[:, [names.index(name) for name in wanted.numbers]]
            categories = tuple(_codes(self._values(name, piece, rows)) for name in wanted.categories)
            target = None if wanted.target is None else _labels(self._values(wanted.target, piece, rows))
            yield Batch(numbers, categories, target)

    def _values(self, name: str, piece: Any, rows: slice) -> Array:
        if name in self._beside:
            return self._beside[name][rows]
        column = piece[:, [int(name[1:])]]
        return np.asarray(column.toarray() if self.is_sparse else column).ravel()


def _labels(values: Array) -> Array:
    return values.astype(np.float64) if values.dtype.kind in "biuf" else _texts(values)


def _texts(values: Array) -> Array:
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    return values.astype(object)


def _codes(values: Array) -> Codes:
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    found, codes = np.unique(values, return_inverse=True)
    return Codes(np.where(missing, -1, codes), [_printed(value) for value in found.tolist()])


def _printed(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


class NpyTable(MatrixTable):
    """A matrix in a .npy file, mapped into memory and not loaded."""

    def __init__(self, path: str | PathLike[str], *, categorical: tuple[str, ...] = ()):
        name = fspath(path)
        try:
            self._X = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise TableError(f"{name}: not a readable .npy file of numbers: {error}.") from None
        _check_matrix(name, "the array", self._X.shape, self._X.dtype)
        self.n_rows = int(self._X.shape[0])
        super().__init__(name, int(self._X.shape[1]), {}, categorical)

    def _pieces(self) -> Iterator[tuple[Any, int]]:
        for first in range(0, len(self._X), BATCH_ROWS):
            yield self._X[first : first + BATCH_ROWS], first


class NpzTable(MatrixTable):
    """The matrix X of a .npz file, or its only matrix, read a few rows at a time; its vectors are columns beside it."""

    def __init__(self, path: str | PathLike[str], *, categorical: tuple[str, ...] = ()):
        self._path = Path(path)
        try:
            self._shapes = self._headers()
            matrices = [key for key, (shape, _, _) in self._shapes.items() if len(shape) == 2]
            self._key = "X" if "X" in matrices else matrices[0] if len(matrices) == 1 else ""
            if not self._key:
                raise TableError(
                    f"{path}: a .npz file must hold a matrix X, or one matrix; it holds {list(self._shapes)}."
                )
            shape, _, dtype = self._shapes[self._key]
            _check_matrix(str(path), self._key, shape, dtype)
            with np.load(path, allow_pickle=False) as arrays:
                beside = {key: arrays[key] for key, (other, _, _) in self._shapes.items() if other == shape[:1]}
        except (zipfile.BadZipFile, EOFError, OSError) as error:
            raise TableError(f"{path}: not a readable .npz file: {error}.") from None
        self.n_rows = int(shape[0])
        super().__init__(str(path), int(shape[1]), beside, categorical)

    def _headers(self) -> dict[str, tuple[tuple[int, ...], bool, np.dtype[Any]]]:
        with zipfile.ZipFile(self._path) as archive:
            headers = {}
            for member in archive.namelist():
                with archive.open(member) as file:
                    headers[member.removesuffix(".npy")] = _header(file)
            return headers

    def _pieces(self) -> Iterator[tuple[Any, int]]:
        shape, by_columns, dtype = self._shapes[self._key]
        if by_columns:  # the rows of such an array are all over the file
            with np.load(self._path, allow_pickle=False) as arrays:
                X = arrays[self._key]
            yield from ((X[first : first + BATCH_ROWS], first) for first in range(0, shape[0], BATCH_ROWS))
            return
        with zipfile.ZipFile(self._path) as archive, archive.open(f"{self._key}.npy") as file:
            _header(file)
            for first in range(0, shape[0], BATCH_ROWS):
                n_rows = min(BATCH_ROWS, shape[0] - first)
                try:
                    data = file.read(n_rows * shape[1] * dtype.itemsize)
                except zipfile.BadZipFile as error:
                    raise TableError(f"{self._path}: the file is damaged: {error}.") from None
                yield np.frombuffer(data, dtype=dtype).reshape(n_rows, shape[1]), first


def _header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    major, _ = np.lib.format.read_magic(file)
    return read[min(major, 2)](file)


def _check_matrix(name: str, what: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if len(shape) != 2 or dtype.kind not in "biuf":
        raise TableError(f"{name}: {what} must be a matrix of numbers, got shape {shape} of {dtype}.")
    if shape[0] == 0:
        raise TableError(f"{name}: there are no rows.")


class SvmlightTable(MatrixTable):
    """A svmlight file, .gz and .bz2 too: CSR rows, and their labels as the column ``label``."""

    is_sparse = True
    own_target = "label"

    def __init__(self, path: str | PathLike[str], *, categorical: tuple[str, ...] = ()):
        name = fspath(path)
        try:
            self._reader = SvmlightReader(path)
        except (ValueError, OSError, EOFError) as error:
            raise self._fault(name, error) from None
        if not self._reader.n_rows:
            raise TableError(f"{name}: there are no rows.")
        super().__init__(name, self._reader.width, {}, categorical)
        self.kinds["label"] = "number"
        self.n_rows = self._reader.n_rows

    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        """Parse a few thousand lines at a time."""
        own = [int(name[1:]) for name in wanted.numbers]
        width = max(self._width, max(own, default=-1) + 1)  # columns of a model that are empty here
        whole = own == list(range(self._width))
        for block in self._reader.pieces(BATCH_ROWS):
            if not whole:
                block.X.resize((block.n_rows, width))
            yield Batch(block.X if whole else block.X[:, own], (), None if wanted.target is None else block.y)

    @staticmethod
    def _fault(name: str, error: Exception) -> TableError:
        """Say which line is at fault."""
        from io import BytesIO  # noqa: PLC0415

        from sklearn.datasets import load_svmlight_file  # noqa: PLC0415

        try:
            with open(name, "rb") as file:
                for number, line in enumerate(file, 1):
                    try:
                        load_svmlight_file(BytesIO(line), zero_based=True)
                    except ValueError as fault:
                        return TableError(f"{name} line {number}: not svmlight ('label index:value ...'): {fault}.")
        except OSError:
            pass
        return TableError(f"{name}: not a readable svmlight file: {error}.")
