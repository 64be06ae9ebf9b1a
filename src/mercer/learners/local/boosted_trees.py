"""Predictions of boosted symmetric trees as columns of a table, for targets that jump along single columns."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event

import numpy as np

from mercer._typing import Array
from mercer.fitting import HeldTargets, Targets
from mercer.learners.local.units import error_units
from mercer.parallel import for_each_block, row_blocks
from mercer.solvers.local.binned import Bins
from mercer.solvers.local.boosting import DEPTH, Tree, boosted
from mercer.solvers.local.boosting_losses import Loss, SquaredLoss
from mercer.state import Count, Flag, Integers, Reals, Sizes, Stored, part, require

# Folds of the rows: each is predicted by trees that have not seen it.
_FOLDS = 4
# Trees at most, and trees without a lower error after which no more are grown.
_MOST_TREES, _PATIENCE = 350, 30
# After so many trees, and at the end, the first fold may have this multiple of the error of the model without trees:
# trees that predict much worse say little that the model does not know. The early error is that of three times as many
# trees, at the pace of the last half of them.
_EARLY, _HOPELESS, _NEAR = 70, 2.0, 1.5
# Rows per block of predictions: their comparisons with all thresholds stay in cache.
_BLOCK_ROWS = 64
# The threshold of a level that splits nothing.
_NO_SPLIT = float(np.finfo(np.float64).max)


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
    Time O(n d k) per tree to fit; O(n_trees) per row to predict.
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
        spread = self.values.var(axis=1).sum(axis=1)[:, None] * (self.thresholds < _NO_SPLIT)
        totals = np.bincount(self.columns.ravel(), spread.ravel(), self.n_columns)
        return totals / totals.sum() if totals.sum() > 0 else np.full(self.n_columns, 1 / self.n_columns)

    def in_units(self, unit: Array, centre: Array) -> "BoostedTrees":
        """Return trees whose sums are those of these times ``unit`` (k,) plus ``centre`` (k,)."""
        return replace(self, values=self.values * unit, intercept=self.intercept * unit + centre)

    def scores(self, rows: Array) -> Array:
        """Return the scores (n, k) of rows of numbers that are not scaled, float64."""
        out = np.empty((len(rows), self.n_targets))
        digits = 2 ** np.arange(self.columns.shape[1])[::-1]
        first = np.arange(self.n_trees) * self.values.shape[1]
        flat = self.values.reshape(-1, self.n_targets)

        def work(some: slice) -> None:
            cells = (rows[some][:, self.columns] > self.thresholds) @ digits + first
            out[some] = flat[cells].sum(axis=1)

        for_each_block(work, row_blocks(len(rows), _BLOCK_ROWS))
        out += self.intercept
        return np.tanh(out, out=out) if self.is_logistic else out

    def _check_stored(self, sizes: Sizes) -> None:
        require(1 <= sizes["depth"] <= DEPTH, f"trees must have 1 to {DEPTH} levels")
        require(sizes["cells"] == 2 ** sizes["depth"], "values must hold a value for each cell")


@dataclass(frozen=True)
class _Fold:
    """The trees of a fold with the scores (k,) at which they start, and the error on its rows after each."""

    rows: Array
    start: Array
    trees: list[Tree]
    errors: list[float]


class CrossFit:
    """Boosted trees of rows of numbers, and predictions of each row by trees that have not seen its fold.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Numbers, not scaled: trees know their order alone.
    held : HeldTargets
        Targets with positive weights.
    seed : int
    loss : Loss, optional
        The squared error, unless given. ``LogisticLoss`` is for targets of +1 and -1.
    """

    def __init__(self, rows: Array, held: HeldTargets[Targets], seed: int, loss: Loss | None = None):
        # All that is inside is in a random order: trees see runs of rows, and folds take turns.
        self._order = order = np.random.RandomState(seed).permutation(len(rows))
        self._bins, self._weight, self._seed = Bins.of(rows).ordered(order), held.weight[order], seed
        self._loss = SquaredLoss() if loss is None else loss
        variance = error_units(held)
        if self._loss.is_logistic:
            self._centre, self._unit, self._variance = np.zeros_like(variance), np.ones_like(variance), variance
        else:
            self._centre, self._unit = held.weight @ held.Y / held.weight.sum(), np.sqrt(variance)
            self._variance = np.ones_like(variance)
        self._targets = (held.Y[order] - self._centre) / self._unit
        self._ended = Event()
        self._fold = np.arange(len(rows)) % _FOLDS

    def fit(
        self, rival: float = np.inf, deadline: float = np.inf, helps: Callable[[Array, Array], bool] | None = None
    ) -> tuple[BoostedTrees, Array] | None:
        """Return the mean of the trees of all folds, and predictions (n, k) of each row by those that have not seen it.

        None if trees cannot help, or not in time. ``rival`` is the leave-one-out error of a model without trees. The
        first fold is compared with it. ``helps`` is asked whether the other folds are worth their time, given the
        numbers of the rows of the first fold and their predictions.
        """
        start = time.monotonic()
        grown: dict[int, _Fold] = {}

        def is_worth_others(first: _Fold | None) -> bool:
            if first is None or time.monotonic() + (_FOLDS - 1) * (time.monotonic() - start) > deadline:
                return False
            predicted = self._predicted(first, _best_number([first.errors]))
            return helps is None or helps(self._order[first.rows], predicted)

        def work(f: int) -> None:
            """Grow a fold. Other threads begin with other folds; what the first one says ends them."""
            found = None if self._ended.is_set() else self._grown(f, rival if f == 0 else np.inf)
            if f == 0 and not is_worth_others(found):
                self._ended.set()
            if found is not None:
                grown[f] = found

        for_each_block(work, range(_FOLDS))
        if self._ended.is_set():
            return None
        folds = [grown[f] for f in range(_FOLDS)]
        n_trees = _best_number([fold.errors for fold in folds])
        predicted = np.empty_like(self._targets)
        for fold in folds:
            predicted[self._order[fold.rows]] = self._predicted(fold, n_trees)
        return self._model(folds, n_trees), predicted

    def _predicted(self, fold: _Fold, n_trees: int) -> Array:
        """Return the predictions (m, k) of the rows of a fold by its first trees."""
        return np.asarray(self._centre + self._unit * self._loss.expected(self._scores(fold, n_trees)))

    def _scores(self, fold: _Fold, n_trees: int) -> Array:
        """Return the scores (m, k) of the rows of a fold by its first trees, in units of the targets."""
        codes = self._bins.codes[:, fold.rows]
        total = np.tile(fold.start, (len(fold.rows), 1))
        for tree in fold.trees[:n_trees]:
            total += tree.values[tree.cells(codes)]
        return total

    def _grown(self, f: int, rival: float) -> _Fold | None:
        """Grow the trees of a fold while its error falls; None once it is hopeless against a rival, or folds end."""
        rows = np.flatnonzero(self._fold == f)
        others = np.flatnonzero(self._fold != f).astype(np.int32)
        trees: list[Tree] = []
        errors: list[float] = []
        unit = self._variance * self._weight[rows].sum()
        growing = boosted(self._bins, self._targets, self._weight, others, self._seed + f + 1, self._loss)
        for tree, _, squares in growing:
            trees.append(tree)
            errors.append(float(np.mean(squares / unit)))
            if len(errors) == _EARLY and _expected_error(errors) > _HOPELESS * rival:
                return None
            if self._ended.is_set():
                return None
            if len(errors) == _MOST_TREES or len(errors) - int(np.argmin(errors)) > _PATIENCE:
                break
        start = self._loss.start(self._targets[others], self._weight[others])
        return _Fold(rows, start, trees, errors) if min(errors) <= _NEAR * rival else None

    def _model(self, folds: list[_Fold], n_trees: int) -> BoostedTrees:
        """Return the mean of the sums of the first trees of all folds."""
        trees = [tree for fold in folds for tree in fold.trees[:n_trees]]
        shape = (len(trees), DEPTH)
        columns, thresholds = np.zeros(shape, dtype=np.int32), np.full(shape, _NO_SPLIT)
        values = np.zeros((len(trees), 2**DEPTH, self._targets.shape[1]))
        for t, tree in enumerate(trees):
            depth = len(tree.columns)
            columns[t, :depth] = tree.columns
            edges = (self._bins.edges[j][b] for j, b in zip(tree.columns.tolist(), tree.bins.tolist(), strict=True))
            thresholds[t, :depth] = list(edges)
            values[t, :: 2 ** (DEPTH - depth)] = tree.values * self._unit / _FOLDS
        start = np.mean([fold.start for fold in folds], axis=0)
        intercept = self._centre + self._unit * start
        return BoostedTrees(len(self._bins.edges), columns, thresholds, values, intercept, self._loss.is_logistic)


def _expected_error(errors: list[float]) -> float:
    """Return the error after three times as many trees, if it goes on to fall as it did over the last half of them.

    >>> _expected_error([16.0, 8.0, 6.0, 4.0])
    0.25
    """
    half = errors[len(errors) // 2 - 1]
    pace = min(1.0, errors[-1] / half) if half > 0 else 1.0
    return errors[-1] * pace**4


def _best_number(errors: list[list[float]]) -> int:
    """Return the number of trees with the least sum of errors over the folds; a fold that has ended stays as it is."""
    longest = max(len(some) for some in errors)
    total = np.sum([np.pad(some, (0, longest - len(some)), mode="edge") for some in errors], axis=0)
    return int(np.argmin(total)) + 1
