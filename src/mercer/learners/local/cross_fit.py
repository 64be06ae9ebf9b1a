"""Boosted trees by folds: each row is predicted by trees that have not seen it."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import NamedTuple, Protocol

import numpy as np

from mercer._typing import Array
from mercer.config import get_config
from mercer.fitting import HeldTargets, Targets
from mercer.learners.local.boosted_trees import NO_SPLIT, BoostedTrees
from mercer.learners.local.units import error_units
from mercer.parallel import for_each_block, in_background
from mercer.solvers.local.binned import Bins
from mercer.solvers.local.boosting import NO_BIN, Tree, Trees, boosted
from mercer.solvers.local.boosting_losses import Loss, SquaredLoss

# Folds of the rows, the part of the rows that no fold sees, and how many these are at most.
_FOLDS = 6
_UNSEEN_PART, _MOST_UNSEEN = 16, 256
# Trees at most, and trees without a lower error after which no more are grown.
_MOST_TREES, _PATIENCE = 300, 30
# A mean of folds has less variance than one, and wants more trees than have the least error of single folds.
_MORE_TREES = 20
# After so many trees, and at the end, the first fold may have this multiple of the error of the model without trees:
# trees that predict much worse say little that the model does not know. The early error is that of three times as many
# trees, at the pace of the last half of them. While the model is searched for, folds wait by the errors of all of their
# rows: some rows are harder than those that judge the search, so this ends no fold.
_EARLY, _HOPELESS, _NEAR = 70, 2.0, 1.5


class CrossFitted(NamedTuple):
    """Boosted trees, and what is known of their errors on new rows.

    Attributes
    ----------
    trees : BoostedTrees
        The mean of the trees of all folds.
    predicted : ndarray of shape (n, k)
        Predictions of each row by the trees of one fold, which have not seen it.
    surplus : ndarray of shape (k,)
        By how much the mean square of the errors of ``predicted`` exceeds that of ``trees`` on new rows: the mean of
        several folds has less variance than one. It is the variance between folds of the predictions of rows that no
        fold has seen.
    """

    trees: BoostedTrees
    predicted: Array
    surplus: Array


class Rival(Protocol):
    """A model without trees, which knows its residuals of rows that it has not seen."""

    def multiple(self, rows: Array, predicted: Array) -> float:
        """Return the error of predictions of some rows as a multiple of that of the model, on rows it has judged."""

    def gains(self, rows: Array, predicted: Array) -> bool:
        """Return whether a mean with a model of these predictions is worth its time."""


class _Fold:
    """The trees of a fold, which any thread may grow on, and the error on its rows after each.

    Parameters
    ----------
    rows : ndarray of int
        The rows that do not see the trees.
    start : ndarray of shape (k,)
        The scores at which trees start.
    growing : iterator
        The trees, each with the scores of all rows, and the sums of squared errors of ``rows``.
    unit : ndarray of shape (k,)
        What these sums are divided by.
    expected : float
        The least error that is expected of the fold; 0 before anything is known.
    """

    def __init__(
        self, rows: Array, start: Array, growing: Iterator[tuple[Tree, Array, Array]], unit: Array, expected: float
    ):
        self.rows, self.start, self.expected = rows, start, expected
        self.trees: list[Tree] = []
        self.errors: list[float] = []
        self._growing, self._unit, self._best = growing, unit, 0

    def grow(self) -> None:
        """Grow one more tree."""
        tree, _, squares = next(self._growing)
        self.trees.append(tree)
        self.errors.append(float((squares / self._unit).sum() / len(self._unit)))
        if self.errors[-1] < self.errors[self._best]:
            self._best = len(self.errors) - 1
        if self.is_grown:
            self._growing = iter(())  # what it holds of all rows is needed no more

    @property
    def is_grown(self) -> bool:
        """Whether the error falls no more."""
        n_trees = len(self.errors)
        return n_trees > 0 and (n_trees == _MOST_TREES or n_trees - self._best > _PATIENCE)


class CrossFit:
    """Boosted trees of rows of numbers, and predictions of each row by trees that have not seen its fold.

    Folds may grow before it is known whether trees can help (``growing``): what is known later ends them, and the
    result is the same.

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
        self._fold = np.arange(len(rows)) % _FOLDS
        n_unseen = min(len(rows) // _UNSEEN_PART, _MOST_UNSEEN)
        self._is_seen, self._unseen = np.arange(len(rows)) >= n_unseen, np.arange(n_unseen)
        self._waiting, self._lock = deque(range(_FOLDS)), Lock()
        self._folds: dict[int, _Fold] = {}
        self._ended = Event()
        self._first_error = 0.0
        self._background_end: Callable[[], None] = _nothing_to_wait_for

    @contextmanager
    def growing(self, known: Callable[[], float] | None = None) -> Iterator[None]:
        """Grow folds in the background, one after the other, while the block of ``with`` runs; end them at its end.

        Steps of a search wait for each other, and leave threads idle. With one thread nothing grows before ``fit``.
        ``known`` returns the least error of a model without trees so far: folds end early if trees are far behind it.
        ``fit`` goes on with what has grown until then, on all threads.
        """
        if get_config().threads == 1:
            yield
            return
        asked, known = Event(), _nothing_known if known is None else known

        def goes_on(error: float) -> bool:
            return not asked.is_set() and error <= known()

        with in_background(lambda: self._grow_waiting(goes_on)) as wait:

            def end() -> None:
                asked.set()
                wait()

            self._background_end = end
            try:
                yield
            finally:
                asked.set()

    def fit(self, rival: Rival | None = None, deadline: float = np.inf) -> CrossFitted | None:
        """Return the mean of the trees of all folds, with predictions of each row by those that have not seen it.

        None if trees cannot help, or not in time. The first fold is compared with ``rival``, which says whether the
        other folds are worth their time.
        """
        start = time.monotonic()

        def judge(first: _Fold) -> None:
            """End all folds if the first one says that they are not worth their time."""
            if time.monotonic() + (_FOLDS - 1) * (time.monotonic() - start) > deadline:
                self._ended.set()
            elif rival is not None:
                predicted = self._predicted(first, first.rows, _best_number([first.errors]))
                rows = self._order[first.rows]
                if rival.multiple(rows, predicted) > _NEAR or not rival.gains(rows, predicted):
                    self._ended.set()

        self._background_end()
        if 0 in self._folds:
            self._end_if_hopeless(self._folds[0], rival)
        if 0 not in self._waiting and not self._ended.is_set():
            judge(self._folds[0])
        for_each_block(lambda _: self._grow_waiting(lambda error: True, judge, rival), range(_FOLDS))
        if self._ended.is_set():
            return None
        folds = [self._folds[f] for f in range(_FOLDS)]
        n_trees = _best_number([fold.errors for fold in folds]) + _MORE_TREES
        predicted = np.empty_like(self._targets)
        for fold in folds:
            predicted[self._order[fold.rows]] = self._predicted(fold, fold.rows, n_trees)
        return CrossFitted(self._model(folds, n_trees), predicted, self._surplus(folds, n_trees))

    def _grow_waiting(
        self,
        goes_on: Callable[[float], bool],
        judge: Callable[[_Fold], None] | None = None,
        rival: Rival | None = None,
    ) -> None:
        """Grow folds while some wait. ``judge`` is called with the first one once it is grown.

        ``goes_on`` is called with an error that trees will not be far below; a fold that does not go on waits again.
        All folds end if the first one cannot come near ``rival``.
        """
        while not self._ended.is_set() and goes_on(self._first_error / _NEAR):
            with self._lock:
                if not self._waiting:
                    return
                f = self._waiting.popleft()
            if f not in self._folds:
                self._folds[f] = self._new_fold(f)
            if not self._grow(self._folds[f], goes_on, rival):
                with self._lock:
                    self._waiting.appendleft(f)
                return
            if f == 0:
                self._first_error = min(self._folds[0].errors)
                if judge is not None:
                    judge(self._folds[0])

    def _grow(self, fold: _Fold, goes_on: Callable[[float], bool], rival: Rival | None) -> bool:
        """Grow the trees of a fold while its error falls; return whether it is grown."""
        while not fold.is_grown:
            if self._ended.is_set() or not goes_on(fold.expected / _HOPELESS):
                return False
            fold.grow()
            if fold is self._folds.get(0) and len(fold.errors) == _EARLY:
                fold.expected = _expected_error(fold.errors)
                self._end_if_hopeless(fold, rival)
        return True

    def _end_if_hopeless(self, first: _Fold, rival: Rival | None) -> None:
        """End all folds if the early trees of the first one, grown now or before, are too far behind."""
        if rival is None or len(first.errors) < _EARLY:
            return
        early = first.errors[:_EARLY]
        multiple = rival.multiple(self._order[first.rows], self._predicted(first, first.rows, _EARLY))
        if multiple * _expected_error(early) > _HOPELESS * early[-1]:
            self._ended.set()

    def _new_fold(self, f: int) -> _Fold:
        """Return a fold without trees."""
        rows = np.flatnonzero(self._fold == f)
        others = np.flatnonzero(self._is_seen & (self._fold != f)).astype(np.int32)
        growing = boosted(self._bins, self._targets, self._weight, others, self._seed + f + 1, self._loss)
        start = self._loss.start(self._targets[others], self._weight[others])
        return _Fold(rows, start, growing, self._variance * self._weight[rows].sum(), self._first_error)

    def _predicted(self, fold: _Fold, rows: Array, n_trees: int) -> Array:
        """Return the predictions (m, k) of some rows by the first trees of a fold."""
        total = np.tile(fold.start, (len(rows), 1))
        Trees.of(fold.trees[:n_trees]).add_scores(self._bins.codes[:, rows], total)
        return np.asarray(self._centre + self._unit * self._loss.expected(total))

    def _surplus(self, folds: list[_Fold], n_trees: int) -> Array:
        """Return the variance (k,) between folds of the predictions of rows that no fold has seen.

        It is 0 for several classes: a larger share of trees lowers squares there, but the class of the largest score
        is then wrong more often.
        """
        if not len(self._unseen) or (self._loss.is_logistic and len(self._unit) > 1):
            return np.zeros_like(self._unit)
        predicted = np.stack([self._predicted(fold, self._unseen, n_trees) for fold in folds])
        return np.asarray(np.average(predicted.var(axis=0), axis=0, weights=self._weight[self._unseen]))

    def _model(self, folds: list[_Fold], n_trees: int) -> BoostedTrees:
        """Return the mean of the sums of the first trees of all folds."""
        trees = Trees.of([tree for fold in folds for tree in fold.trees[:n_trees]])
        edges = self._bins.edges
        # A row lies beyond bin b if it exceeds edge b.
        table = np.stack([np.pad(e, (0, NO_BIN + 1 - len(e)), constant_values=NO_SPLIT) for e in edges])
        thresholds = table[trees.columns, trees.bins]
        values = trees.values * (self._unit / _FOLDS)
        start = np.mean([fold.start for fold in folds], axis=0)
        intercept = self._centre + self._unit * start
        return BoostedTrees(len(edges), trees.columns, thresholds, values, intercept, self._loss.is_logistic)


def _nothing_known() -> float:
    return np.inf


def _nothing_to_wait_for() -> None:
    """Return at once: no folds grow in the background."""


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
