"""The search of a tuned estimator: scaling of columns, metric, kernel, scale and ridge, by leave-one-out errors."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mercer._typing import Array
from mercer.checkpoints import kept
from mercer.fitting import HeldTargets, Targets
from mercer.kernels import Kernel
from mercer.learners.local.choice import FAMILIES, Choice
from mercer.learners.local.low_order import LowOrderChoice, low_order_choices, sample_features
from mercer.learners.local.metrics import MetricFit, MetricRows, first_fit, learned_metrics
from mercer.learners.local.report import Trial
from mercer.learners.local.scaling import METHODS, ColumnScaling
from mercer.learners.local.units import error_units
from mercer.solvers.local.leaf_ridge import LeafSystem
from mercer.solvers.local.leaf_sample import LeafSample, relative_error

# Rows and features of the fits that choose the scaling of columns, learn a metric, and try kernels of low order.
_SAMPLE_ROWS, _SAMPLE_FEATURES = 4096, 256
# A metric of a large table is learned with one feature for so many of its rows, at most so many features, and sixteen
# rows per feature: the final model of such a table costs more than its metric.
_ROWS_PER_METRIC_FEATURE, _MOST_METRIC_FEATURES = 64, 512
# Rows per feature of these fits, and features, at least.
_ROWS_PER_FEATURE, _LEAST_FEATURES = 4, 64
# Leaves and landmarks of the fits that choose a kernel, and rows per leaf at most: half of the usual leaf, at an eighth
# of the cost. Small tables have leaves of twice as many rows. Smaller leaves are more, with as many rows in all.
_LEAVES, _LANDMARKS, _LEAF_ROWS, _SMALL_TABLE = 4, 128, 512, 4096
# Leaves, rows per leaf and landmarks of the fits that choose the last ridge, and the step: the final leaves are larger.
_LAST_LEAVES, _LAST_LEAF_ROWS, _LAST_LANDMARKS, _LAST_STEP = 5, 1024, 128, 3.0
# Kernels that are tried with each metric. That of L1 distances is no kernel of rotated columns.
# Without a metric few are tried: many columns of like kind (pixels) leave too little to learn one from.
_TRIED = {"diagonal": tuple(FAMILIES), "full": ("Laplace", "Matern 3/2"), "no": ("Laplace", "Matern 3/2")}
# Matrices of kernels that are held for other ridges.
_HELD = 3
# Pairs of metric and kernel whose scale is improved.
_WALKERS = 3
# Pairs that a search of more columns takes over from an earlier one, and those that it tries in any case: what a new
# column leaves may be smoother than before, or rougher.
_TAKEN_OVER = 2
_ALWAYS = (("diagonal", "L1 Laplace"), ("diagonal", "Matern 3/2"))
# A model of low order on a sample may have this multiple of the error of the local model on all rows; the search for
# it ends once the first ones have that multiple of the bound.
_NEAR, _HOPELESS = 1.25, 1.6
# Metrics are compared on leaves of both where the best errors of both, in units of quick fits, are within this factor.
_COMPARED = 1.6
_TINY = float(np.finfo(np.float64).tiny)
# The least difficulty of some rows, relative to all: a mean of squares of few rows may be 0.
_LEAST_DIFFICULTY = 0.01
# Bounds of the scale, and of the ridge, which float32 factors set.
_SCALES, _ALPHAS = (0.05, 60.0), (2e-4, 30.0)
_FIRST_ALPHAS = (1e-3, 3.0)
# The factor between the ridges that are tried before kernels are chosen.
_COARSE = 10.0


@dataclass(frozen=True)
class _MetricLeaves:
    """The rows of a few leaves in the space of a metric, landmarks, and how hard these rows are to predict."""

    rows: Array
    sample: LeafSample
    landmarks: Array
    difficulty: float


class OutOfTimeError(Exception):
    """The time budget of a search has ended."""


def _error(choice: Choice) -> float:
    return choice.error


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
    tell : callable
        Called with each trial.
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
        tell: Callable[[Trial], None] = lambda trial: None,
    ):
        self._raw, self._Y, self._weight, self._left_out = rows, held.Y, held.weight, held.left_out
        self._dtype, self._leaf_rows, self._deadline, self._tell = dtype, leaf_rows, deadline, tell
        self._keep_interrupted, self._methods = keep_interrupted, methods
        self.leaders = list(leaders)
        self._variance = error_units(held)
        self._rng = np.random.RandomState(seed)
        self._seed = seed
        self._systems: dict[str, _MetricLeaves] = {}
        self._held: dict[tuple[str, str, float], LeafSystem] = {}
        self._found: list[Choice] = []
        self._leading: Choice | None = None
        self.trials: list[Trial] = []
        self.ended = "done"
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
        """Return the choice of ``run`` with the ridge that is best on leaves of the size of the final ones."""
        if self.ended != "done" or self._is_small:
            return best
        self._held.clear()
        self._leading, self._found = best, []

        def chosen() -> Choice:
            size = min(self._leaf_rows, _LAST_LEAF_ROWS)
            queries = self._queries[: -(-_LAST_LEAVES * _LAST_LEAF_ROWS // size)]
            self._prepare(best.metric, queries, size, _LAST_LANDMARKS)
            return self._walk("last alpha", self._tried("last alpha", best), alpha=_LAST_STEP)

        return self._in_time(chosen)

    def _in_time(self, chosen: Callable[[], Choice]) -> Choice:
        """Return a choice, or the best one so far where the time ends or the user interrupts."""
        try:
            return chosen()
        except OutOfTimeError:
            return self._best_so_far()
        except KeyboardInterrupt:
            if not self._keep_interrupted:
                raise
            self.ended = "interrupted"
            return self._best_so_far()

    def _best_so_far(self) -> Choice:
        """Return the best choice that was tried; where there is none, a kernel with what is known of the metric."""
        if not self.metrics:
            self.metrics["diagonal"] = self._first
        metric = min(self.metrics, key=lambda name: self.metrics[name].error)
        plain = self._leading or Choice(metric, "Matern 3/2", 1.0, self._first_alpha)
        return min(self._found, key=lambda choice: choice.error, default=plain)

    def judged(self, choice: Choice) -> tuple[Array, Array]:
        """Return the numbers of the rows that judged a choice of ``run``, and its leave-one-out residuals (n, k)."""
        some = self._systems[choice.metric].sample.rows
        solution = self._system(choice).solve(
            self._Y[some], choice.alpha, self._weight[some], left_out=self._left_out[some]
        )
        assert solution.loo_residuals is not None  # noqa: S101, for the type checker
        return some, solution.loo_residuals

    def low_order(self, local_residuals: Array) -> LowOrderChoice | None:
        """Return the best kernel of low order, None where it cannot come near the local model.

        ``local_residuals`` (n, k) are leave-one-out residuals of the local model, which has seen all rows. Fits of low
        order on a sample see fewer rows: they may be worse by a quarter.
        """
        some = self._sample(_SAMPLE_ROWS)
        n_features = sample_features(float(self._weight[some].sum()))
        sample = replace(self._metric_rows(self._rows[some], some), n_components=n_features)
        share = self._weight[some] / self._weight[some].sum()
        bound = _NEAR * float(np.mean(share @ local_residuals[some] ** 2 / self._variance))
        best, start = None, time.monotonic()
        for choice in low_order_choices(sample, self.metrics["diagonal"]):
            self._note("low order", str(choice), choice.error, start)
            start = time.monotonic()
            best = choice if best is None or choice.error < best.error else best
            if self._late() or best.error > _HOPELESS * bound:
                break
        return best if best is not None and best.error <= bound else None

    def kernel(self, choice: Choice) -> Kernel:
        """Return the kernel of a choice, of scaled rows."""
        fit = self.metrics[choice.metric]
        return choice.kernel(fit.transform / fit.unit)

    def _sample(self, n_rows: int) -> Array:
        n = len(self._raw)
        return np.arange(n) if n <= n_rows else np.sort(self._rng.permutation(n)[:n_rows])

    def _metric_rows(self, rows: Array, some: Array, most: int = _SAMPLE_FEATURES) -> MetricRows:
        """Return some rows to learn a metric on, with an even number of features, at most one for four rows."""
        n_features = int(np.clip(self._weight.sum() / _ROWS_PER_FEATURE, _LEAST_FEATURES, most)) // 2 * 2
        weights = self._weight[some], self._left_out[some]
        return MetricRows(rows, self._Y[some], *weights, n_features, self._seed)

    def _choose_scaling(self) -> ColumnScaling:
        """Take the scaling with the least error of a fit without a metric."""
        some = self._some = self._sample(_SAMPLE_ROWS)
        best: tuple[ColumnScaling, MetricFit] | None = None
        for method in self._methods:
            start = time.monotonic()
            scaling = ColumnScaling.of(self._raw, method, np.random.RandomState(self._seed), self._weight)
            rows = scaling.transform(self._raw[some], self._dtype)
            fit = first_fit(self._metric_rows(rows, some))
            self._note("columns", method, fit.error, start)
            if best is None or fit.error < best[1].error:
                best = scaling, fit
            if self._late():
                break
        assert best is not None  # noqa: S101
        self._first = best[1]
        return best[0]

    def _learn_metrics(self) -> None:
        """Learn a diagonal and a full metric, each the best of a few rounds, from the fit that chose the scaling."""
        first = self._first
        wanted = len(self._rows) // _ROWS_PER_METRIC_FEATURE
        n_features = int(np.clip(wanted, _SAMPLE_FEATURES, _MOST_METRIC_FEATURES))
        some = self._some
        if n_features > _SAMPLE_FEATURES:
            some = self._sample(n_features * (_SAMPLE_ROWS // _SAMPLE_FEATURES))
        sample = self._metric_rows(self._rows[some], some, n_features)
        best_of_all = first
        led = {choice.metric for choice in self.leaders[:_TAKEN_OVER]} | {"diagonal"}
        for name, full in (("diagonal", False), ("full", True)):
            if self.leaders and name not in led:
                continue
            best = first
            start = time.monotonic()
            if not self._late():
                for fit in learned_metrics(first, sample, full=full):
                    self._note("metric", name, fit.error, start)
                    start = time.monotonic()
                    best = min(best, fit, key=lambda one: one.error)
                    if self._late():
                        break
            self.metrics[name] = best
            best_of_all = min(best_of_all, best, key=lambda one: one.error)
        self.importances = np.maximum(np.diagonal(best_of_all.gradients), 0.0)
        if self.metrics.get("full") is first:
            del self.metrics["full"]
        if self.metrics["diagonal"] is not first and (not self.leaders or "no" in led):
            self.metrics["no"] = first

    def _choose_kernel(self) -> Choice:
        size = min(self._leaf_rows, (2 if self._is_small else 1) * _LEAF_ROWS)
        self._queries = self._drawn_queries(-(-_LEAVES * _LEAF_ROWS // size))
        for metric in self.metrics:
            self._prepare(metric, self._queries, size, _LANDMARKS)
        pairs = self._pairs()
        alpha = self._coarse_alpha(pairs)
        starts: list[Choice] = []
        for (metric, family), scales in pairs.items():
            firsts = (Choice(metric, family, scale, alpha) for scale in scales)
            starts.append(min((self._tried("kernel", one) for one in firsts), key=_error))
        starts = self._in_one_unit(starts)
        walkers = sorted(starts, key=_error)[: 1 if self.leaders else _WALKERS]
        walked = [self._walk("scale", choice, scale=2.0) for choice in walkers]
        self.leaders = sorted(walked, key=_error)
        best = self.leaders[0]
        best = self._walk("alpha", best, alpha=3.0)
        best = self._walk("scale", best, scale=2**0.5)
        return self._walk("alpha", best, alpha=3.0) if self._is_small else best  # else ``refined`` has the last word

    def _coarse_alpha(self, pairs: Mapping[tuple[str, str], tuple[float, ...]]) -> float:
        """Return the ridge at which all kernels are tried: the best of one kernel, in powers of 10.

        It begins at the ridge of the best quick fit, which has few features. Noise is a property of the targets: with a
        ridge of its own, a metric would win or lose by that.
        """
        metric = min(self.metrics, key=lambda name: self.metrics[name].error)
        metric, family = next((pair for pair in pairs if pair[0] == metric), next(iter(pairs)))
        first = Choice(metric, family, pairs[metric, family][0], self._first_alpha)
        return self._walk("alpha", self._tried("alpha", first), alpha=_COARSE).alpha

    def _in_one_unit(self, starts: list[Choice]) -> list[Choice]:
        """Return choices whose errors can be compared between metrics, and keep the new unit of each metric.

        The leaves of two metrics hold different rows, some of them harder. The best kernel of each is tried on the
        leaves of both: the geometric mean of the two ratios of errors says how much harder the one leaves are.
        """
        best = min(starts, key=_error)
        for metric in self.metrics:
            own = min((one for one in starts if one.metric == metric), key=_error, default=best)
            if metric == best.metric or own.error > _COMPARED * best.error or not best.error > 0:
                continue
            old, first = self._systems[metric].difficulty, self._systems[best.metric].difficulty
            of_best = self._error_on(metric, best) / (best.error * first)
            of_own = own.error * old / max(self._error_on(best.metric, own), _TINY)
            new = first * max(of_best * of_own, _TINY) ** 0.5
            self._systems[metric] = replace(self._systems[metric], difficulty=new)
            starts, self._found = (
                [replace(one, error=one.error * old / new) if one.metric == metric else one for one in some]
                for some in (starts, self._found)
            )
        return starts

    def _error_on(self, metric: str, choice: Choice) -> float:
        """Return the error of a choice on the leaves of some metric, its own or another, in no unit."""
        leaves = self._systems[metric]
        some = leaves.sample.rows
        if self._late():
            raise OutOfTimeError
        system = self._system(choice)
        if metric != choice.metric:
            fit, own = self.metrics[choice.metric], self._systems[choice.metric]
            rows = self._rows[some] @ (fit.transform / fit.unit).astype(self._dtype)
            system = LeafSystem(choice.inner, rows, leaves.sample.leaves, own.landmarks)
        weights = (self._weight[some], self._left_out[some])
        return kept(
            f"leaves of the {metric} metric: {choice}",
            lambda: relative_error(system, self._Y[some], choice.alpha, *weights, variance=self._variance),
        )

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

    def _walk(self, step: str, best: Choice, *, scale: float = 1.0, alpha: float = 1.0) -> Choice:
        """Multiply scale or alpha by a factor, or else divide by it, while the error falls."""
        for sign in (1, -1):
            improved = False
            while True:
                new_scale, new_alpha = best.scale * scale**sign, best.alpha * alpha**sign
                inside = _SCALES[0] <= new_scale <= _SCALES[1] and _ALPHAS[0] <= new_alpha <= _ALPHAS[1]
                other = self._tried(step, replace(best, scale=new_scale, alpha=new_alpha)) if inside else best
                if not other.error < best.error:
                    break
                best, improved = other, True
            if improved:
                break
        return best

    def _tried(self, step: str, choice: Choice) -> Choice:
        known = [one for one in self._found if replace(one, error=np.inf) == replace(choice, error=np.inf)]
        if known:
            return known[0]
        start = time.monotonic()
        error = self._error_on(choice.metric, choice)
        found = replace(choice, error=error / self._systems[choice.metric].difficulty)
        self._found.append(found)
        self._note(step, str(choice), found.error, start)
        return found

    def _system(self, choice: Choice) -> LeafSystem:
        """Return the matrices of a kernel, which other ridges share."""
        key = choice.metric, choice.family, choice.scale
        if key not in self._held:
            for old in list(self._held)[: 1 - _HELD]:
                del self._held[old]
            leaves = self._systems[choice.metric]
            self._held[key] = LeafSystem(choice.inner, leaves.rows, leaves.sample.leaves, leaves.landmarks, hold=True)
        return self._held[key]

    def _prepare(self, metric: str, queries: Array, leaf_rows: int, n_landmarks: int) -> None:
        """Cut the rows in the space of a metric, and keep the leaves of a few rows that all metrics share."""
        fit = self.metrics[metric]
        rows = self._rows @ (fit.transform / fit.unit).astype(self._dtype)
        sample = LeafSample.around(rows, leaf_rows, queries, np.random.RandomState(self._seed))
        landmarks = rows[np.sort(np.random.RandomState(self._seed).permutation(len(rows))[:n_landmarks])]
        self._systems[metric] = _MetricLeaves(rows[sample.rows], sample, landmarks, self._difficulty(sample.rows))

    def _difficulty(self, some: Array) -> float:
        """Return the error of the best quick fit on some rows, relative to its error on all rows.

        The leaves of two metrics hold different rows, some of them harder. Errors in this unit can be compared.
        """
        fit = min([self._first, *self.metrics.values()], key=lambda one: one.error)
        if not fit.error > 0:
            return 1.0
        share = self._weight[some] / self._weight[some].sum()
        squares = share @ np.square(self._Y[some] - fit.predict(self._rows[some]))
        return max(float(np.mean(squares / self._variance)) / fit.error, _LEAST_DIFFICULTY)

    @property
    def _first_alpha(self) -> float:
        """The ridge of the best quick fit: noise is a property of the targets, and the same for every metric."""
        fit = min(self.metrics.values(), key=lambda one: one.error)
        return float(np.clip(fit.alpha, *_FIRST_ALPHAS))

    def _late(self) -> bool:
        late = time.monotonic() > self._deadline
        if late:
            self.ended = "time_budget"
        return late

    def note(self, trial: Trial) -> None:
        """Add a trial to those of the search, and tell of it."""
        self.trials.append(trial)
        self._tell(trial)

    def _note(self, step: str, what: str, error: float, start: float) -> None:
        self.note(Trial(step, what, float(error), time.monotonic() - start))
