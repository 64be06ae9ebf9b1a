"""Rows as a re-iterable source of blocks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.parallel import row_blocks
from mercer.validation import check_matrix


@dataclass(frozen=True)
class Blocks:
    """The rows of an array or CSR matrix in blocks; each pass over it yields the same blocks, as views.

    Parameters
    ----------
    X : ndarray or CSR matrix, checked
    block_rows : int, optional
        Rows a block, ``config_context``'s by default.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data import as_blocks
    >>> [block.shape for block in as_blocks(np.eye(5), block_rows=2)]
    [(2, 5), (2, 5), (1, 5)]
    """

    X: Any
    block_rows: int | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries, float32 or float64."""
        dtype: np.dtype[Any] = self.X.dtype
        return dtype

    @property
    def is_sparse(self) -> bool:
        """Whether the blocks are CSR."""
        return bool(sparse.issparse(self.X))

    def slices(self) -> list[slice]:
        """Return the rows of each block."""
        return row_blocks(self.n_rows, self.block_rows)

    def __len__(self) -> int:
        return len(self.slices())

    def __iter__(self) -> Iterator[Any]:
        return (self.X[rows] for rows in self.slices())


def as_blocks(X: Any, *, block_rows: int | None = None) -> Blocks:
    """Return X as blocks: an array, a data frame of numbers, a sparse matrix, or blocks already."""
    if isinstance(X, Blocks):
        return X
    return Blocks(check_matrix("as_blocks", "X", X), block_rows)
