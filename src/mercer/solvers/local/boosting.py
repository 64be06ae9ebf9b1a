r"""Gradient boosting of symmetric trees: functions that jump along single columns.

Each tree is fitted to the residuals of the sum of the earlier ones, on a random half of the rows and of the columns,
and enters with a small factor (J. Friedman, "Stochastic gradient boosting", 2002). All nodes of a level share one
split, so that a tree is a table of :math:`2^{depth}` cells (L. Prokhorenkova et al., "CatBoost", 2018). The sum is a
function of the kernel that counts in how many of the trees two rows share a cell.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mercer import core
from mercer._typing import Array

# Bins per column.
BINS = 128
# Levels of a tree, its factor, and what the weight of a cell is enlarged by: a cell of few rows predicts little.
DEPTH, RATE, PENALTY = 6, 0.15, 1.0
# The share of the rows and of the columns that a tree sees, and how many of each it sees at least and at most.
_ROW_SHARE, _MOST_ROWS = 0.5, 2**16
_COLUMN_SHARE, _LEAST_COLUMNS = 0.5, 4


@dataclass(frozen=True)
class Bins:
    """Columns cut into bins.

    Attributes
    ----------
    edges : list of ndarray
        For each column the values that part its bins, ascending.
    codes : ndarray of shape (d, n), uint8
        The bin of each row: how many edges its value exceeds.
    """

    edges: list[Array]
    codes: Array

    @classmethod
    def of(cls, X: Array) -> "Bins":
        """Cut the columns of finite rows (n, d) at quantiles, between values that occur."""
        edges = [_edges(X[:, j].astype(np.float64)) for j in range(X.shape[1])]
        codes = np.stack([np.searchsorted(e, X[:, j]).astype(np.uint8) for j, e in enumerate(edges)])
        return cls(edges, codes)


def _edges(x: Array) -> Array:
    values, counts = np.unique(x, return_counts=True)
    ends = np.arange(len(values) - 1)
    if len(values) > BINS:  # the places nearest to equal numbers of rows
        reached = np.cumsum(counts)
        wanted = np.arange(1, BINS) * len(x) / BINS
        ends = np.unique(np.searchsorted(reached, wanted).clip(0, len(values) - 2))
    return np.asarray(values[ends] + (values[ends + 1] - values[ends]) / 2)


@dataclass(frozen=True)
class Tree:
    """The column and the bin of each level, and a value (k,) for each cell."""

    columns: Array
    bins: Array
    values: Array

    def cells(self, codes: Array) -> Array:
        """Return the cell of each row; the first level is the highest bit."""
        found = np.zeros(codes.shape[1], dtype=np.uint8)  # a tree has at most 64 cells
        for column, bin_ in zip(self.columns.tolist(), self.bins.tolist(), strict=True):
            found += found
            found += codes[column] > bin_
        return found.astype(np.intp)


def boosted(bins: Bins, Y: Array, weight: Array, inside: Array, seed: int) -> Iterator[tuple[Tree, Array]]:
    """Yield trees without end, each with the predictions (n, k) of all rows by the trees so far.

    Parameters
    ----------
    bins : Bins
    Y : ndarray of shape (n, k)
        Targets of mean 0, about: the first predictions are 0.
    weight : ndarray of shape (n,)
    inside : ndarray of int32
        The rows that are fitted. The others are predicted only.
    seed : int

    Notes
    -----
    Time O(n d k depth) per tree. The predictions are changed in place by the next tree.
    """
    rng = np.random.RandomState(seed)
    n_columns, n_all = bins.codes.shape
    n_bins = max((len(edges) + 1 for edges in bins.edges), default=1)
    predicted = np.zeros(Y.shape)
    row_share = min(_ROW_SHARE, _MOST_ROWS / len(inside))
    n_some = min(n_columns, max(_LEAST_COLUMNS, int(np.ceil(_COLUMN_SHARE * n_columns))))
    fitted = np.zeros(n_all)  # the weight of the rows that are fitted, 0 for others
    fitted[inside] = weight[inside]
    residuals = Y * fitted[:, None]
    while True:
        seen = inside[rng.random_sample(len(inside)) < row_share]
        columns = np.sort(rng.permutation(n_columns)[:n_some]).astype(np.int32)
        sums = np.column_stack([residuals[seen], fitted[seen]])
        found = core.grow_symmetric_tree(bins.codes, seen, sums, columns, n_bins, PENALTY, DEPTH)
        tree = Tree(*found, np.empty((2 ** len(found[0]), Y.shape[1])))
        cells, n_cells = tree.cells(bins.codes), len(tree.values)
        total = np.bincount(cells, fitted, n_cells) + PENALTY
        for k in range(Y.shape[1]):
            tree.values[:, k] = RATE * np.bincount(cells, residuals[:, k], n_cells) / total
        step = tree.values[cells]
        predicted += step
        step *= fitted[:, None]
        residuals -= step
        yield tree, predicted
