"""Whether the predictions of boosted trees become columns of the rows: by the errors of two searches."""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from mercer._typing import Array
from mercer.fitting import HeldTargets, Targets
from mercer.learners.local.choice import Choice
from mercer.learners.local.cross_fit import CrossFit, CrossFitted
from mercer.learners.local.encoding import TableEncoding
from mercer.learners.local.report import Trial
from mercer.learners.local.scaling import METHODS, ColumnScaling
from mercer.learners.local.search import Search
from mercer.learners.local.shares import blend
from mercer.learners.local.units import error_of_rows, error_units
from mercer.learners.local.without_trees import WithoutTrees
from mercer.parallel import one_blas_thread
from mercer.solvers.local.boosting_losses import Loss

# Trees are tried from so many rows on: the folds of fewer rows say little.
_LEAST_ROWS = 500
# Targets that have a column each, at most.
_MOST_TARGETS = 32
# The error of a search with columns of trees, relative to that of a mean with trees, below which the columns are taken.
_CLEARLY = 0.95
# Trees with less than this share of a mean are not tried as columns: a kernel that is better alone learns little of it.
_LEAST_SHARE = 0.5
# The first kernels of a search with columns of trees may have this multiple of the error that takes the columns: what
# improves them later lowers the error by a few percent at most.
_PROMISING = 1.03

IsPromising = Callable[[Array, Array], bool]
NewSearch = Callable[[Array, Sequence[str], Sequence[Choice], IsPromising], Search]


@dataclass(frozen=True)
class Found:
    """The result of a search: how columns become numbers and how these are scaled, the rows, and the choice.

    ``judged`` are the rows that have judged the choice before its last ridge, and its leave-one-out residuals (n, k).
    ``trees`` are trees that were fitted and are no columns: a mean of both models may be better than each. ``share`` is
    theirs in the best mean on a few leaves.
    """

    encoding: TableEncoding
    search: Search
    scaling: ColumnScaling
    rows: Array
    choice: Choice
    judged: tuple[Array, Array] | None = None
    trees: CrossFitted | None = None
    share: float = 0.0

    @classmethod
    def of(cls, encoding: TableEncoding, search: Search) -> "Found":
        """Run a search."""
        with one_blas_thread():  # products on two threads round differently: a near tie would be decided by chance
            scaling, rows, choice = search.run()
            judged = search.judged(choice) if search.log.ended == "done" else None
            return cls(encoding, search, scaling, rows, choice, judged)

    def refined(self) -> "Found":
        """Return this with the last ridge. The leaves that choose it are those of the final model, and more."""
        with one_blas_thread():
            return replace(self, choice=self.search.refined(self.choice))


