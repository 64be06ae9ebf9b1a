"""Rows of svmlight (LIBSVM) text files, labels included."""

from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from os import PathLike, fspath

import numpy as np
from numpy.typing import DTypeLike

from mercer._typing import Array, Csr
from mercer.data.columns import TableError
from mercer.data.sources.base import Block
from mercer.data.sources.compression import opened
from mercer.data.sources.matrices import MatrixSource

# Lines read at once while the file is scanned for its width.
_SCAN_LINES = 512


class SvmlightReader(MatrixSource):
    r"""The rows of an svmlight file as CSR blocks, with the labels as y; also .gz, .bz2 and .zst files.

    Parameters
    ----------
    path : str or path
    n_features : int, optional
        Number of columns; the largest index of the file by default. Set this for a test file, which may have no entry
        in the last columns of its training file.
    dtype : float32 or float64, default=float64
    categorical : names of columns
        Must be empty: the columns of sparse rows are numbers.

    Notes
    -----
    The constructor scans the file once, to find the width, the number of rows, and whether columns are numbered from 0
    or from 1. An index 0 anywhere in the file means that columns are numbered from 0.

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

    own_target = "label"

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        n_features: int | None = None,
        dtype: DTypeLike = np.float64,
        categorical: tuple[str, ...] = (),
    ):
        self._path = name = fspath(path)
        n_rows, first, last = self._scanned()
        if n_rows == 0:
            raise TableError(f"{name}: there are no rows.")
        self._from_zero = first == 0
        width = last + self._from_zero
        if n_features is not None and n_features < width:
            raise ValueError(
                f"SvmlightReader: n_features must be at least the columns of {name}, {width}, got {n_features}."
            )
        if categorical:
            raise TableError(f"{name}: the columns of an svmlight file are numbers; none can be declared categorical.")
        super().__init__(name, (n_rows, n_features or width), np.dtype(dtype), is_sparse=True)
        self.labelled = True

    def _scanned(self) -> tuple[int, int, int]:
        """Return the number of rows, and the least and the largest index: 1 and -1 where there is none."""
        n_rows, first, last = 0, 1, -1
        try:
            for text in self._texts(_SCAN_LINES):
                X, _ = _parsed(text, zero_based=True)
                n_rows += X.shape[0]
                if X.nnz:
                    first, last = min(first, int(X.indices.min())), max(last, int(X.indices.max()))
        except (ValueError, OSError, EOFError) as error:
            raise self._fault(error) from None
        return n_rows, first, last

    def _texts(self, n_lines: int) -> Iterator[bytes]:
        with opened(self._path) as (file, _):
            while lines := list(islice(file, n_lines)):
                yield b"".join(lines)

    def _whole(self, block_rows: int) -> Iterator[Block]:
        """Yield as many lines at a time as a block has rows."""
        for text in self._texts(block_rows):
            X, y = _parsed(text, n_features=self._width, zero_based=self._from_zero, dtype=self.dtype)
            yield Block(X, y)

    def _fault(self, error: Exception) -> Exception:
        """Return an error that names the faulty line."""
        if isinstance(error, FileNotFoundError):
            return error
        number = 0
        try:
            for text in self._texts(1):
                number += 1
                _parsed(text, zero_based=True)
        except ValueError as fault:
            return TableError(f"{self._path} line {number}: not svmlight ('label index:value ...'): {fault}.")
        except (OSError, EOFError):
            pass
        return TableError(f"{self._path}: not a readable svmlight file: {error}.")


def _parsed(text: bytes, **options: object) -> tuple[Csr, Array]:
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - a slow import, which other sources do not need

    X, y = load_svmlight_file(BytesIO(text), **options)
    return X, y
