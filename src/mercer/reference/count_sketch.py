"""Count sketch: out[i, index[j]] += sign[j] * X[i, j] (Charikar, Chen and Farach-Colton, 2002)."""

import numpy as np
from numpy.typing import DTypeLike

from mercer._typing import Array, Csr
from mercer.reference.border import check_hashes, csr_rows


def _hash_matrix(index: Array, sign: Array, n_buckets: int, dtype: DTypeLike) -> Csr:
    """Return the d x n_buckets matrix with one signed entry per row: a sketch is a product with this matrix."""
    check_hashes(index, sign, n_buckets)
    n_columns = len(index)
    pointers = np.arange(n_columns + 1)
    from scipy import sparse  # noqa: PLC0415 - so that asking for versions does not load it

    return sparse.csr_array((sign.astype(dtype), index, pointers), shape=(n_columns, n_buckets))


def count_sketch(X: Array, index: Array, sign: Array, out: Array) -> None:
    """Overwrite out (n, D) with the count sketch of the dense rows of X (n, d)."""
    hashes = _hash_matrix(index, sign, out.shape[1], X.dtype)
    out[...] = X @ hashes


def count_sketch_csr(data: Array, indices: Array, indptr: Array, index: Array, sign: Array, out: Array) -> None:
    """Overwrite out (n, D) with the count sketch of CSR rows; indptr may be any n + 1 consecutive pointers."""
    X = csr_rows(data, indices, indptr, len(index))
    hashes = _hash_matrix(index, sign, out.shape[1], data.dtype)
    out[...] = (X @ hashes).toarray()
