"""CSR matrices: valid, and in the one form that the rest of the library expects."""

import numpy as np
from scipy import sparse

from mercer._typing import Array, Csr

_LARGEST_INDEX = 2**31 - 1


def check_csr(owner: str, name: str, X: Csr) -> None:
    """Refuse a CSR matrix whose pointers or columns lead outside its arrays: compiled code would follow them."""
    in_range = X.nnz == 0 or (X.indices.min() >= 0 and X.indices.max() < X.shape[1])
    pointers = X.indptr
    n_stored = min(len(X.data), len(X.indices))
    in_order = pointers[0] == 0 and pointers[-1] <= n_stored and bool(np.all(pointers[1:] >= pointers[:-1]))
    if not (in_range and in_order):
        fault = "its indptr is not in order" if in_range else f"its indices leave the range 0 to {X.shape[1] - 1}"
        raise ValueError(f"{owner}: {name} is not a valid CSR matrix: {fault}. Build it again from its rows.")


def canonical_csr(X: Csr) -> Csr:
    """Return a valid CSR matrix as a csr_array whose columns ascend in each row without repetition.

    Indices are 32-bit where they fit. X itself is returned if it has this form already; otherwise only what must change
    is copied, and the caller's matrix stays as it is. The flags of X are not used, on purpose: they are stale if the
    caller has filled its arrays again. The indices are read once.
    """
    n_entries = int(X.indptr[-1])
    narrow = n_entries <= _LARGEST_INDEX and X.shape[1] <= _LARGEST_INDEX
    index_type = np.dtype(np.int32) if narrow else np.dtype(np.int64)
    indices, pointers = X.indices[:n_entries], X.indptr
    in_order = _rows_ascend(indices, pointers)
    is_tight = len(X.data) == len(X.indices) == n_entries
    if in_order and is_tight and indices.dtype == pointers.dtype == index_type and isinstance(X, sparse.sparray):
        return X
    data, indices = X.data[:n_entries], indices.astype(index_type, copy=not in_order)
    pointers = pointers.astype(index_type, copy=not in_order)
    rows = sparse.csr_array((data if in_order else data.copy(), indices, pointers), shape=X.shape)
    if not in_order:
        rows.sum_duplicates()  # this also sorts them
    return rows


def _rows_ascend(indices: Array, pointers: Array) -> bool:
    """Return whether the column numbers ascend within each row; three times as fast as SciPy's check."""
    ascends = np.ones(len(indices), dtype=bool)
    np.greater(indices[1:], indices[:-1], out=ascends[1:])
    starts = pointers[:-1]
    ascends[starts[starts < len(indices)]] = True  # the first entry of a row follows no other
    return bool(ascends.all())
