"""Rows of svmlight (LIBSVM) text files, labels included."""

import bz2
import gzip
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import islice
from os import PathLike, fspath
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from mercer.data.readers.base import Block, Reader

# Lines read at once while the file is scanned for its width.
_SCAN_LINES = 512


class SvmlightReader(Reader):
    r"""The rows of a svmlight file as CSR blocks, with its labels as y; .gz and .bz2 files are read as they are.

    Parameters
    ----------
    path : str or path
    n_features : int, optional
        Number of columns; the largest index of the file by default. Give it for a test file, which may lack the last
        columns of its training file.
    dtype : float32 or float64, default=float64

    Notes
    -----
    The file is scanned once when the reader is made: only then are the width, the number of rows and whether columns
    count from 0 or from 1 known. An index 0 anywhere means that they count from 0.

    Examples
    --------
    >>> import tempfile, os
    >>> from mercer.data import SvmlightReader, as_blocks
    >>> path = os.path.join(tempfile.mkdtemp(), "rows")
    >>> _ = open(path, "w").write("1 1:0.5 3:2\n-1 2:1\n")
    >>> blocks = as_blocks(SvmlightReader(path))
    >>> blocks.width, blocks.n_rows
    (3, 2)
    """

    is_sparse = True
    labelled = True
    keeps_pieces = True

    def __init__(self, path: str | PathLike[str], *, n_features: int | None = None, dtype: Any = np.float64):
        self._path = fspath(path)
        self.dtype = np.dtype(dtype)
        n_rows, first, last = 0, 1, -1
        for text in self._texts(_SCAN_LINES):
            X, _ = load_svmlight_file(BytesIO(text), zero_based=True)
            n_rows += X.shape[0]
            if X.nnz:
                first, last = min(first, int(X.indices.min())), max(last, int(X.indices.max()))
        self._from_zero = first == 0
        self.n_rows, found = n_rows, last + self._from_zero
        self.width = found if n_features is None else n_features
        if found > self.width:
            raise ValueError(
                f"SvmlightReader: n_features must be at least the columns of {self._path}, {found}, got {n_features}."
            )

    def _texts(self, n_lines: int) -> Iterator[bytes]:
        openers: dict[str, Callable[..., Any]] = {"gz": gzip.open, "bz2": bz2.open}
        with openers.get(self._path.rpartition(".")[2], open)(self._path, "rb") as file:
            while lines := list(islice(file, n_lines)):
                yield b"".join(lines)

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield as many lines at a time as a block has rows."""
        for text in self._texts(block_rows):
            X, y = load_svmlight_file(
                BytesIO(text), n_features=self.width, zero_based=self._from_zero, dtype=self.dtype
            )
            yield Block(X, y)
