"""The search of a tuned estimator: scaling of columns, metric, kernel, scale and ridge, by leave-one-out errors."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mercer._typing import Array
from mercer.fitting import HeldTargets, Targets
from mercer.kernels import Kernel
from mercer.learners.local.choice import FAMILIES, Choice
from mercer.learners.local.leaf_trials import LeafTrials
from mercer.learners.local.low_order import LowOrderChoice, low_order_choices, sample_features
from mercer.learners.local.metrics import MetricFit, MetricRows, first_fits, learned_metrics
from mercer.learners.local.relearned import LEAST_ROWS, MOST_ROWS, relearned_residuals
from mercer.learners.local.report import Trial
from mercer.learners.local.scaling import METHODS, ColumnScaling
from mercer.learners.local.trial_log import OutOfTimeError, TrialLog
from mercer.learners.local.units import error_units
from mercer.learners.local.walk import error_of
from mercer.parallel import on_threads

# Rows and features of quick fits, which choose the scaling of columns, learn a metric, and try kernels of low order.
# Every class needs rows: there are so many rows per target, and as many rows per feature as one target has.
_QUICK_ROWS, _QUICK_FEATURES, _ROWS_PER_TARGET, _ROWS_PER_QUICK_FEATURE = (2048, 8192), (256, 512), 256, 8
# The gradients of a metric of a large table are those of one feature for so many of its rows, and sixteen rows per
# feature: the final model of such a table costs more than its metric. Every fourth of these rows judges it, as many as
# judge the other quick fits.
_ROWS_PER_METRIC_FEATURE, _ROWS_OF_METRIC_FEATURE, _JUDGED = 64, 16, 4
# Rounds of a metric at most, and of one that an earlier search knows nearly: it needs the weight of a new column.
_ROUNDS, _LED_ROUNDS = 3, 1
# Rows per feature of these fits, and features, at least.
_ROWS_PER_FEATURE, _LEAST_FEATURES = 4, 64
# Leaves and landmarks of the fits that choose a kernel, and rows per leaf at most: half of the usual leaf, at an eighth
# of the cost. Small tables have leaves of twice as many rows. Smaller leaves are more, with as many rows in all.
_LEAVES, _LANDMARKS, _LEAF_ROWS, _SMALL_TABLE = 3, 32, 512, 4096
# Leaves, rows per leaf and landmarks of the fits that choose the last ridge, and the step: the final leaves are larger.
_LAST_LEAVES, _LAST_LEAF_ROWS, _LAST_LANDMARKS, _LAST_STEP = 5, 1024, 128, 3.0
# Kernels that are tried with each metric. That of L1 distances is no kernel of rotated columns.
# Without a metric few are tried: many columns of like kind (pixels) leave too little to learn one from.
_TRIED = {"diagonal": tuple(FAMILIES), "full": ("Laplace", "Matern 3/2"), "no": ("Laplace", "Matern 3/2")}
# Pairs of metric and kernel whose scale is improved.
_WALKERS = 3
# Pairs that a search of more columns takes over from an earlier one, and those that it tries in any case: what a new
# column leaves may be smoother than before, or rougher.
_TAKEN_OVER = 2
_ALWAYS = (("diagonal", "L1 Laplace"), ("diagonal", "Matern 3/2"))
# A model of low order on a sample may have this multiple of the error of the local model on all rows. The search for
# it ends where the first ones, one of which has a metric, have that multiple of the bound: other length scales took at
# most a sixth off the errors of made tables.
_NEAR, _HOPELESS = 1.25, 1.2
# Metrics whose best choice has this multiple of the least error are not learned again for rows of other targets.
_NO_RIVAL = 2.0
# Bounds of the ridge at which trials begin.
_FIRST_ALPHAS = (1e-3, 3.0)
# The factor between the ridges that are tried before kernels are chosen.
_COARSE = 10.0


class Search:
    """Chooses all that a model on leaves needs, on the training rows alone.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Numbers, not scaled.
    held : HeldTargets
        Targets, standardised or +1 and -1, with positive weights.
    dtype : dtype
        The precision of all fits.
    leaf_rows : int
    seed : int
    deadline : float
        The value of ``time.monotonic`` at which the search ends; inf for none.
    keep_interrupted : bool
        Whether ``KeyboardInterrupt`` ends the search as a deadline does, once the scaling of columns is chosen.
    methods : sequence of str
        The scalings of columns to try.
    leaders : sequence of Choice
        The best choices of a search of nearly the same columns, the best first. This search then tries their metrics
        and kernels, with few others, and improves the best alone.
    is_promising : callable
        Called with the numbers of the rows that judged the best of the first kernels, and its leave-one-out residuals
        (n, k): whether it is worth improving. Else it is the choice.
    tell : callable
        Called with each trial.

    Attributes
    ----------
    relearned : tuple of Choice and ndarray of shape (n, k), or None
        The choice of a small table, and its residuals of rows whose targets have not taught the metric.
    """

    def __init__(
        self,
        rows: Array,
        held: HeldTargets[Targets],
        *,
        dtype: np.dtype[np.floating],
        leaf_rows: int,
        seed: int,
        deadline: float = np.inf,
        keep_interrupted: bool = False,
        methods: Sequence[str] = METHODS,
        leaders: Sequence[Choice] = (),
        is_promising: Callable[[Array, Array], bool] = lambda rows, residuals: True,
        tell: Callable[[Trial], None] = lambda trial: None,
    ):
        self._raw, self._Y, self._weight, self._left_out = rows, held.Y, held.weight, held.left_out
        self._held, self._dtype, self._leaf_rows = held, dtype, leaf_rows
        self._keep_interrupted, self._methods = keep_interrupted, methods
        self.leaders, self._is_promising = list(leaders), is_promising
        self._variance = error_units(held)
        self._quick_rows = int(np.clip(_ROWS_PER_TARGET * held.Y.shape[1], *_QUICK_ROWS))
        self._quick_features = int(np.clip(self._quick_rows // _ROWS_PER_QUICK_FEATURE, *_QUICK_FEATURES))
        self._rng = np.random.RandomState(seed)
        self._seed = seed
        self._leaves: LeafTrials | None = None
        self._leading: Choice | None = None
        self.relearned: tuple[Choice, Array] | None = None
        self.log = TrialLog(deadline, tell)
        self.metrics: dict[str, MetricFit] = {}
        self.importances = np.ones(rows.shape[1])

    def run(self) -> tuple[ColumnScaling, Array, Choice]:
        """Return the scaling, the scaled rows in float32, and the choice."""
        scaling = self._choose_scaling()
        self._rows = scaling.transform(self._raw, self._dtype)

        def chosen() -> Choice:
            self._learn_metrics()
            return self._choose_kernel()

        return scaling, self._rows, self._in_time(chosen)

    def refined(self, best: Choice) -> Choice:
        """Return the choice of ``run`` with the ridge that is best on leaves of the size of the final ones.

        Of a small table, whose leaf is that of the final model already, return the best choice of all metrics for rows
        whose targets have not taught the metric.
        """
        if self.log.ended != "done":
            return best
        if self._is_small:
            return self._in_time(lambda: self._best_of_relearned(best)) if self._relearns else best
        self._leading, self._leaves = best, None

        def chosen() -> Choice:
            size = min(self._leaf_rows, _LAST_LEAF_ROWS)
            queries = self._queries[: -(-_LAST_LEAVES * _LAST_LEAF_ROWS // size)]
            leaves = self._new_leaves([best.metric], queries, size, _LAST_LANDMARKS)
            return leaves.walk("last alpha", leaves.tried("last alpha", best), alpha=_LAST_STEP)

        return self._in_time(chosen)

    @property
    def _relearns(self) -> bool:
        """Whether all rows have taught the metric, and the final model has one leaf."""
        return LEAST_ROWS <= len(self._raw) <= min(MOST_ROWS, self._leaf_rows)

    def _best_of_relearned(self, best: Choice) -> Choice:
        """Return the best choice of each metric whose residuals with metrics of other rows are smallest; keep these."""
        assert self._leaves is not None  # noqa: S101, for the type checker: ``run`` has tried choices
        self.log.check_time()
        start, tried = time.monotonic(), self._leaves.found
        others = [
            min((one for one in tried if one.metric == name), key=error_of, default=best)
            for name in self.metrics
            if name != best.metric
        ]
        choices = [best, *(one for one in others if one.metric != best.metric and one.error < _NO_RIVAL * best.error)]

        def sample_of(some: Array) -> MetricRows:
            return self._metric_rows(self._rows[some], some)

        found = relearned_residuals(choices, self._rows, self._held, sample_of, _ROUNDS, self._seed)
        share = self._weight / self._weight.sum()
        errors = [float(np.mean(share @ residuals**2 / self._variance)) for residuals in found]
        seconds = (time.monotonic() - start) / len(choices)
        for choice, error in zip(choices, errors, strict=True):
            self.log.add(Trial("new rows", str(choice), error, seconds))
        least = int(np.argmin(errors))
        self.relearned = replace(choices[least], error=errors[least]), found[least]
        return self.relearned[0]

    def _in_time(self, chosen: Callable[[], Choice]) -> Choice:
        """Return a choice, or the best one so far where the time ends or the user interrupts."""
        try:
            return chosen()
        except OutOfTimeError:
            return self._best_so_far()
        except KeyboardInterrupt:
            if not self._keep_interrupted:
                raise
            self.log.ended = "interrupted"
            return self._best_so_far()

    def _best_so_far(self) -> Choice:
        """Return the best choice that was tried; where there is none, a kernel with what is known of the metric."""
        if not self.metrics:
            self.metrics["diagonal"] = self._first
        metric = min(self.metrics, key=lambda name: self.metrics[name].error)
        plain = self._leading or Choice(metric, "Matern 3/2", 1.0, self._first_alpha)
        return min(self._leaves.found if self._leaves else [], key=error_of, default=plain)

    def judged(self, choice: Choice) -> tuple[Array, Array]:
        """Return the numbers of the rows that judged a choice last, and its leave-one-out residuals (n, k)."""
        if self.relearned is not None and self.relearned[0] == choice:
            return np.arange(len(self._raw)), self.relearned[1]
        assert self._leaves is not None  # noqa: S101, for the type checker: ``run`` has tried choices
        return self._leaves.judged(choice)

    def low_order(self, local_residuals: Array) -> LowOrderChoice | None:
        """Return the best kernel of low order, None where it cannot come near the local model.

        ``local_residuals`` (n, k) are leave-one-out residuals of the local model, which has seen all rows. Fits of low
        order on a sample see fewer rows: they may be worse by a quarter.
        """
        some = self._sample(self._quick_rows)
        n_features = sample_features(float(self._weight[some].sum()))
        sample = replace(self._metric_rows(self._rows[some], some), n_components=n_features)
        share = self._weight[some] / self._weight[some].sum()
        bound = _NEAR * float(np.mean(share @ local_residuals[some] ** 2 / self._variance))
        found: list[LowOrderChoice] = []
        for some_choices in low_order_choices(sample, self.metrics["diagonal"]):
            for choice, seconds in some_choices:
                self.log.add(Trial("low order", str(choice), choice.error, seconds))
                found.append(choice)
            if self.log.is_late() or min(found, key=error_of).error > _HOPELESS * bound:
                break
        return min((choice for choice in found if choice.error <= bound), key=error_of, default=None)

    def kernel(self, choice: Choice) -> Kernel:
        """Return the kernel of a choice, of scaled rows."""
        fit = self.metrics[choice.metric]
        return choice.kernel(fit.transform / fit.unit)

    def _sample(self, n_rows: int) -> Array:
        n = len(self._raw)
        return np.arange(n) if n <= n_rows else np.sort(self._rng.permutation(n)[:n_rows])

    def _metric_rows(self, rows: Array, some: Array, n_features: int | None = None) -> MetricRows:
        """Return some rows to learn a metric on, with an even number of features, at most one for four rows."""
        most = self._quick_features if n_features is None else n_features
        n_features = int(np.clip(self._weight.sum() / _ROWS_PER_FEATURE, _LEAST_FEATURES, most)) // 2 * 2
        weights = self._weight[some], self._left_out[some]
        return MetricRows(rows, self._Y[some], *weights, n_features, self._seed)

    def _choose_scaling(self) -> ColumnScaling:
        """Take the scaling with the least error of a fit without a metric."""
        some = self._some = self._sample(self._quick_rows)

        def scaled(method: str) -> tuple[ColumnScaling, MetricRows] | None:
            if method != self._methods[0] and self.log.is_late():
                return None
            scaling = ColumnScaling.of(self._raw, method, np.random.RandomState(self._seed), self._weight)
            return scaling, self._metric_rows(scaling.transform(self._raw[some], self._dtype), some)

        start = time.monotonic()
        scalings = [one for one in on_threads(scaled, self._methods) if one is not None]
        fits = first_fits([rows for _, rows in scalings])
        seconds = (time.monotonic() - start) / len(fits)
        found = [(scaling, fit) for (scaling, _), fit in zip(scalings, fits, strict=True)]
        for scaling, fit in found:
            self.log.add(Trial("columns", scaling.method, fit.error, seconds))
        best, self._first = min(found, key=lambda one: one[1].error)
        return best

    def _learn_metrics(self) -> None:
        """Learn a diagonal and a full metric, each the best of a few rounds, from the fit that chose the scaling."""
        first = self._first
        wanted = len(self._rows) // _ROWS_PER_METRIC_FEATURE
        n_features = int(np.clip(wanted, self._quick_features, _QUICK_FEATURES[1]))
        sample, more = self._metric_rows(self._rows[self._some], self._some), None
        if n_features > self._quick_features and not self.leaders:
            some = self._sample(n_features * _ROWS_OF_METRIC_FEATURE)
            more = replace(self._metric_rows(self._rows[some], some, n_features), judged=_JUDGED)
        led = {choice.metric for choice in self.leaders[:_TAKEN_OVER]} | {"diagonal"}
        names = [name for name in ("diagonal", "full") if not self.leaders or name in led]

        rounds: dict[str, list[MetricFit]] = {name: [] for name in names}
        start = time.monotonic()
        n_rounds = _LED_ROUNDS if self.leaders else _ROUNDS
        for fits in learned_metrics(first, sample, more, full=[name == "full" for name in names], n_rounds=n_rounds):
            new = [(name, fit) for name, fit in zip(names, fits, strict=True) if fit is not None]
            for name, fit in new:
                self.log.add(Trial("metric", name, fit.error, (time.monotonic() - start) / len(new)))
                rounds[name].append(fit)
            start = time.monotonic()
            if self.log.is_late():
                break
        self.metrics |= {name: min([first, *fits], key=error_of) for name, fits in rounds.items()}
        best_of_all = min([first, *self.metrics.values()], key=error_of)
        self.importances = np.maximum(np.diagonal(best_of_all.gradients), 0.0)
        if self.metrics.get("full") is first:
            del self.metrics["full"]
        if self.metrics["diagonal"] is not first and (not self.leaders or "no" in led):
            self.metrics["no"] = first

    def _choose_kernel(self) -> Choice:
        size = min(self._leaf_rows, (2 if self._is_small else 1) * _LEAF_ROWS)
        self._queries = self._drawn_queries(-(-_LEAVES * _LEAF_ROWS // size))
        leaves = self._new_leaves(self.metrics, self._queries, size, _LANDMARKS)
        pairs = self._pairs()
        alpha = self._coarse_alpha(leaves, pairs)
        firsts = [Choice(*pair, scale, alpha) for pair, scales in pairs.items() for scale in scales]
        tried = leaves.tried_all("kernel", firsts)
        starts = [min((one for one in tried if (one.metric, one.family) == pair), key=error_of) for pair in pairs]
        starts = leaves.in_one_unit(starts)
        walkers = sorted(starts, key=error_of)[: 1 if self.leaders else _WALKERS]
        if not self._is_promising(*leaves.judged(walkers[0])):
            return walkers[0]
        self.leaders = sorted(leaves.walk_all("scale", walkers, scale=2.0), key=error_of)
        best = self.leaders[0]
        best = leaves.walk("alpha", best, alpha=3.0)
        best = leaves.walk("scale", best, scale=2**0.5)
        return leaves.walk("alpha", best, alpha=3.0) if self._is_small else best  # else ``refined`` has the last word

    def _new_leaves(self, metrics: Iterable[str], queries: Array, leaf_rows: int, n_landmarks: int) -> LeafTrials:
        """Return trials on the leaves of some rows, cut in the space of each metric, and keep what they find."""
        quick = min([self._first, *self.metrics.values()], key=lambda fit: fit.error)
        leaves = LeafTrials(self._rows, self._held, self.metrics, quick, seed=self._seed, log=self.log)
        self._leaves = leaves
        leaves.prepare(list(metrics), queries, leaf_rows, n_landmarks)
        return leaves

    def _coarse_alpha(self, leaves: LeafTrials, pairs: Mapping[tuple[str, str], tuple[float, ...]]) -> float:
        """Return the ridge at which all kernels are tried: the best of one kernel, in powers of 10.

        It begins at the ridge of the best quick fit, which has few features. Noise is a property of the targets: with a
        ridge of its own, a metric would win or lose by that. So an earlier search of the same targets knows it.
        """
        if self.leaders:
            return self.leaders[0].alpha
        metric = min(self.metrics, key=lambda name: self.metrics[name].error)
        metric, family = next((pair for pair in pairs if pair[0] == metric), next(iter(pairs)))
        first = Choice(metric, family, pairs[metric, family][0], self._first_alpha)
        return leaves.walk("alpha", leaves.tried("alpha", first), alpha=_COARSE).alpha

    def _drawn_queries(self, n_leaves: int) -> Array:
        """Draw the rows whose leaves judge kernels. Where all have one target, a row with another replaces the first.

        Every kernel predicts rows of one target without error, and says nothing by that.
        """
        queries = self._rng.permutation(len(self._rows))[:n_leaves]
        typical = self._Y[queries[0]]
        if np.all(self._Y[queries] == typical):
            others = np.flatnonzero((typical != self._Y).any(axis=1))
            queries[:1] = self._rng.permutation(others)[:1] if len(others) else queries[:1]
        return queries

    @property
    def _is_small(self) -> bool:
        """Whether the leaves that choose a kernel are those of the final model already."""
        return len(self._raw) <= _SMALL_TABLE

    def _pairs(self) -> dict[tuple[str, str], tuple[float, ...]]:
        """Return the metrics and kernels to try, each with its first scales."""
        if not self.leaders:
            return {(metric, name): FAMILIES[name][1] for metric in self.metrics for name in _TRIED[metric]}
        pairs = {(metric, name): FAMILIES[name][1][:1] for metric, name in _ALWAYS}
        for choice in self.leaders[:_TAKEN_OVER]:
            # A metric that is no better than none on the new columns is not among the metrics.
            metric = choice.metric if choice.metric in self.metrics else "diagonal"
            pairs[metric, choice.family] = (choice.scale,)
        return pairs

    @property
    def _first_alpha(self) -> float:
        """The ridge of the best quick fit: noise is a property of the targets, and the same for every metric."""
        fit = min(self.metrics.values(), key=lambda one: one.error)
        return float(np.clip(fit.alpha, *_FIRST_ALPHAS))
