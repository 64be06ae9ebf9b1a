"""Counts of the keys of each row, and their hashed columns."""

import numpy as np

from mercer._typing import Array
from mercer.reference.hashing import as_key, bucket_and_sign, joined


def count_keys(
    pointers: Array,
    keys: Array,
    weights: Array,
    counts: int,
    out_pointers: Array,
    out_keys: Array,
    out_values: Array,
    out_squares: Array,
) -> None:
    """Write the distinct keys of each row in the order of their first occurrence, with the sums of their weights.

    ``counts`` is 0 for sums, 1 for presence (the weight of the first occurrence), 2 for intersection: the c-th
    occurrence of a key counts as the key (key, c), of weight 1. ``out_squares`` receives the sum of squares of each
    row. If there are no weights, all weights are 1.
    """
    weights = weights if len(weights) else np.ones(len(keys))
    end = 0
    out_pointers[0] = 0
    for i in range(len(pointers) - 1):
        row = slice(pointers[i], pointers[i + 1])
        found, first, group = np.unique(keys[row], return_index=True, return_inverse=True)
        if counts == 2:
            new, values = _unary(keys[row], group), np.ones(row.stop - row.start)
        else:
            sums = weights[row][first] if counts == 1 else np.bincount(group, weights[row], len(found))
            met = np.argsort(first)
            new, values = found[met], sums[met]
        stop = end + len(new)
        out_keys[end:stop], out_values[end:stop] = new, values
        out_squares[i] = (values**2).sum()
        out_pointers[i + 1] = end = stop


def _unary(keys: Array, group: Array) -> Array:
    """Return the keys (key, c) of the c-th occurrence of each key; the first is the key itself."""
    order = np.argsort(group, kind="stable")
    sorted_groups = group[order]
    starts = np.searchsorted(sorted_groups, sorted_groups)
    times = np.empty(len(keys), dtype=np.uint64)
    times[order] = np.arange(len(keys)) - starts
    return np.where(times == 0, keys, as_key(joined(keys, times)))


def hash_columns(
    pointers: Array,
    keys: Array,
    values: Array,
    coefficients: Array,
    n_buckets: int,
    out_pointers: Array,
    out_columns: Array,
    out_data: Array,
) -> None:
    """Write the hashed columns of counted keys; the values of a row's keys in the same bucket are added."""
    buckets, signs = bucket_and_sign(keys, coefficients, n_buckets)
    end = 0
    out_pointers[0] = 0
    for i in range(len(pointers) - 1):
        row = slice(pointers[i], pointers[i + 1])
        found, first, group = np.unique(buckets[row], return_index=True, return_inverse=True)
        sums = np.bincount(group, signs[row] * values[row], len(found))
        met = np.argsort(first)
        stop = end + len(found)
        out_columns[end:stop], out_data[end:stop] = found[met], sums[met]
        out_pointers[i + 1] = end = stop


def sketch_keys(pointers: Array, keys: Array, values: Array, coefficients: Array, out: Array) -> None:
    """Overwrite ``out`` (n, D) with the count sketch of the keys of each row."""
    buckets, signs = bucket_and_sign(keys, coefficients, out.shape[1])
    out[...] = 0
    row = np.repeat(np.arange(len(out)), np.diff(pointers))
    used = slice(pointers[0], pointers[-1])
    np.add.at(out, (row, buckets[used]), (signs * values)[used].astype(out.dtype))


def segment_sum(values: Array, pointers: Array, out: Array) -> None:
    """Overwrite row i of ``out`` with the sum of the rows of values from pointers[i] to pointers[i + 1]."""
    for i in range(len(out)):
        out[i] = values[pointers[i] : pointers[i + 1]].sum(axis=0)
