"""Predictions of boosted symmetric trees as columns of a table, for targets that jump along single columns."""

from dataclasses import dataclass, replace

import numpy as np

from mercer import tree_core
from mercer._typing import Array
from mercer.parallel import for_each_block, row_blocks
from mercer.solvers.local.boosting import DEPTH, NO_BIN
from mercer.state import Count, Flag, Integers, Reals, Sizes, Stored, part, require

# Rows per block of predictions.
_BLOCK_ROWS = 1024
# The threshold of a level that splits nothing.
NO_SPLIT = float(np.finfo(np.float64).max)


@part("BoostedTrees")
@dataclass(frozen=True)
class BoostedTrees:
    """A sum of symmetric trees: all nodes of a level ask whether one column exceeds one threshold.

    A kernel takes many rows near a jump to learn it. A tree takes few. Where the prediction of trees is one more column
    of the rows, the kernel learns what the trees leave, and how far to trust them.

    Attributes
    ----------
    n_columns : int
        Columns of the rows.
    columns, thresholds : ndarray of shape (n_trees, depth)
        The question of each level.
    values : ndarray of shape (n_trees, 2^depth, k)
        What each cell adds to the scores. The answers, 0 or 1, are the binary digits of the number of a cell.
    intercept : ndarray of shape (k,)
    is_logistic : bool
        Whether the sums are half of the log odds of targets +1 and -1: the scores are then their hyperbolic tangents,
        differences of probabilities.

    Notes
    -----
    Time O(n d k) per tree to fit; O(n_trees depth) per row to predict.
    """

    _stored = Stored(
        n_columns=Count("d", least=1),
        columns=Integers(("trees", "depth"), (np.int32,), least=0, below="d"),
        thresholds=Reals(("trees", "depth"), dtypes=(np.float64,)),
        values=Reals(("trees", "cells", "k"), dtypes=(np.float64,)),
        intercept=Reals(("k",)),
        is_logistic=Flag(),
    )

    n_columns: int
    columns: Array
    thresholds: Array
    values: Array
    intercept: Array
    is_logistic: bool = False

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.columns)

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.intercept)

    @property
    def importances(self) -> Array:
        """The share of each column in the variances of the values of trees, each spread over the levels of its tree."""
        spread = self.values.var(axis=1).sum(axis=1)[:, None] * (self.thresholds < NO_SPLIT)
        totals = np.bincount(self.columns.ravel(), spread.ravel(), self.n_columns)
        return totals / totals.sum() if totals.sum() > 0 else np.full(self.n_columns, 1 / self.n_columns)

    def in_units(self, unit: Array, centre: Array) -> "BoostedTrees":
        """Return trees whose sums are those of these times ``unit`` (k,) plus ``centre`` (k,)."""
        return replace(self, values=self.values * unit, intercept=self.intercept * unit + centre)

    def scores(self, rows: Array) -> Array:
        """Return the scores (n, k) of rows of numbers that are not scaled, float64."""
        edges = self._edges()
        bins = self._bins(edges)
        out = np.tile(self.intercept, (len(rows), 1))

        def work(some: slice) -> None:
            codes = np.stack([np.searchsorted(e, x).astype(np.uint8) for e, x in zip(edges, rows[some].T, strict=True)])
            tree_core.add_tree_scores(codes, self.columns, bins, self.values, out[some])

        for_each_block(work, row_blocks(len(rows), _BLOCK_ROWS))
        return np.tanh(out, out=out) if self.is_logistic else out

    def _edges(self) -> list[Array]:
        """Return the thresholds of each column, ascending: the code of a value is how many of them it exceeds."""
        splits = self.thresholds < NO_SPLIT
        columns, thresholds = self.columns[splits], self.thresholds[splits]
        order = np.lexsort((thresholds, columns))
        ends = np.searchsorted(columns[order], np.arange(1, self.n_columns))
        return [np.unique(some) for some in np.split(thresholds[order], ends)]

    def _bins(self, edges: list[Array]) -> Array:
        """Return the place of each threshold among those of its column."""
        bins = np.full(self.columns.shape, NO_BIN, dtype=np.uint8)
        for j, of_column in enumerate(edges):
            splits = (self.columns == j) & (self.thresholds < NO_SPLIT)
            bins[splits] = np.searchsorted(of_column, self.thresholds[splits])
        return bins

    def _check_stored(self, sizes: Sizes) -> None:
        require(1 <= sizes["depth"] <= DEPTH, f"trees must have 1 to {DEPTH} levels")
        require(max(map(len, self._edges())) <= NO_BIN, f"trees must have at most {NO_BIN} thresholds per column")
        require(sizes["cells"] == 2 ** sizes["depth"], "values must hold a value for each cell")
