"""One symmetric tree: all nodes of a level are split by the same column at the same bin."""

import numpy as np

from mercer._typing import Array


def grow_symmetric_tree(
    codes: Array,
    rows: Array,
    sums: Array,
    columns: Array,
    n_bins: int,
    penalty: float,
    out_columns: Array,
    out_bins: Array,
) -> int:
    """Write the splits of a tree; return how many levels it has. A level without a gain ends the tree.

    ``codes`` (d, n) uint8 holds the bins of all rows, column by column; the tree sees ``rows`` (m,), whose ``sums``
    (m, k + 1) are their weight times each target, and at last their weight. Each level takes the column (of
    ``columns``) and the bin with the largest sum of g^2 / (w + penalty) over the cells: what the means of the cells,
    shrunken by the penalty, take off the squared error. Rows of a larger bin go to the right.
    """
    node = np.zeros(len(rows), dtype=np.int64)
    for depth in range(len(out_columns)):
        n_nodes = 2**depth
        totals = np.stack([np.bincount(node, s, n_nodes) for s in sums.T], axis=-1)
        found, split = _explained(totals, penalty).sum() * (1 + 1e-12), None
        for column in columns.tolist():
            place = node * n_bins + codes[column, rows]
            cells = np.stack([np.bincount(place, s, n_nodes * n_bins) for s in sums.T], axis=-1)
            left = np.cumsum(cells.reshape(n_nodes, n_bins, -1), axis=1)[:, :-1]
            right = totals[:, None] - left
            right[..., -1] = np.maximum(right[..., -1], 0.0)  # a difference of weights, rounded
            gains = (_explained(left, penalty) + _explained(right, penalty)).sum(axis=0)
            if len(gains) and gains.max() > found:
                found, split = gains.max(), (column, int(gains.argmax()))
        if split is None:
            return depth
        out_columns[depth], out_bins[depth] = split
        node = 2 * node + (codes[split[0], rows] > split[1])
    return len(out_columns)


def _explained(sums: Array, penalty: float) -> Array:
    return np.asarray((sums[..., :-1] ** 2).sum(axis=-1) / (sums[..., -1] + penalty))
