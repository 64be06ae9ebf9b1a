"""Nearest centres of rows, kept from one pass of k-means to the next with few distances."""

from typing import Any

import numpy as np
from scipy import sparse

from mercer._typing import Array

_EPS = float(np.finfo(np.float32).eps)


class NearestCentres:
    r"""The nearest centre of each row, with bounds that say for which rows it can have changed.

    A row keeps an upper bound u of the distance to its own centre and a lower bound l_c for every other. When centres
    move by m_c, the triangle inequality moves the bounds: u + m_own and l_c - m_c. Only where some l_c < u must
    distances be computed anew. The answer is that of all distances, but for centres as near as rounding can tell.

    Bounds are float32, widened by what rounding may take: 4 k + 8 bytes a row, against 4 D of its features. Time n k
    for each pass, and k D for each row in doubt.

    Parameters
    ----------
    n_rows, n_clusters : int

    References
    ----------
    C. Elkan, "Using the triangle inequality to accelerate k-means", 2003.

    >>> import numpy as np
    >>> nearest = NearestCentres(3, 2)
    >>> rows, centres = np.array([[0.0], [1.0], [9.0]]), np.array([[0.0], [8.0]])
    >>> doubt = nearest.in_doubt(slice(0, 3), np.full(2, np.inf))
    >>> nearest.settle(doubt, rows, np.array([0.0, 1.0, 81.0]), centres).tolist()
    [0, 0, 1]
    >>> nearest.in_doubt(slice(0, 3), np.array([0.5, 0.5])).tolist()
    []
    """

    def __init__(self, n_rows: int, n_clusters: int):
        self.labels = np.zeros(n_rows, dtype=np.int32)
        self._upper = np.full(n_rows, np.inf, dtype=np.float32)
        self._lower = np.zeros((n_clusters, n_rows), dtype=np.float32)

    @staticmethod
    def row_bytes(n_clusters: int) -> int:
        """Return the bytes that a row takes."""
        return 4 * n_clusters + 8

    def in_doubt(self, rows: slice, moved: Array) -> Array:
        """Move the bounds of a range of rows by how far each centre moved; return the numbers of rows in doubt."""
        moved = (moved * (1 + 2 * _EPS)).astype(np.float32)
        lower, upper = self._lower[:, rows], self._upper[rows]
        lower -= moved[:, None]
        upper += moved[self.labels[rows]]
        # Each step rounds: widen by as much.
        lower *= np.float32(1 - 2 * _EPS)
        upper *= np.float32(1 + 2 * _EPS)
        doubt: Array = np.flatnonzero(lower.min(axis=0) < upper)
        doubt += rows.start
        return doubt

    def settle(self, rows: Array, Z: Any, norms: Array, centres: Array) -> Array:
        """Find the nearest centres of rows in doubt from their features and squared norms, and return them."""
        squares = squared_distances(Z, norms, centres)
        labels, nearest = nearest_of(squares)
        size = norms + float(np.einsum("kd,kd->k", centres, centres).max())
        slack = 8 * float(np.finfo(Z.dtype).eps) * np.sqrt(Z.shape[1]) * size
        self._upper[rows] = np.sqrt(np.maximum(nearest, 0) + slack) * (1 + 4 * _EPS)
        squares -= slack.astype(squares.dtype)
        lower = np.sqrt(np.maximum(squares, 0, out=squares), out=squares).astype(np.float32, copy=False)
        lower *= np.float32(1 - 4 * _EPS)
        lower[labels, np.arange(len(labels))] = np.inf  # its own centre is never another
        whole = slice(int(rows[0]), int(rows[-1]) + 1) if len(rows) == rows[-1] - rows[0] + 1 else rows
        self._lower[:, whole] = lower
        self.labels[rows] = labels
        return labels


def nearest_of(squares: Array) -> tuple[Array, Array]:
    """Return the number and the value of the least entry of each column, the first of equal ones.

    A row at a time: NumPy's argmin down the columns was measured 3 to 5 times slower.

    >>> import numpy as np
    >>> [part.tolist() for part in nearest_of(np.array([[3.0, 1.0], [2.0, 1.0]]))]
    [[1, 0], [2.0, 1.0]]
    """
    labels, least = np.zeros(squares.shape[1], dtype=np.int32), squares[0].copy()
    for number, row in enumerate(squares[1:], 1):
        np.copyto(labels, number, where=row < least)
        np.minimum(least, row, out=least)
    return labels, least


def distances(Z: Any, centres: Array) -> Array:
    """Return the distances of rows (down) to centres (across), right to half the digits at least, those near 0 too."""
    norms = np.asarray((Z.multiply(Z) if sparse.issparse(Z) else np.square(Z)).sum(axis=1)).ravel()
    squares = squared_distances(Z, norms, centres).T
    # Small ones are differences of large numbers: take those few entry by entry.
    size = norms[:, None] + np.einsum("kd,kd->k", centres, centres)
    near, centre = np.nonzero(squares < np.sqrt(np.finfo(Z.dtype).eps) * size)
    for rows in np.array_split(np.arange(len(near)), 1 + len(near) // 1024):
        Z_near = Z[near[rows]].toarray() if sparse.issparse(Z) else Z[near[rows]]
        squares[near[rows], centre[rows]] = np.square(Z_near - centres[centre[rows]]).sum(axis=1)
    return np.sqrt(squares)


def squared_distances(Z: Any, norms: Array, centres: Array) -> Array:
    """Return squared distances of centres (down) to rows (across), in Z's precision; rounding may leave them < 0."""
    C = centres.astype(Z.dtype, copy=False)
    squares: Array = np.asarray((Z @ C.T).T) if sparse.issparse(Z) else C @ Z.T
    squares *= -2
    squares += norms.astype(Z.dtype, copy=False)
    squares += np.einsum("kd,kd->k", C, C)[:, None]
    return squares
