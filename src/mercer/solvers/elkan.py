"""Nearest centres of rows, kept from one pass of k-means to the next with few distances."""

from typing import Any

import numpy as np
from scipy import sparse

from mercer import core
from mercer._typing import Array
from mercer.reference.clusters import squared_distances
from mercer.stats import ClusterSums

# What rounding may take from a squared distance: this many units of the precision, times the root of the width.
_ROUNDINGS = 8


class NearestCentres:
    r"""The nearest centre of each row, with bounds that say for which rows it can have changed.

    A row keeps an upper bound u of the distance to its own centre and a lower bound l_c for every other. When centres
    move by m_c, the triangle inequality moves the bounds: u + m_own and l_c - m_c. Only where some l_c < u must
    distances be computed anew. The answer is that of all distances, but for centres as near as rounding can tell.

    Bounds are float32, widened by what rounding may take: 4 k + 16 bytes a row, against 4 D of its features. Time n k
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
    >>> doubt = nearest.in_doubt(slice(0, 3), np.zeros(2))
    >>> nearest.settle(slice(0, 3), doubt, rows, centres).weight.tolist()
    [2.0, 1.0]
    >>> nearest.in_doubt(slice(0, 3), np.array([0.5, 0.5])).tolist()
    []
    """

    def __init__(self, n_rows: int, n_clusters: int):
        self.labels = np.full(n_rows, -1, dtype=np.int32)
        self._norms = np.zeros(n_rows)
        self._upper = np.zeros(n_rows, dtype=np.float32)
        self._lower = np.zeros((n_clusters, n_rows), dtype=np.float32)

    @staticmethod
    def row_bytes(n_clusters: int) -> int:
        """Return the bytes that a row takes."""
        return 4 * n_clusters + 16

    def in_doubt(self, block: slice, moved: Array) -> Array:
        """Move the bounds of a block of rows by how far each centre moved; return the rows in doubt, by place in it.

        Rows that have no centre yet are in doubt.
        """
        moved = (moved * (1 + 2 * np.finfo(np.float32).eps)).astype(np.float32)
        doubt = np.empty(len(self.labels[block]), dtype=np.int64)
        n_doubt = core.move_bounds(moved, self.labels[block], self._upper[block], self._lower[:, block], doubt)
        return doubt[:n_doubt]

    def settle(
        self, block: slice, doubt: Array, Z: Any, centres: Array, sample_weight: Array | None = None
    ) -> ClusterSums:
        """Find the nearest centres of the rows in doubt, and return what they add to and take from the clusters.

        ``Z`` holds the features of the whole block or of the rows in doubt, ``sample_weight`` the weights of the block.
        """
        changes = ClusterSums.of(*centres.shape)
        labels, norms = self.labels[block], self._norms[block]
        first = doubt[labels[doubt] < 0]
        weight = np.zeros(0) if sample_weight is None else sample_weight
        longest = float(np.einsum("kd,kd->k", centres, centres).max())
        changes.moves = core.nearest_centres(
            Z,
            doubt,
            centres.astype(Z.dtype),
            _ROUNDINGS * float(np.finfo(Z.dtype).eps) * float(np.sqrt(Z.shape[1])),
            longest,
            weight,
            norms,
            labels,
            self._upper[block],
            self._lower[:, block],
            changes.sums,
            changes.weight,
        )
        changes.squares = float(norms[first].sum() if sample_weight is None else norms[first] @ weight[first])
        return changes


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
