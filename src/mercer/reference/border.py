"""Checks of indices before SciPy's sparse products, which do not check indices as NumPy does."""

import numpy as np

from mercer._typing import Array, Csr


def check_hashes(index: Array, sign: Array, n_buckets: int) -> None:
    """Raise if a bucket lies outside [0, n_buckets), or if there is not one sign per bucket."""
    if sign.shape != index.shape:
        raise ValueError(f"sign must have the shape of index, {index.shape}, got {sign.shape}.")
    if not _inside(index, n_buckets):
        raise ValueError(f"index must lie in [0, out.shape[1]) = [0, {n_buckets}), but a bucket lies outside.")


def csr_rows(data: Array, indices: Array, indptr: Array, n_columns: int) -> Csr:
    """Return CSR rows as a matrix; indptr may be any n + 1 consecutive pointers of a larger matrix."""
    from scipy import sparse  # noqa: PLC0415 - so that asking for versions does not load it

    if indices.shape != data.shape or not len(indptr) or not _inside(indptr, len(data) + 1):
        raise ValueError(f"indptr must lie in [0, len(data)] = [0, {len(data)}], with as many indices as data.")
    if np.any(indptr[1:] < indptr[:-1]):
        raise ValueError("indptr must not decrease.")
    used = slice(indptr[0], indptr[-1])
    if not _inside(indices[used], n_columns):
        raise ValueError(f"indices must lie in [0, {n_columns}), but a column lies outside.")
    return sparse.csr_array((data[used], indices[used], indptr - indptr[0]), shape=(len(indptr) - 1, n_columns))


def _inside(numbers: Array, end: int) -> bool:
    return numbers.dtype.kind in "iu" and (numbers.size == 0 or (numbers.min() >= 0 and numbers.max() < end))
