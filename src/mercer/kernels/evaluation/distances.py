"""Distances between rows, exact also where rows nearly coincide."""

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from mercer._typing import Array, Rows, is_sparse

# Below this share of |x|^2 + |y|^2 the expanded square has lost 4 of its 16 digits, and x - y is squared instead.
_NEAR = 1e-4
_PAIR_ENTRIES = 2**20


def squared_distances(X: Rows, Y: Rows) -> Array:
    """Return |x - y|^2 for all pairs of rows, in float64.

    Far pairs by |x|^2 + |y|^2 - 2 <x, y>, one matrix product, after centring dense rows; near pairs, where that
    difference cancels, from x - y itself. Cost O(n m d), and O(d) more for each near pair.
    """
    X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
    if isinstance(X, np.ndarray) and isinstance(Y, np.ndarray):
        centre = Y.mean(axis=0)
        X, Y = X - centre, Y - centre
    size = row_norms(X, squared=True)[:, np.newaxis] + row_norms(Y, squared=True)
    squares = np.asarray(safe_sparse_dot(X, Y.T, dense_output=True))
    squares *= -2
    squares += size
    size *= _NEAR
    rows, columns = np.nonzero(squares <= size)
    step = max(1, _PAIR_ENTRIES // max(1, X.shape[1]))
    for start in range(0, len(rows), step):
        i, j = rows[start : start + step], columns[start : start + step]
        squares[i, j] = row_norms(X[i] - Y[j], squared=True)
    return squares


def absolute_distances(X: Rows, Y: Rows) -> Array:
    """Return |x - y|_1 for all pairs of rows, in float64."""
    if is_sparse(X) != is_sparse(Y):
        X, Y = sparse.csr_array(X), sparse.csr_array(Y)
    return np.asarray(manhattan_distances(X, Y), dtype=np.float64)
