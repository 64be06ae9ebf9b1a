"""A uniform sample of the rows of a stream: one pass, and no more memory than the sample."""

from collections.abc import Iterable

import numpy as np

from mercer._typing import Array, Rows
from mercer.stats import RowSample
from mercer.validation import check_matrix, check_same_width


def reservoir(
    blocks: Iterable[Rows | tuple[Rows, Array]], size: int, rng: np.random.RandomState, *, trusted: bool = False
) -> tuple[Rows, Array]:
    """Return ``size`` rows drawn uniformly without replacement from a stream of blocks, and their row numbers.

    For a stream of pairs (block, values), the values of the chosen rows are returned instead of their numbers.
    ``trusted`` blocks have been checked, and do not change while later blocks are read.

    The key of a row is a hash of its number, and the rows with the smallest keys are chosen. So each set of rows is
    equally likely, whatever the size of the blocks. A stream of at most ``size`` rows is returned whole, in order.

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
