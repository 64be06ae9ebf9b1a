"""Rows of arrays, CSR matrices and memory-mapped files."""

from collections.abc import Iterator
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse

from mercer._typing import Array
from mercer.data.readers.base import Block, Reader
from mercer.parallel import row_blocks


class ArrayReader(Reader):
    """The rows of an array or sparse matrix; those of a memory map stay on disk until they are read.

    Numbers that are not float32 or float64 are converted to float64, a piece at a time.
    """

    keeps_pieces = True

    def __init__(self, owner: str, X: Any):
        X = X if hasattr(X, "ndim") else np.asarray(X)
        if X.ndim != 2:
            raise ValueError(
                f"{owner}: X must have rows and columns. Expected 2D array, got {X.ndim}D array instead. "
                "Reshape your data, with X.reshape(-1, 1) for one column or X.reshape(1, -1) for one row."
            )
        self._X = X.tocsr() if sparse.issparse(X) else X
        self.n_rows, self.width = (int(size) for size in X.shape)
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        self.is_sparse = bool(sparse.issparse(X))

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield views of the array, or rows of the CSR matrix."""
        assert self.n_rows is not None  # noqa: S101
        for rows in row_blocks(self.n_rows, block_rows):
            yield Block(self._X[rows])


def npy_reader(owner: str, path: str | PathLike[str]) -> Reader:
    """Return a reader of a .npy file, mapped into memory and not loaded."""
    X: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    return ArrayReader(owner, X)
