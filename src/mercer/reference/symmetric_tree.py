"""One symmetric tree: all nodes of a level are split by the same column at the same bin."""

import numpy as np

from mercer._typing import Array
from mercer.reference.types import BinnedRows, BoostedRows, BoostedTree


def boost_symmetric_tree(seen: BinnedRows, boosted: BoostedRows, penalty: float, rate: float, out: BoostedTree) -> int:
    """Fit a tree to the slopes of the loss, and add to the scores of each row the value of its cell.

    Return how many levels the tree has: only so many entries of ``out`` are written, and the values of as many cells.
    """
    slopes, curvatures, weights = _derivatives(boosted)
    depth = _grow(seen, slopes, weights, penalty, out)
    _step(seen.codes, slopes, curvatures, penalty, rate, boosted, out, depth)
    return depth


def _derivatives(boosted: BoostedRows) -> tuple[Array, Array, Array]:
    """Return for each row the negative gradients of the loss (n, k), its curvatures (n, k) or (n, 1), and their mean.

    The squared error has the residuals and 1, each times the weight of the row. The logistic loss has y - tanh f and
    1 - tanh^2 f.
    """
    weight = boosted.weights[:, None]
    slopes = (boosted.targets - boosted.expected) * weight
    if not boosted.logistic:
        return slopes, weight, boosted.weights
    curvatures = (1.0 - boosted.expected**2) * weight
    return slopes, curvatures, curvatures.mean(axis=1)


def _grow(seen: BinnedRows, slopes: Array, weights: Array, penalty: float, out: BoostedTree) -> int:
    """Write the splits of a tree; return how many levels it has. A level without a gain ends the tree.

    Each level takes the column and the bin with the largest sum of g^2 / (w + penalty) over the cells, g the sum of
    ``slopes`` (n, k) and w that of ``weights`` (n,): what Newton steps, shrunken by the penalty, take off the loss.
    """
    codes, rows, columns, n_bins = seen
    out_columns, out_bins = out.columns, out.bins
    sums = np.column_stack([slopes[rows], weights[rows]])
    node = np.zeros(len(rows), dtype=np.int64)
    parents: list[Array] = []
    for depth in range(len(out_columns)):
        n_nodes = 2**depth
        larger = _larger(np.bincount(node, minlength=n_nodes))
        of_columns: list[Array] = []
        for place, (column, bins) in enumerate(zip(columns.tolist(), n_bins.tolist(), strict=True)):
            cell = node * bins + codes[column, rows]
            cells = np.stack([np.bincount(cell, s, n_nodes * bins) for s in sums.T], axis=-1)
            cells = np.cumsum(cells.reshape(n_nodes, bins, -1), axis=1)
            if depth:  # as the compiled core has it, which rounds differently from sums of rows
                cells[larger] = parents[place] - cells[larger ^ 1]
            of_columns.append(cells)
        totals, split = of_columns[0][:, -1], None
        found = np.cumsum(_explained(totals, penalty))[-1] * (1 + 1e-12)
        for column, cells in zip(columns.tolist(), of_columns, strict=True):
            gains = _gains(cells[:, :-1], totals, penalty)
            if len(gains) and gains.max() > found:
                found, split = gains.max(), (column, int(gains.argmax()))
        if split is None:
            return depth
        parents = of_columns
        out_columns[depth], out_bins[depth] = split
        node = 2 * node + (codes[split[0], rows] > split[1])
    return len(out_columns)


def _gains(left: Array, totals: Array, penalty: float) -> Array:
    """Return what each split takes off the loss, given the sums left of it (n_nodes, n_splits, k + 1)."""
    right = totals[:, None] - left
    right[..., -1] = np.maximum(right[..., -1], 0.0)  # a difference of weights, rounded
    w, rest = left[..., -1] + penalty, right[..., -1] + penalty
    # over one denominator, and node after node, as the compiled core has it: equal splits then tie in both
    return np.asarray(np.cumsum((_squares(left) * rest + _squares(right) * w) / (w * rest), axis=0)[-1])


def _larger(counts: Array) -> Array:
    """Return of each two nodes with one parent the one with more rows; the right one of equals."""
    lefts = np.arange(0, len(counts) - 1, 2)
    return np.asarray(lefts + (counts[lefts] <= counts[lefts + 1]))


def _squares(sums: Array) -> Array:
    squares = sums[..., :-1] ** 2
    return np.asarray(squares[..., 0::2].sum(axis=-1) + squares[..., 1::2].sum(axis=-1))


def _explained(sums: Array, penalty: float) -> Array:
    return np.asarray((sums[..., :-1] ** 2).sum(axis=-1) / (sums[..., -1] + penalty))


def _step(
    codes: Array,
    slopes: Array,
    curvatures: Array,
    penalty: float,
    rate: float,
    boosted: BoostedRows,
    out: BoostedTree,
    depth: int,
) -> None:
    """Write the value of each cell, rate g / (h + penalty), add those to the scores, and sum the errors of the judges.

    g are sums of ``slopes`` (n, k) over the rows of a cell, and h those of ``curvatures``. The answers to the questions
    of a tree, 0 or 1, are the binary digits of the number of a cell.
    """
    cells, n_cells = np.zeros(codes.shape[1], dtype=np.int64), 2**depth
    for column, bin_ in zip(out.columns[:depth].tolist(), out.bins[:depth].tolist(), strict=True):
        cells = 2 * cells + (codes[column] > bin_)
    g, h = (np.stack([np.bincount(cells, s, n_cells) for s in part.T], axis=-1) for part in (slopes, curvatures))
    out.values[:n_cells] = rate * g / (h + penalty)
    boosted.scores[:] += out.values[cells]
    # In float32: a cell adds many slopes, and the next tree mends an error.
    boosted.expected[:] = np.tanh(boosted.scores.astype(np.float32)) if boosted.logistic else boosted.scores
    out.errors[:] = boosted.judges @ (boosted.targets - boosted.expected) ** 2
