"""A uniform sample of the rows of a stream, in one pass and in the memory of the sample."""

from collections.abc import Iterable

import numpy as np

from mercer._typing import Array, Rows
from mercer.stats import RowSample
from mercer.validation import check_matrix, check_same_width


def reservoir(
    blocks: Iterable[Rows | tuple[Rows, Array]], size: int, rng: np.random.RandomState, *, trusted: bool = False
) -> tuple[Rows, Array]:
    """Return ``size`` rows drawn uniformly without replacement from a stream of blocks, and their row numbers.

    A stream of pairs (block, values) gives the values of the chosen rows in place of their numbers. Blocks that are
    ``trusted`` have been checked, and stay as they are while later ones are read.

    The key of a row is a hash of its number, and the rows with the smallest keys stay: each set of rows is equally
    likely, whatever the blocks. A stream that is no longer than ``size`` is returned whole, in order.

    >>> import numpy as np
    >>> rows, numbers = reservoir(iter([np.eye(3), np.ones((2, 3))]), 4, np.random.RandomState(0))
    >>> rows.shape, numbers.tolist()
    ((4, 3), [1, 2, 3, 4])
    """
    sample = RowSample(size, int(rng.randint(2**31 - 1)))
    n_seen = 0
    first: Rows | None = None
    for given in blocks:
        rows, values = given if isinstance(given, tuple) else (given, None)
        block = rows if trusted else check_matrix("reservoir", "block", rows, first_row=n_seen)
        first = block if first is None else first
        check_same_width("reservoir", first, block)
        if not trusted and n_seen < size:  # the stream may fill the same array with its next rows
            block = block.copy()
        sample.update(block, n_seen, values)
        n_seen += block.shape[0]
    if sample.is_empty:
        raise ValueError("reservoir: the stream of blocks is empty; give at least one block of rows.")
    return sample.rows, sample.values
