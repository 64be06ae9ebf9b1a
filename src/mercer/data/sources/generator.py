"""Rows from a user's function that returns a new iterator at each call."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from mercer.data.sources.base import Block, entries
from mercer.data.sources.matrices import MatrixSource
from mercer.validation import check_matrix


def once_only(owner: str) -> ValueError:
    """Return the error for a source that can be read only once."""
    return ValueError(
        f"{owner}: X is an iterator that can be read once only, and {owner} needs several passes over the rows. Pass a "
        "function that returns a new iterator at each call, such as lambda: read_blocks(path)."
    )


class GeneratorSource(MatrixSource):
    """The blocks of the iterators that a function returns: X, or tuples (X, y), or (X, y, sample_weight)."""

    keeps_pieces = False  # the function may reuse one array

    def __init__(self, owner: str, factory: Callable[[], Iterable[Any]]):
        self._owner, self._factory = owner, factory
        blocks = factory()
        if isinstance(blocks, Iterator) and factory() is blocks:
            raise once_only(owner)
        first = next((block for block in self._whole(0) if block.n_rows), None)
        if first is None:
            raise ValueError(f"{owner}: X has 0 sample(s): the iterator yields no rows.")
        X = check_matrix(owner, "X", first.X, finite=False)  # blocks are checked when they are read
        super().__init__(owner, (None, int(X.shape[1])), X.dtype, is_sparse=bool(sparse.issparse(X)))
        self.labelled = first.y is not None

    def _whole(self, block_rows: int) -> Iterator[Block]:
        """Yield the blocks of the iterator."""
        for item in self._factory():
            parts = item if isinstance(item, tuple) else (item,)
            if not 1 <= len(parts) <= 3:
                raise ValueError(
                    f"{self._owner}: a block must be X, (X, y) or (X, y, sample_weight), got a tuple of {len(parts)}."
                )
            X = parts[0] if hasattr(parts[0], "shape") else np.asarray(parts[0])
            y, weight = (None if part is None else entries(part) for part in (*parts[1:], None, None)[:2])
            yield Block(X, y, weight)
