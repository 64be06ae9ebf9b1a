"""Metrics learned from gradients: directions in which the target does not change are shortened."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mercer._typing import Array
from mercer.features import FeatureMap, OrthogonalFeatures
from mercer.kernels import Gaussian
from mercer.kernels.evaluation.bandwidth import median_distance
from mercer.kernels.evaluation.distances import squared_distances
from mercer.learners.local.walk import error_of
from mercer.parallel import on_threads, one_blas_thread
from mercer.solvers import ridge_path
from mercer.solvers.local.gradients import gradient_outer_product
from mercer.solvers.ridge.ridge_path import RidgePath

# Ridges that are tried in every fit on features, in units of k(x, x).
_ALPHAS = np.logspace(-5, 2, 15)
# Length scales of the first fit, in median distances; it ends at the first that is worse than the one before.
_LENGTHS = (1.0, 0.5, 0.25)
# A round tries the last length scale and these multiples of it; the last one where the others are no better.
_NARROWER, _WIDER = 0.6, 1.6
# A metric is improved further while its error is below this multiple of the best so far.
_BETTER = 0.99
# Rows whose pairs give the unit of length, at least: multiples of the unit are tried, so that it need not be precise.
UNIT_ROWS = 400
# What is added to the eigenvalues of a metric, relative to the largest: no direction vanishes.
_FLOOR = 1e-8


@dataclass(frozen=True)
class MetricFit:
    """A metric, and the ridge regression on Fourier features that judged it.

    Attributes
    ----------
    transform : ndarray of shape (d, d)
        T: rows times T have the metric.
    length : float
        The length scale of the Gaussian kernel, in median distances of the transformed rows.
    unit : float
        The median distance of the transformed rows.
    error : float
        The leave-one-out error in units of the variance of y, averaged over the targets.
    alpha : float
        The ridge of that error.
    gradients : ndarray of shape (d, d)
        The average gradient outer product of the fit.
    features, coef, intercept
        The features of transformed rows, and the linear function of these.
    """

    transform: Array
    length: float
    unit: float
    error: float
    alpha: float
    gradients: Array
    features: OrthogonalFeatures
    coef: Array
    intercept: Array

    def predict(self, X: Array) -> Array:
        """Return the predictions (n, k) for prepared rows, float64."""
        Z = self.features.transform(X @ self.transform.astype(X.dtype))
        return np.asarray(Z @ self.coef.astype(Z.dtype) + self.intercept, dtype=np.float64)


@dataclass(frozen=True)
class MetricRows:
    """Some prepared rows with targets (n, k), weights and what leaving a row out removes; features and their seed.

    Every ``judged``-th row is left out in turn, and judges the fit: fewer than all say as much of a few ridges.
    """

    X: Array
    Y: Array
    weight: Array
    left_out: Array
    n_components: int
    seed: int
    judged: int = 1


def first_fit(rows: MetricRows) -> MetricFit:
    """Fit without a metric, at the best of a few length scales."""
    return first_fits([rows])[0]


def first_fits(samples: Sequence[MetricRows]) -> list[MetricFit]:
    """Fit several samples without a metric, each at the best of a few length scales, side by side."""
    trials = on_threads(lambda rows: MetricTrials(rows, np.eye(rows.X.shape[1])), samples)
    tried = _fitted([(one, _LENGTHS[:2]) for one in trials])
    for length in _LENGTHS[2:]:
        # A sample ends at the first length scale that is worse than the one before.
        lengths = [[length] if fits[-1].error < fits[-2].error else [] for fits in tried]
        more = _fitted(list(zip(trials, lengths, strict=True)))
        tried = [[*fits, *(new or fits[-1:])] for fits, new in zip(tried, more, strict=True)]
    return [min(fits, key=error_of) for fits in tried]


def learned_metrics(
    first: MetricFit, rows: MetricRows, more: MetricRows | None = None, *, full: Sequence[bool], n_rounds: int = 3
) -> Iterator[list[MetricFit | None]]:
    """Yield the fits of each round: the metric of a round is the root of the gradients of the round before.

    Parameters
    ----------
    first : MetricFit
        The fit without a metric.
    rows : MetricRows
        The rows whose errors choose length scales.
    more : MetricRows, optional
        More rows, or features, for the fits that give gradients: one per round.
    full : sequence of bool
        The metrics to learn: whether directions are rotated, or columns scaled only. All are learned side by side; the
        fit of one that has ended is None.
    """
    best = dict.fromkeys(range(len(full)), first)
    last = dict(best)
    for _ in range(n_rounds):
        found = _next_round({which: (full[which], fit) for which, fit in last.items()}, rows, more)
        yield [found.get(which) for which in range(len(full))]
        last = {which: fit for which, fit in found.items() if fit.error < _BETTER * best[which].error}
        if not last:
            return
        best |= last


def _next_round(
    metrics: Mapping[int, tuple[bool, MetricFit]], rows: MetricRows, more: MetricRows | None
) -> dict[int, MetricFit]:
    """Return the next fit of each metric, given whether it is full, and its last fit."""
    before = [fit for _, fit in metrics.values()]
    transforms = [_root(fit.gradients, full=full) for full, fit in metrics.values()]
    trials = on_threads(lambda transform: MetricTrials(rows, transform), transforms)
    lengths = [[fit.length, _NARROWER * fit.length] for fit in before]
    tried = _fitted(list(zip(trials, lengths, strict=True)))
    wider = [
        [_WIDER * fit.length] if same.error <= narrower.error else []
        for fit, (same, narrower) in zip(before, tried, strict=True)
    ]
    tried = [fits + others for fits, others in zip(tried, _fitted(list(zip(trials, wider, strict=True))), strict=True)]
    best = [min(fits, key=error_of) for fits in tried]
    if more is not None:
        best = on_threads(lambda fit: MetricTrials(more, fit.transform).fit(fit.length), best)
    return dict(zip(metrics, best, strict=True))


def _fitted(wanted: Sequence[tuple["MetricTrials", Sequence[float]]]) -> list[list[MetricFit]]:
    """Return the fits of trials at some length scales each, all side by side."""
    tasks = [(trials, length) for trials, lengths in wanted for length in lengths]
    found = iter(on_threads(lambda task: task[0].fit(task[1]), tasks))
    return [[next(found) for _ in lengths] for _, lengths in wanted]


class MetricTrials:
    """Fits of rows times one transform, at several length scales: they share the rows and their median distance."""

    def __init__(self, sample: MetricRows, transform: Array):
        self._sample, self._transform = sample, transform
        self._rows = sample.X @ transform.astype(sample.X.dtype)
        some = slice(None, None, max(1, len(self._rows) // UNIT_ROWS))
        self._unit = median_distance("metric", squared_distances, self._rows[some], sample.weight[some]) ** 0.5

    def fit(self, length: float) -> MetricFit:
        """Fit a ridge regression on Fourier features, with the best of a few ridges.

        Time O(n D^2 + D^3) for D features, and O(n D) per ridge and target.
        """
        transform, unit = self._transform, self._unit
        kernel = Gaussian(gamma=0.5 / (length * unit) ** 2)
        params = {"n_components": self._sample.n_components, "random_state": self._sample.seed}
        features = OrthogonalFeatures(kernel, structured=False, **params).fit(self._rows)
        fit = _fit(features.transform(self._rows), self._sample)
        coef = fit.path.coef(fit.alpha)
        gradients = gradient_outer_product(features.frequencies_, coef, fit.uncentred)
        gradients = transform @ gradients @ transform.T
        linear = features, coef, fit.mean_y - fit.mean_z @ coef
        return MetricFit(transform, length, unit, fit.error, fit.alpha, (gradients + gradients.T) / 2, *linear)


def feature_error(features: FeatureMap, sample: MetricRows) -> tuple[float, float]:
    """Return the least leave-one-out error of a fitted map on a sample, in units of the variance, and its ridge."""
    fit = _fit(features.transform(sample.X), sample)
    return fit.error, fit.alpha


class _Fit(NamedTuple):
    """The least leave-one-out error, its ridge, the path of ridges, the means, and the mean of z z'."""

    error: float
    alpha: float
    path: RidgePath
    mean_z: Array
    mean_y: Array
    uncentred: Array


