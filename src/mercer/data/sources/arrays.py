"""Rows of arrays, sparse matrices and memory maps."""

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from scipy import sparse

from mercer.data.sources.base import Block
from mercer.data.sources.matrices import MatrixSource
from mercer.parallel import row_blocks


class ArraySource(MatrixSource):
    """The rows of an array or sparse matrix; the rows of a memory map stay on disk until they are read.

    Numbers that are not float32 or float64 are converted to float64, one piece at a time.
    """

    def __init__(self, owner: str, X: Any, *, categorical: tuple[str, ...] = ()):
        X = X if hasattr(X, "ndim") else np.asarray(X)
        if X.ndim != 2:
            raise ValueError(
                f"{owner}: X must have rows and columns. Expected 2D array, got {X.ndim}D array instead. "
                "Reshape your data, with X.reshape(-1, 1) for one column or X.reshape(1, -1) for one row."
            )
        is_sparse = bool(sparse.issparse(X))
        self._X = X.tocsr() if is_sparse else X
        shape = int(X.shape[0]), int(X.shape[1])
        super().__init__(owner, shape, X.dtype, is_sparse=is_sparse, categorical=categorical)

    @property
    def divides(self) -> bool:
        """Whether rows can be cut anywhere: not where further columns belong to them."""
        return not self._others

    def between(self, start: int, stop: int) -> "ArraySource":
        """Return a range of the rows; only these are pickled."""
        other = copy(self)
        other._X, other.n_rows = self._X[start:stop], stop - start
        return other

    def _whole(self, block_rows: int) -> Iterator[Block]:
        """Yield views of the array, or rows of the CSR matrix."""
        for rows in row_blocks(int(self.n_rows or 0), block_rows):
            yield Block(self._X[rows])
