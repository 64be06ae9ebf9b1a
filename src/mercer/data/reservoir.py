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

    A stream of pairs (block, values) gives the values of the chosen rows in place of their numbers. Blocks that are
    ``trusted`` have been checked, and stay as they are while later ones are read.

    Every row draws a key, and the rows with the smallest keys stay: each set of rows is equally likely, whatever the
    blocks. A stream that is no longer than ``size`` is returned whole, in order.

    >>> import numpy as np
    >>> rows, numbers = reservoir(iter([np.eye(3), np.ones((2, 3))]), 4, np.random.RandomState(0))
    >>> rows.shape, numbers.tolist()
    ((4, 3), [0, 2, 3, 4])
    """
    kept: list[Any] = []
    keys, numbers = np.zeros(0), np.zeros(0, dtype=np.int64)
    n_seen, highest = 0, np.inf
    for given in blocks:
        rows, values = given if isinstance(given, tuple) else (given, None)
        block = rows if trusted else check_matrix("reservoir", "block", rows, first_row=n_seen)
        block_keys = rng.random_sample(block.shape[0])
        block_numbers = n_seen + np.arange(block.shape[0]) if values is None else values
        n_seen += block.shape[0]
        if kept:
            check_same_width("reservoir", kept[0], block)
        if np.isfinite(highest):  # ever fewer rows can still enter
            here = np.flatnonzero(block_keys < highest)
            if not len(here):
                continue
            block, block_keys, block_numbers = block[here], block_keys[here], block_numbers[here]
        elif not trusted:  # the stream may fill the same array with its next rows
            block = block.copy()
        kept.append(block)
        keys, numbers = np.concatenate([keys, block_keys]), np.concatenate([numbers, block_numbers])
        if len(keys) >= size:
            highest = np.partition(keys, size - 1)[size - 1]
        if len(keys) > 2 * size:  # rows that can no longer stay are let go now and then: moving rows costs the most
            kept, keys, numbers = _lowest(kept, keys, numbers, size)
    if not kept:
        raise ValueError("reservoir: the stream of blocks is empty; give at least one block of rows.")
    (sample,), _, numbers = _lowest(kept, keys, numbers, size)
    return sample, numbers


def _lowest(kept: list[Any], keys: Array, numbers: Array, size: int) -> tuple[list[Any], Array, Array]:
    """Return the rows with the smallest keys, in one block and in order, their keys and their numbers."""
    rows = kept[0]
    if len(kept) > 1:
        rows = sparse.vstack(kept, format="csr") if sparse.issparse(rows) else np.vstack(kept)
    if len(keys) <= size:
        return [rows], keys, numbers
    stay = np.sort(np.argpartition(keys, size)[:size])
    return [rows[stay]], keys[stay], numbers[stay]
