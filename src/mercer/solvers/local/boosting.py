r"""Gradient boosting of symmetric trees: functions that jump along single columns.

Each tree is fitted to the slopes of a loss at the sum of the earlier ones, on most of the rows and of many columns, and
enters with a small factor (J. Friedman, "Stochastic gradient boosting", 2002). All nodes of a level share one split, so
that a tree is a table of :math:`2^{depth}` cells (L. Prokhorenkova et al., "CatBoost", 2018). The sum is a function of
the kernel that counts in how many of the trees two rows share a cell.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mercer import tree_core
from mercer._typing import Array
from mercer.solvers.local.binned import Bins
from mercer.solvers.local.boosting_losses import Loss, SquaredLoss
from mercer.tree_core import BinnedRows, BoostedRows

# Levels of a tree, its factor, and what the weight of a cell is enlarged by: a cell of few rows predicts little.
DEPTH, RATE, PENALTY = 6, 0.18, 1.0
# The bin that no code exceeds.
NO_BIN = 255
# The share of the rows and of the columns that a tree sees, and how many of each it sees at most or at least. A tree
# that lacks one of two columns cannot learn their interaction: of few columns it sees all.
_ROW_SHARE, _MOST_ROWS = 0.9, 2**15
# Rows that are seen or not together at most, and runs of them at least: rows come in random order, so that many runs
# of them are as good a sample as any.
_MOST_RUN, _LEAST_RUNS = 32, 256
_COLUMN_SHARE, _LEAST_COLUMNS = 0.9, 16
# Columns times targets of a tree at most, unless that leaves fewer than the least columns: what a tree costs.
_MOST_SUMS = 512


@dataclass(frozen=True)
class Tree:
    """The column and the bin of each level, and a value (k,) for each cell."""

    columns: Array
    bins: Array
    values: Array


@dataclass(frozen=True)
class Trees:
    """The columns and bins (t, DEPTH) of several trees, and the values (t, 2^DEPTH, k) of their cells.

    No code exceeds the bin 255 of a level that a tree lacks.
    """

    columns: Array
    bins: Array
    values: Array

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> "Trees":
        """Return at least one tree, in arrays."""
        shape = (len(trees), DEPTH)
        columns, bins = np.zeros(shape, dtype=np.int32), np.full(shape, NO_BIN, dtype=np.uint8)
        values = np.zeros((len(trees), 2**DEPTH, trees[0].values.shape[1]))
        for t, tree in enumerate(trees):
            depth = len(tree.columns)
            columns[t, :depth], bins[t, :depth] = tree.columns, tree.bins
            values[t, :: 2 ** (DEPTH - depth)] = tree.values
        return cls(columns, bins, values)

    def add_scores(self, codes: Array, scores: Array) -> None:
        """Add to ``scores`` (n, k) the values of the cells of rows, given their codes (d, n), tree by tree."""
        tree_core.add_tree_scores(np.ascontiguousarray(codes), self.columns, self.bins, self.values, scores)


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
    n_columns, n_all = len(bins.edges), bins.codes.shape[1]
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
        seen = BinnedRows(bins.codes, rows, columns, bins.n_bins, bins.tables, bins.members)
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
