"""Leave-one-out errors of kernels on a few leaves, in a unit that metrics share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

import numpy as np

from mercer._typing import Array
from mercer.checkpoints import kept
from mercer.fitting import HeldTargets, Targets
from mercer.learners.local.choice import Choice
from mercer.learners.local.metrics import MetricFit
from mercer.learners.local.report import Trial
from mercer.learners.local.trial_log import TrialLog, timed
from mercer.learners.local.units import error_units
from mercer.learners.local.walk import error_of, walked
from mercer.parallel import on_threads
from mercer.solvers.local.leaf_ridge import LeafSystem
from mercer.solvers.local.leaf_sample import LeafSample, relative_error

# Matrices of kernels that are held for other ridges.
_HELD = 3
# Metrics are compared on leaves of both where the best errors of both, in units of quick fits, are within this factor.
_COMPARED = 1.6
_TINY = float(np.finfo(np.float64).tiny)
# The least difficulty of some rows, relative to all: a mean of squares of few rows may be 0.
_LEAST_DIFFICULTY = 0.01
# Bounds of the scale, and of the ridge, which float32 factors set.
_SCALES, _ALPHAS = (0.05, 60.0), (2e-4, 30.0)


@dataclass(frozen=True)
class _MetricLeaves:
    """The rows of a few leaves in the space of a metric, landmarks, and how hard these rows are to predict."""

    rows: Array
    sample: LeafSample
    landmarks: Array
    difficulty: float


class LeafTrials:
    """Tries choices of metric, kernel, scale and ridge on whole leaves of a few rows.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Scaled rows, in the precision of all fits.
    held : HeldTargets
        Targets, standardised or +1 and -1, with positive weights.
    metrics : mapping of str to MetricFit
    quick : MetricFit
        The best quick fit, which tells how hard some rows are to predict.
    seed : int
    log : TrialLog

    Attributes
    ----------
    found : list of Choice
        All that was tried, with errors.
    """

    def __init__(
        self,
        rows: Array,
        held: HeldTargets[Targets],
        metrics: Mapping[str, MetricFit],
        quick: MetricFit,
        *,
        seed: int,
        log: TrialLog,
    ):
        self._rows, self._Y, self._weight, self._left_out = rows, held.Y, held.weight, held.left_out
        self._metrics, self._quick, self._seed, self._log = metrics, quick, seed, log
        self._variance = error_units(held)
        self._leaves: dict[str, _MetricLeaves] = {}
        self._held: dict[tuple[str, str, float], LeafSystem] = {}
        self._judged: dict[Choice, Array] = {}
        self._lock = Lock()
        self.found: list[Choice] = []

    def prepare(self, metrics: Sequence[str], queries: Array, leaf_rows: int, n_landmarks: int) -> None:
        """Cut the rows in the space of each metric, and keep the leaves of a few rows that all metrics share."""

        def leaves_of(metric: str) -> _MetricLeaves:
            rows = self._in_metric(metric, self._rows)
            sample = LeafSample.around(rows, leaf_rows, queries, np.random.RandomState(self._seed))
            landmarks = rows[np.sort(np.random.RandomState(self._seed).permutation(len(rows))[:n_landmarks])]
            return _MetricLeaves(rows[sample.rows], sample, landmarks, self._difficulty(sample.rows))

        self._leaves.update(zip(metrics, on_threads(leaves_of, metrics), strict=True))

    def tried(self, step: str, choice: Choice) -> Choice:
        """Return a choice with its error; what was tried before is not tried again."""
        return self.tried_all(step, [choice])[0]

    def tried_all(self, step: str, choices: Iterable[Choice]) -> list[Choice]:
        """Return choices with their errors, which the threads find side by side."""
        asked = [replace(choice, error=np.inf) for choice in choices]
        known = {replace(one, error=np.inf): one for one in self.found}
        new = [choice for choice in dict.fromkeys(asked) if choice not in known]
        errors = self._errors_on([(choice.metric, choice) for choice in new])
        for choice, (error, seconds) in zip(new, errors.tolist(), strict=True):
            known[choice] = replace(choice, error=error / self._leaves[choice.metric].difficulty)
            self.found.append(known[choice])
            self._log.add(Trial(step, str(choice), known[choice].error, seconds))
        return [known[choice] for choice in asked]

    def walk(self, step: str, best: Choice, *, scale: float = 1.0, alpha: float = 1.0) -> Choice:
        """Multiply scale or alpha by a factor, or divide by it, while the error falls."""
        return self.walk_all(step, [best], scale=scale, alpha=alpha)[0]

    def walk_all(self, step: str, starts: Iterable[Choice], *, scale: float = 1.0, alpha: float = 1.0) -> list[Choice]:
        """Walk from several choices, side by side: the next steps of all are tried at once."""

        def neighbour(choice: Choice, way: int) -> Choice | None:
            other = replace(choice, scale=choice.scale * scale**way, alpha=choice.alpha * alpha**way)
            inside = _SCALES[0] <= other.scale <= _SCALES[1] and _ALPHAS[0] <= other.alpha <= _ALPHAS[1]
            return other if inside else None

        return walked(starts, neighbour, partial(self.tried_all, step))

    def in_one_unit(self, starts: list[Choice]) -> list[Choice]:
        """Return choices whose errors can be compared between metrics, and keep the new unit of each metric.

        The leaves of two metrics hold different rows, some of them harder. The best kernel of each is tried on the
        leaves of both: the geometric mean of the two ratios of errors says how much harder the one leaves are.
        """
        best = min(starts, key=error_of)
        owns = [min((one for one in starts if one.metric == m), key=error_of, default=best) for m in self._metrics]
        owns = [one for one in owns if one.metric != best.metric and one.error <= _COMPARED * best.error]
        if not best.error > 0:
            return starts
        pairs = [pair for own in owns for pair in ((own.metric, best), (best.metric, own))]
        errors = iter(self._errors_on(pairs)[:, 0].tolist())
        for own in owns:
            old, first = self._leaves[own.metric].difficulty, self._leaves[best.metric].difficulty
            of_best = next(errors) / (best.error * first)
            of_own = own.error * old / max(next(errors), _TINY)
            new = first * max(of_best * of_own, _TINY) ** 0.5
            self._leaves[own.metric] = replace(self._leaves[own.metric], difficulty=new)
            starts, self.found = (
                [replace(one, error=one.error * old / new) if one.metric == own.metric else one for one in some]
                for some in (starts, self.found)
            )
        return starts

    def judged(self, choice: Choice) -> tuple[Array, Array]:
        """Return the numbers of the rows that judged a choice, and its leave-one-out residuals (n, k)."""
        some = self._leaves[choice.metric].sample.rows
        if choice not in self._judged:
            solution = self._system(choice).solve(
                self._Y[some], choice.alpha, self._weight[some], left_out=self._left_out[some]
            )
            assert solution.loo_residuals is not None  # noqa: S101, for the type checker
            self._judged = {choice: solution.loo_residuals}  # the last one is asked for several times
        return some, self._judged[choice]

    def _errors_on(self, pairs: Sequence[tuple[str, Choice]]) -> Array:
        """Return the errors of choices on the leaves of some metric, their own or another, and the seconds: (m, 2)."""
        if not pairs:
            return np.empty((0, 2))
        self._log.check_time()
        title = "; ".join(f"{choice} on leaves of the {metric} metric" for metric, choice in pairs)
        return kept(title, lambda: np.array(timed(self._error_on, pairs)))

    def _error_on(self, pair: tuple[str, Choice]) -> float:
        """Return the error of a choice on the leaves of a metric, in no unit."""
        metric, choice = pair
        leaves = self._leaves[metric]
        some = leaves.sample.rows
        if metric == choice.metric:
            system = self._system(choice)
        else:
            rows, landmarks = self._in_metric(choice.metric, self._rows[some]), self._leaves[choice.metric].landmarks
            system = LeafSystem(choice.inner, rows, leaves.sample.leaves, landmarks)
        weights = (self._weight[some], self._left_out[some])
        return relative_error(system, self._Y[some], choice.alpha, *weights, variance=self._variance)

    def _system(self, choice: Choice) -> LeafSystem:
        """Return the matrices of a kernel, which other ridges share."""
        key = choice.metric, choice.family, choice.scale
        with self._lock:
            found = self._held.get(key)
        if found is None:
            leaves = self._leaves[choice.metric]
            found = LeafSystem(choice.inner, leaves.rows, leaves.sample.leaves, leaves.landmarks, hold=True)
            with self._lock:
                self._held[key] = found
                for old in list(self._held)[:-_HELD]:
                    del self._held[old]
        return found

    def _in_metric(self, metric: str, rows: Array) -> Array:
        fit = self._metrics[metric]
        moved: Array = rows @ (fit.transform / fit.unit).astype(rows.dtype)
        return moved

    def _difficulty(self, some: Array) -> float:
        """Return the error of the quick fit on some rows, relative to its error on all rows.

        The leaves of two metrics hold different rows, some of them harder. Errors in this unit can be compared.
        """
        if not self._quick.error > 0:
            return 1.0
        share = self._weight[some] / self._weight[some].sum()
        squares = share @ np.square(self._Y[some] - self._quick.predict(self._rows[some]))
        return max(float(np.mean(squares / self._variance)) / self._quick.error, _LEAST_DIFFICULTY)
