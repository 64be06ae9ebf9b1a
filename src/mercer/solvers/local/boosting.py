r"""Gradient boosting of symmetric trees: functions that jump along single columns.

Each tree is fitted to the slopes of a loss at the sum of the earlier ones, on most of the rows and half of many
columns, and enters with a small factor (J. Friedman, "Stochastic gradient boosting", 2002). All nodes of a level share
one split, so that a tree is a table of :math:`2^{depth}` cells (L. Prokhorenkova et al., "CatBoost", 2018). The sum is
a function of the kernel that counts in how many of the trees two rows share a cell.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mercer import tree_core
from mercer._typing import Array
from mercer.solvers.local.boosting_losses import Loss, SquaredLoss
from mercer.tree_core import BinnedRows, BoostedRows

# Bins per column: as many as codes of one byte. A jump lies between two bins only by luck.
BINS = 256
# Levels of a tree, its factor, and what the weight of a cell is enlarged by: a cell of few rows predicts little.
DEPTH, RATE, PENALTY = 6, 0.15, 1.0
# The share of the rows and of the columns that a tree sees, and how many of each it sees at most or at least. A tree
# that lacks one of two columns cannot learn their interaction: of few columns it sees all.
_ROW_SHARE, _MOST_ROWS = 0.8, 2**15
# Rows that are seen or not together at most, and runs of them at least: rows come in random order, so that many runs
# of them are as good a sample as any.
_MOST_RUN, _LEAST_RUNS = 32, 256
_COLUMN_SHARE, _LEAST_COLUMNS = 0.5, 16
# Columns times targets of a tree at most, unless that leaves fewer than the least columns: what a tree costs.
_MOST_SUMS = 512


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

    def ordered(self, order: Array) -> "Bins":
        """Return the same bins with the rows in another order."""
        return Bins(self.edges, np.take(self.codes, order, axis=1))


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


def boosted(
    bins: Bins, Y: Array, weight: Array, inside: Array, seed: int, loss: Loss | None = None
) -> Iterator[tuple[Tree, Array, Array]]:
    """Yield trees without end, each with the scores (n, k) of all rows, and the errors (k,) of those outside.

    Scores are those of the start of the loss and the trees so far. Errors are weighted sums of squared differences
    between the targets and what the scores expect.

    Parameters
    ----------
    bins : Bins
    Y : ndarray of shape (n, k)
    weight : ndarray of shape (n,)
    inside : ndarray of int32
        The rows that are fitted, in random order with respect to what they hold. The others are predicted only.
    seed : int
    loss : Loss, optional
        The squared error, unless given.

    Notes
    -----
    Time O(n d k depth) per tree. The scores are changed in place by the next tree.
    """
    loss = SquaredLoss() if loss is None else loss
    rng = np.random.RandomState(seed)
    n_columns, n_all = bins.codes.shape
    n_bins = np.array([len(edges) + 1 for edges in bins.edges], dtype=np.int32)
    row_share = min(_ROW_SHARE, _MOST_ROWS / len(inside))
    n_some = min(int(np.ceil(_COLUMN_SHARE * n_columns)), _MOST_SUMS // Y.shape[1])
    n_some = min(n_columns, max(_LEAST_COLUMNS, n_some))
    fitted, judges = np.zeros(n_all), weight.astype(np.float64)
    fitted[inside], judges[inside] = weight[inside], 0.0
    scores = np.tile(loss.start(Y, fitted), (n_all, 1))
    boosted_rows = BoostedRows(Y, fitted, judges, scores, loss.expected(scores).copy(), loss.is_logistic)
    runs = _Runs(inside)
    while True:
        rows = runs.some(row_share, rng)
        columns = np.sort(rng.permutation(n_columns)[:n_some]).astype(np.int32)
        seen = BinnedRows(bins.codes, rows, columns, n_bins[columns])
        found = tree_core.boost_symmetric_tree(seen, boosted_rows, PENALTY, RATE, DEPTH)
        yield Tree(found.columns, found.bins, found.values), scores, found.errors


class _Runs:
    """Some rows, cut into runs: a random number per row would cost as much as a small tree."""

    def __init__(self, rows: Array):
        length = int(np.clip(len(rows) // _LEAST_RUNS, 1, _MOST_RUN))
        n_runs = -(-len(rows) // length)
        self._surplus = n_runs * length - len(rows)
        self._runs = np.pad(rows, (0, self._surplus)).reshape(n_runs, length)

    def some(self, share: float, rng: np.random.RandomState) -> Array:
        """Return a random part of the rows, run by run."""
        seen = rng.random_sample(len(self._runs)) < share
        rows = self._runs[seen].ravel()
        return rows[: len(rows) - self._surplus] if seen[-1] else rows
