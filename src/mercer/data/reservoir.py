"""A uniform sample of the rows of a stream, in one pass and in the memory of the sample."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from mercer._typing import Array
from mercer.validation import check_matrix, check_same_width


def reservoir(
    blocks: Iterable[Any], size: int, rng: np.random.RandomState, *, trusted: bool = False
) -> tuple[Any, Array]:
    """Return ``size`` rows drawn uniformly without replacement from a stream of blocks, and their row numbers.

    A stream of pairs (block, values) gives the values of the chosen rows in place of their numbers; blocks that are
    ``trusted`` have been checked.

    Every row draws a key, and the rows with the smallest keys stay: each set of rows is equally likely, whatever the
    blocks. A stream that is no longer than ``size`` is returned whole, in order.

    >>> import numpy as np
    >>> rows, numbers = reservoir(iter([np.eye(3), np.ones((2, 3))]), 4, np.random.RandomState(0))
    >>> rows.shape, numbers.tolist()
    ((4, 3), [0, 2, 3, 4])
    """
    kept: Any = None
    keys, numbers = np.zeros(0), np.zeros(0, dtype=np.int64)
    n_seen = 0
    for given in blocks:
        rows, values = given if isinstance(given, tuple) else (given, None)
        block = rows if trusted else check_matrix("reservoir", "block", rows, first_row=n_seen)
        block_keys = rng.random_sample(block.shape[0])
        block_numbers = n_seen + np.arange(block.shape[0]) if values is None else values
        n_seen += block.shape[0]
        if kept is not None:
            check_same_width("reservoir", kept, block)
            if len(keys) == size:  # ever fewer rows can still enter
                here = np.flatnonzero(block_keys < keys.max())
                if not len(here):
                    continue
                block, block_keys, block_numbers = block[here], block_keys[here], block_numbers[here]
            block = sparse.vstack([kept, block], format="csr") if sparse.issparse(block) else np.vstack([kept, block])
        keys, numbers = np.concatenate([keys, block_keys]), np.concatenate([numbers, block_numbers])
        if len(keys) > size:
            stay = np.sort(np.argpartition(keys, size)[:size])
            block, keys, numbers = block[stay], keys[stay], numbers[stay]
        kept = block
    if kept is None:
        raise ValueError("reservoir: the stream of blocks is empty; give at least one block of rows.")
    return kept, numbers