def _fit(Z: Array, sample: MetricRows) -> _Fit:
    """Fit a ridge regression on features, which are overwritten."""
    Y, weight = sample.Y, sample.weight
    total = float(weight.sum())
    share = weight / total
    mean_z, mean_y = share.astype(Z.dtype) @ Z, share @ Y  # in float64, Z would be copied
    Z -= mean_z
    weighted = (weight[:, None] * Z).astype(Z.dtype) if np.any(weight != 1) else Z
    with one_blas_thread():  # two threads that share busy cores take longer, and round differently
        gram, cross = weighted.T @ Z, weighted.T @ (Y - mean_y).astype(Z.dtype)
        path = ridge_path(gram.astype(np.float64), cross.astype(np.float64))
        some = slice(None, None, sample.judged)
        centred, count = Y[some] - mean_y, weight[some]
        errors = path.leave_one_out(Z[some], centred, _ALPHAS, total, count, sample.left_out[some])
    spread = float(np.sum(count @ centred**2))
    best = int(np.argmin(errors))
    uncentred = gram / total + np.outer(mean_z, mean_z)
    return _Fit(float(errors[best]) / (spread or 1.0), float(_ALPHAS[best]), path, mean_z, mean_y, uncentred)


def _root(gradients: Array, *, full: bool) -> Array:
    """Return the root of a matrix of gradients, scaled to the largest eigenvalue 1, or that of its diagonal."""
    if not full:
        diagonal = np.maximum(np.diagonal(gradients), 0.0)
        largest = diagonal.max()
        return np.diag(np.sqrt(diagonal / largest + _FLOOR)) if largest > 0 else np.eye(len(gradients))
    values, vectors = np.linalg.eigh(gradients)
    if values[-1] <= 0:
        return np.eye(len(gradients))
    roots = np.sqrt(np.maximum(values, 0.0) / values[-1] + _FLOOR)
    return np.asarray((vectors * roots) @ vectors.T)
