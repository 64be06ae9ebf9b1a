"""Leave-one-out errors of kernels on a few leaves, in a unit that metrics share, and walks along scale and ridge."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mercer._typing import Array
from mercer.checkpoints import kept
from mercer.fitting import HeldTargets, Targets
from mercer.learners.local.choice import Choice
from mercer.learners.local.metrics import MetricFit
from mercer.learners.local.trial_log import TrialLog
from mercer.learners.local.units import error_units
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


def error_of(choice: Choice) -> float:
    """Return the error of a choice."""
    return choice.error


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
        self.found: list[Choice] = []

    def prepare(self, metric: str, queries: Array, leaf_rows: int, n_landmarks: int) -> None:
        """Cut the rows in the space of a metric, and keep the leaves of a few rows that all metrics share."""
        rows = self._in_metric(metric, self._rows)
        sample = LeafSample.around(rows, leaf_rows, queries, np.random.RandomState(self._seed))
        landmarks = rows[np.sort(np.random.RandomState(self._seed).permutation(len(rows))[:n_landmarks])]
        self._leaves[metric] = _MetricLeaves(rows[sample.rows], sample, landmarks, self._difficulty(sample.rows))

    def tried(self, step: str, choice: Choice) -> Choice:
        """Return a choice with its error; what was tried before is not tried again."""
        known = [one for one in self.found if replace(one, error=np.inf) == replace(choice, error=np.inf)]
        if known:
            return known[0]
        start = time.monotonic()
        error = self._error_on(choice.metric, choice)
        found = replace(choice, error=error / self._leaves[choice.metric].difficulty)
        self.found.append(found)
        self._log.note(step, str(choice), found.error, start)
        return found

    def walk(self, step: str, best: Choice, *, scale: float = 1.0, alpha: float = 1.0) -> Choice:
        """Multiply scale or alpha by a factor, or else divide by it, while the error falls."""
        for sign in (1, -1):
            improved = False
            while True:
                new_scale, new_alpha = best.scale * scale**sign, best.alpha * alpha**sign
                inside = _SCALES[0] <= new_scale <= _SCALES[1] and _ALPHAS[0] <= new_alpha <= _ALPHAS[1]
                other = self.tried(step, replace(best, scale=new_scale, alpha=new_alpha)) if inside else best
                if not other.error < best.error:
                    break
                best, improved = other, True
            if improved:
                break
        return best

    def in_one_unit(self, starts: list[Choice]) -> list[Choice]:
        """Return choices whose errors can be compared between metrics, and keep the new unit of each metric.

        The leaves of two metrics hold different rows, some of them harder. The best kernel of each is tried on the
        leaves of both: the geometric mean of the two ratios of errors says how much harder the one leaves are.
        """
        best = min(starts, key=error_of)
        for metric in self._metrics:
            own = min((one for one in starts if one.metric == metric), key=error_of, default=best)
            if metric == best.metric or own.error > _COMPARED * best.error or not best.error > 0:
                continue
            old, first = self._leaves[metric].difficulty, self._leaves[best.metric].difficulty
            of_best = self._error_on(metric, best) / (best.error * first)
            of_own = own.error * old / max(self._error_on(best.metric, own), _TINY)
            new = first * max(of_best * of_own, _TINY) ** 0.5
            self._leaves[metric] = replace(self._leaves[metric], difficulty=new)
            starts, self.found = (
                [replace(one, error=one.error * old / new) if one.metric == metric else one for one in some]
                for some in (starts, self.found)
            )
        return starts

    def judged(self, choice: Choice) -> tuple[Array, Array]:
        """Return the numbers of the rows that judged a choice, and its leave-one-out residuals (n, k)."""
        some = self._leaves[choice.metric].sample.rows
        solution = self._system(choice).solve(
            self._Y[some], choice.alpha, self._weight[some], left_out=self._left_out[some]
        )
        assert solution.loo_residuals is not None  # noqa: S101, for the type checker
        return some, solution.loo_residuals

    def _error_on(self, metric: str, choice: Choice) -> float:
        """Return the error of a choice on the leaves of some metric, its own or another, in no unit."""
        self._log.check_time()
        leaves = self._leaves[metric]
        some = leaves.sample.rows
        system = self._system(choice)
        if metric != choice.metric:
            rows, landmarks = self._in_metric(choice.metric, self._rows[some]), self._leaves[choice.metric].landmarks
            system = LeafSystem(choice.inner, rows, leaves.sample.leaves, landmarks)
        weights = (self._weight[some], self._left_out[some])
        return kept(
            f"leaves of the {metric} metric: {choice}",
            lambda: relative_error(system, self._Y[some], choice.alpha, *weights, variance=self._variance),
        )

    def _system(self, choice: Choice) -> LeafSystem:
        """Return the matrices of a kernel, which other ridges share."""
        key = choice.metric, choice.family, choice.scale
        if key not in self._held:
            for old in list(self._held)[: 1 - _HELD]:
                del self._held[old]
            leaves = self._leaves[choice.metric]
            self._held[key] = LeafSystem(choice.inner, leaves.rows, leaves.sample.leaves, leaves.landmarks, hold=True)
        return self._held[key]

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
