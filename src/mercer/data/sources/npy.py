"""Rows of .npy and .npz files."""

import zipfile
from collections.abc import Iterator
from copy import copy
from os import PathLike, fspath
from pathlib import Path
from typing import IO

import numpy as np

from mercer._typing import Array
from mercer.data.columns import TableError
from mercer.data.sources.arrays import ArraySource
from mercer.data.sources.base import Block
from mercer.data.sources.matrices import MatrixSource
from mercer.parallel import row_blocks


class NpySource(ArraySource):
    """A matrix in a .npy file, which is mapped into memory."""

    def __init__(self, path: str | PathLike[str], *, categorical: tuple[str, ...] = ()):
        name = fspath(path)
        try:
            X: Array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise TableError(f"{name}: not a readable .npy file of numbers: {error}.") from None
        _check_matrix(name, "the array", X.shape, X.dtype)
        super().__init__(name, X, categorical=categorical)
        # The name may become one for people, such as "standard input".
        self._path, self._rows = name, slice(0, X.shape[0])

    def between(self, start: int, stop: int) -> "NpySource":
        """Return a range of the rows of the file."""
        other = copy(self)
        other._rows = slice(self._rows.start + start, self._rows.start + stop)
        other._X, other.n_rows = self._X[start:stop], stop - start
        return other

    def __getstate__(self) -> dict[str, object]:
        """Pickle the name of the file in place of its rows: whoever unpickles it opens the file."""
        return {name: value for name, value in vars(self).items() if name != "_X"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._X = np.load(self._path, mmap_mode="r", allow_pickle=False)[self._rows]


class NpzSource(MatrixSource):
    """The matrix X of a .npz file, or its only matrix, read a few rows at a time; vectors are further columns."""

    def __init__(self, path: str | PathLike[str], *, categorical: tuple[str, ...] = ()):
        self._path = Path(path)
        try:
            self._headers = _headers(self._path)
            matrices = [key for key, (shape, _, _) in self._headers.items() if len(shape) == 2]
            self._key = "X" if "X" in matrices else matrices[0] if len(matrices) == 1 else ""
            if not self._key:
                raise TableError(
                    f"{path}: a .npz file must hold a matrix X, or one matrix; it holds {list(self._headers)}."
                )
            shape, _, dtype = self._headers[self._key]
            _check_matrix(str(path), self._key, shape, dtype)
            with np.load(path, allow_pickle=False) as arrays:
                vectors = {key: arrays[key] for key, (other, _, _) in self._headers.items() if other == shape[:1]}
        except (zipfile.BadZipFile, EOFError, OSError) as error:
            raise TableError(f"{path}: not a readable .npz file: {error}.") from None
        super().__init__(str(path), (int(shape[0]), int(shape[1])), dtype, others=vectors, categorical=categorical)

    def _whole(self, block_rows: int) -> Iterator[Block]:
        shape, by_columns, dtype = self._headers[self._key]
        if by_columns:  # the entries of a row are spread over the file
            with np.load(self._path, allow_pickle=False) as arrays:
                X = arrays[self._key]
            yield from (Block(X[rows]) for rows in row_blocks(shape[0], block_rows))
            return
        with zipfile.ZipFile(self._path) as archive, archive.open(f"{self._key}.npy") as file:
            _header(file)
            for rows in row_blocks(shape[0], block_rows):
                n_rows = rows.stop - rows.start
                try:
                    data = file.read(n_rows * shape[1] * dtype.itemsize)
                except zipfile.BadZipFile as error:
                    raise TableError(f"{self._path}: the file is damaged: {error}.") from None
                yield Block(np.frombuffer(data, dtype=dtype).reshape(n_rows, shape[1]))


def _headers(path: Path) -> dict[str, tuple[tuple[int, ...], bool, np.dtype[np.generic]]]:
    """Return the shape, whether the order is by columns, and the type of each array of a .npz file."""
    headers = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            with archive.open(member) as file:
                headers[member.removesuffix(".npy")] = _header(file)
    return headers


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    major, _ = np.lib.format.read_magic(file)
    return read[min(major, 2)](file)


def _check_matrix(name: str, what: str, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> None:
    if len(shape) != 2 or dtype.kind not in "biuf":
        raise TableError(f"{name}: {what} must be a matrix of numbers, got shape {shape} of {dtype}.")
    if shape[0] == 0:
        raise TableError(f"{name}: there are no rows.")
