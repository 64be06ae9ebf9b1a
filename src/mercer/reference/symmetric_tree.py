"""Symmetric trees: all nodes of a level are split by the same column at the same bin."""

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


def add_tree_scores(codes: Array, columns: Array, bins: Array, values: Array, scores: Array) -> None:
    """Add to ``scores`` (n, k) the values of the cells of all rows, whose bins are ``codes`` (d, n), uint8.

    Level l of tree t asks whether the bin in column ``columns[t, l]`` exceeds ``bins[t, l]``, uint8. The answers, 0 or
    1, are the binary digits of the number of a cell, the first level the highest. ``values`` (trees 2^depth, k) are
    those of the cells of each tree in turn.
    """
    n_cells = 2 ** columns.shape[1]
    for t, (of_levels, largest) in enumerate(zip(columns, bins, strict=True)):
        scores += values[t * n_cells + _cells(codes, of_levels, largest)]


def _cells(codes: Array, columns: Array, bins: Array) -> Array:
    """Return the number of the cell of each row."""
    found = np.zeros(codes.shape[1], dtype=np.int64)
    for column, bin_ in zip(columns.tolist(), bins.tolist(), strict=True):
        found = 2 * found + (codes[column] > bin_)
    return found


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
    Slopes and weights are rounded to integers, whose sums are exact: bundles of columns have the same sums.
    """
    codes, rows, columns, n_bins = seen[:4]
    units = [_integer_unit(part[rows]) for part in (slopes, weights)]
    rounded = [np.rint(part[rows] * unit) for part, unit in zip((slopes, weights), units, strict=True)]
    sums, shrinkage = np.column_stack(rounded).astype(np.int64), np.float32(penalty * units[1])
    node = np.zeros(len(rows), dtype=np.int64)
    for depth in range(len(out.columns)):
        n_nodes = 2**depth
        totals, split = _sums(node, sums, n_nodes), None
        found = np.cumsum(_squares(totals) / (_float(totals[:, -1]) + shrinkage))[-1]
        found += found * np.float32(2**-18)  # gains are rounded
        for column in columns.tolist():
            bins = int(n_bins[column])
            cells = _sums(node * bins + codes[column, rows], sums, n_nodes * bins).reshape(n_nodes, bins, -1)
            gains = _gains(np.cumsum(cells, axis=1)[:, :-1], totals, shrinkage)
            if len(gains) and gains.max() > found:
                found, split = gains.max(), (column, int(gains.argmax()))
        if split is None:
            return depth
        out.columns[depth], out.bins[depth] = split
        node = 2 * node + (codes[split[0], rows] > split[1])
    return len(out.columns)


def _integer_unit(numbers: Array) -> float:
    """Return a power of two that makes these numbers integers whose sums over all rows are below 2^31."""
    largest = float(np.abs(numbers).max(initial=0.0))
    exponent = int(np.frexp(largest * len(numbers))[1])
    return float(np.ldexp(1.0, min(30 - exponent, 1000))) if largest > 0 else 1.0


def _sums(cells: Array, numbers: Array, n_cells: int) -> Array:
    """Return the sums (n_cells, k) of integers (n, k), by the cells of the rows; float64 holds them exactly."""
    return np.stack([np.bincount(cells, part, n_cells) for part in numbers.T], axis=-1).astype(np.int64)


def _gains(left: Array, totals: Array, penalty: np.float32) -> Array:
    """Return what each split takes off the loss, given the sums left of it (n_nodes, n_splits, k + 1)."""
    right = totals[:, None] - left
    w, rest = _float(left[..., -1]) + penalty, _float(right[..., -1]) + penalty
    # over one denominator, and node after node, as the compiled core has it: equal splits then tie in both
    return np.asarray(np.cumsum((_squares(left) * rest + _squares(right) * w) / (w * rest), axis=0)[-1])


def _squares(sums: Array) -> Array:
    """Return the sums of squares over the targets, of every fourth one and then of the four sums, in float32."""
    squares = _float(sums[..., :-1]) ** 2
    missing = -squares.shape[-1] % 4
    squares = np.pad(squares, [(0, 0)] * (squares.ndim - 1) + [(0, missing)])
    four = np.cumsum(squares.reshape(*squares.shape[:-1], squares.shape[-1] // 4, 4), axis=-2)[..., -1, :]
    return np.asarray((four[..., 0] + four[..., 1]) + (four[..., 2] + four[..., 3]))


def _float(sums: Array) -> Array:
    return sums.astype(np.float32)


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
    cells, n_cells = _cells(codes, out.columns[:depth], out.bins[:depth]), 2**depth
    g, h = (np.stack([np.bincount(cells, s, n_cells) for s in part.T], axis=-1) for part in (slopes, curvatures))
    out.values[:n_cells] = rate * g / (h + penalty)
    boosted.scores[:] += out.values[cells]
    # In float32: a cell adds many slopes, and the next tree mends an error.
    boosted.expected[:] = np.tanh(boosted.scores.astype(np.float32)) if boosted.logistic else boosted.scores
    out.errors[:] = boosted.judges @ (boosted.targets - boosted.expected) ** 2