@dataclass(frozen=True)
class TreeChoice:
    """A search without trees and, where trees may help, one with their predictions as columns.

    Columns must be better than a mean of both models, by more than the errors of a few leaves may tell. Scores of
    several classes are no columns: squared errors of their columns are small, and classes are wrong more often.

    Parameters
    ----------
    numbers : ndarray of shape (n, d)
        Columns of numbers, not scaled.
    held : HeldTargets
        Targets of about variance 1.
    new_search : callable
        Makes a search of numbers, given which scalings to try, the best choices of an earlier search, and a function
        that tells whether the best of the first kernels is worth improving.
    seed : int
    loss : Loss
        What the trees make small.
    deadline : float
        The value of ``time.monotonic`` at which a search ends.
    keep_interrupted : bool
        Whether ``KeyboardInterrupt`` leaves the search without trees.
    """

    numbers: Array
    held: HeldTargets[Targets]
    new_search: NewSearch
    seed: int
    loss: Loss
    deadline: float = np.inf
    keep_interrupted: bool = False

    def best(self, encoding: TableEncoding, trials: Sequence[Trial] = ()) -> Found:
        """Return the search of the lower error; its trials are those given and those of both searches."""
        search = self.new_search(self.numbers, METHODS, (), lambda rows, residuals: True)
        for trial in trials:
            search.log.add(trial)
        if len(self.numbers) < _LEAST_ROWS or self.held.Y.shape[1] > _MOST_TARGETS:
            return Found.of(encoding, search).refined()
        with one_blas_thread():  # also where no folds grow in the background, which hold BLAS to one thread
            plain, trees = self._both(encoding, search)
        return plain if trees is None else self._better(plain, trees)

    def _both(self, encoding: TableEncoding, search: Search) -> tuple[Found, CrossFitted | None]:
        """Return the result of a search without trees, and trees unless they cannot help."""
        cross = CrossFit(self.numbers, self.held, self.seed, self.loss)

        def known() -> float:
            return min((trial.error for trial in search.log.trials), default=np.inf)

        # Without a deadline the search cannot end early, and trees are needed as a rule: they grow while it runs.
        with cross.growing(known) if self.deadline == np.inf else nullcontext():
            plain = Found.of(encoding, search).refined()
            if search.log.ended != "done":
                return plain, None
            try:
                return plain, self._trees(plain, cross)
            except KeyboardInterrupt:
                if not self.keep_interrupted:
                    raise
                search.log.ended = "interrupted"
                return plain, None

    def _better(self, plain: Found, trees: CrossFitted) -> Found:
        """Return the better of a mean with trees and a search with columns of trees."""
        log = plain.search.log
        rows, residuals = self._judged(plain)
        plain = replace(plain, trees=trees, share=self._mean(rows, residuals, trees.predicted[rows], trees.surplus)[0])
        if plain.share < _LEAST_SHARE or (self.loss.is_logistic and self.held.Y.shape[1] > 1):
            return plain
        try:
            other = self._with_trees(plain, trees)
        except KeyboardInterrupt:
            if not self.keep_interrupted:
                raise
            log.ended = "interrupted"
            return plain
        log.trials += [trial._replace(what=f"{trial.what}, with trees") for trial in other.search.log.trials]
        if other.search.log.ended == "interrupted":
            log.ended = "interrupted"
            return plain
        if other.judged is None or not self._gain(plain, *other.judged) < _CLEARLY:
            return plain
        other.search.log.trials = log.trials
        return other.refined()

    def _trees(self, plain: Found, cross: CrossFit) -> CrossFitted | None:
        start = time.monotonic()
        found = cross.fit(WithoutTrees(self.held, *self._judged(plain)), self.deadline)
        if found is None:
            return None
        error = self._error(self.held.Y - found.predicted, np.arange(len(self.held.Y))) - self._relative(found.surplus)
        plain.search.log.add(Trial("trees", f"{found.trees.n_trees} trees alone", error, time.monotonic() - start))
        return found

    @staticmethod
    def _judged(found: Found) -> tuple[Array, Array]:
        """Return the numbers of the rows that judged a choice last, and its leave-one-out residuals."""
        with one_blas_thread():
            return found.search.judged(found.choice)

    def _mean(
        self, rows: Array, residuals: Array, predicted: Array, surplus: Array | float = 0.0
    ) -> tuple[float, Array]:
        """Return the share of trees in the best mean with another model on some rows, and the residuals of the mean."""
        of_trees = self.held.Y[rows] - predicted
        share = blend(residuals, of_trees, self.held.weight[rows], error_units(self.held), surplus)
        return share, (1 - share) * residuals + share * of_trees

    def _gain(self, plain: Found, rows: Array, residuals: Array) -> float:
        """Return the error of a choice with columns of trees, relative to that of the best mean without such columns.

        ``residuals`` (n, k) are those of the choice on the rows that have judged it. These are not the rows that have
        judged ``plain``, and some of them are harder. Both errors are in units of the error of the trees on the same
        rows.
        """
        assert plain.trees is not None and plain.judged is not None  # noqa: S101, PT018, for the type checker
        of_trees = self.held.Y - plain.trees.predicted
        own, alone = plain.judged
        mean = (1 - plain.share) * alone + plain.share * of_trees[own]
        less = plain.share**2 * self._relative(plain.trees.surplus)
        units = [max(self._error(of_trees[some], some), np.finfo(np.float64).tiny) for some in (own, rows)]
        return self._error(residuals, rows) / units[1] / max((self._error(mean, own) - less) / units[0], 1e-300)

    def _error(self, residuals: Array, rows: Array) -> float:
        return error_of_rows(self.held, residuals, rows)

    def _relative(self, variance: Array) -> float:
        """Return the mean over the targets of a variance (k,) in units of that of the targets."""
        return float(np.mean(variance / error_units(self.held)))

    def _with_trees(self, plain: Found, trees: CrossFitted) -> Found:
        def is_promising(rows: Array, residuals: Array) -> bool:
            return self._gain(plain, rows, residuals) < _PROMISING * _CLEARLY

        numbers, methods = np.hstack([self.numbers, trees.predicted]), [plain.scaling.method]
        search = self.new_search(numbers, methods, plain.search.leaders, is_promising)
        return Found.of(plain.encoding.with_trees(trees.trees), search)
