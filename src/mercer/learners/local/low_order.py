"""The second candidate of tuned estimators: ridge regression on a map of low-order interactions, for noisy tables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from mercer import triangular
from mercer._typing import Array, Rows
from mercer.data import Block, as_blocks
from mercer.features import FourierFeatures
from mercer.fitting import HeldTargets, Passes, Targets
from mercer.kernels import Gaussian, Kernel, Laplacian, ScaledColumns, StationaryKernel
from mercer.kernels.evaluation.bandwidth import median_distance
from mercer.kernels.evaluation.distances import squared_distances
from mercer.learners.local.metrics import UNIT_ROWS, MetricFit, MetricRows, feature_error
from mercer.learners.local.shares import blend
from mercer.learners.local.trial_log import timed
from mercer.learners.local.units import error_units
from mercer.learners.local.walk import Walks, error_of
from mercer.parallel import for_each_block, one_blas_thread, row_blocks
from mercer.state import Member, Reals, Stored, part
from mercer.stats import Moments

# Mean numbers of columns that take part in a feature.
ORDERS = (2.0, 4.0)
# Features at most, and rows per feature at least, of the fit on all rows; features of fits on a sample.
_FEATURES, _ROWS_PER_FEATURE, _LEAST_FEATURES = 512, 4, 64
_SAMPLE_FEATURES = 256
# Rows and features of the model that tells whether one of all rows is worth its time, and the part of the error that a
# mean with it may have.
_JUDGING_ROWS, _JUDGING_FEATURES, _WORTHWHILE = 2**13, 512, 0.998
# What a ridge is multiplied by where the sums of float32 products have no Cholesky factor with it.
_GROWTH = 4.0
# Rows per block.
_BLOCK_ROWS = 4096
# Kernels of single columns by their length scale, with the length scale to begin with, and bounds of length scales.
_FAMILIES: Mapping[str, tuple[Callable[[float], StationaryKernel], float]] = {
    "Gaussian": (lambda length: Gaussian(gamma=0.5 / length**2), 1.0),
    "Laplace": (lambda length: Laplacian(gamma=1 / length), 2.0),
}
_LENGTHS = (1 / 16, 16.0)
# Returns the moments of rows that are not in memory, given those of some prepared rows (X, Y, weight), and of none.
OtherMoments = Callable[[Callable[[Array, Array, Array], Moments], Callable[[], Moments]], Moments]


@dataclass(frozen=True)
class LowOrderChoice:
    """A kernel of low order and a ridge, with its leave-one-out error on a sample."""

    metric: str
    family: str
    order: float
    length: float
    kernel: Kernel
    alpha: float
    error: float

    def __str__(self) -> str:
        where = f"{self.metric} metric, length {self.length:.3g}, alpha {self.alpha:.3g}"
        return f"{self.family}, order {self.order:g}, {where}"


Timed = list[tuple[LowOrderChoice, float]]


def low_order_choices(sample: MetricRows, diagonal: MetricFit) -> Iterator[Timed]:
    """Yield choices with seconds, those that are tried at once together, on a sample of prepared rows.

    All families and orders begin at their first length scales, without a metric, and the best one with a diagonal
    metric too. Then the length scale of the best of each family is halved or doubled while the error falls.
    """
    n_columns = sample.X.shape[1]
    lengths = {"no": _Lengths(sample, "no", np.ones(n_columns))}
    orders = ORDERS[: 1 if n_columns <= ORDERS[0] else None]
    plain = lengths["no"]
    firsts = [plain.at(family, order, length) for family, (_, length) in _FAMILIES.items() for order in orders]
    found = timed(plain.tried, firsts)
    if n_columns > 1:
        best = min((choice for choice, _ in found), key=error_of)
        lengths["diagonal"] = weighted = _Lengths(sample, "diagonal", np.diagonal(diagonal.transform))
        found += timed(weighted.tried, [weighted.at(best.family, best.order, best.length)])
    yield found
    starts = [min((one for one, _ in found if one.family == family), key=error_of) for family in _FAMILIES]
    walks = Walks(starts, lambda choice, way: lengths[choice.metric].neighbour(choice, way))
    while walks.steps:
        yield (found := timed(lambda choice: lengths[choice.metric].tried(choice), walks.steps))
        walks.take([choice for choice, _ in found])


class _Lengths:
    """Choices of length scales of columns times weights, in median distances of as many columns as have a feature."""

    def __init__(self, sample: MetricRows, metric: str, weights: Array):
        self._sample, self._metric, self._weights = sample, metric, weights
        some = slice(None, None, max(1, len(sample.X) // UNIT_ROWS))
        rows = sample.X[some] * weights.astype(sample.X.dtype)
        self._unit = median_distance("low order", squared_distances, rows, sample.weight[some]) ** 0.5

    def at(self, family: str, order: float, length: float) -> LowOrderChoice:
        """Return a choice that was not tried yet."""
        unit = self._unit * min(1.0, order / self._sample.X.shape[1]) ** 0.5
        kernel = ScaledColumns(_FAMILIES[family][0](length * unit), tuple(self._weights.tolist()))
        return LowOrderChoice(self._metric, family, order, length, kernel, np.inf, np.inf)

    def neighbour(self, choice: LowOrderChoice, way: int) -> LowOrderChoice | None:
        """Return the choice of half or twice the length scale, None beyond the bounds."""
        length = choice.length * 2.0**way
        return self.at(choice.family, choice.order, length) if _LENGTHS[0] < length < _LENGTHS[1] else None

    def tried(self, choice: LowOrderChoice) -> LowOrderChoice:
        """Return a choice with its error, and the ridge of this error."""
        sample = self._sample
        features = FourierFeatures(
            choice.kernel, n_components=sample.n_components, order=choice.order, random_state=sample.seed
        )
        error, alpha = feature_error(features.fit(sample.X), sample)
        return replace(choice, alpha=alpha, error=error)


@part("LowOrderRidge")
@dataclass(frozen=True)
class LowOrderRidge:
    """Ridge regression on Fourier features of low order.

    Attributes
    ----------
    feature_map : FourierFeatures
    coef : ndarray of shape (D, k)
    intercept : ndarray of shape (k,)

    Notes
    -----
    Time O(n D^2) and memory O(D^2) to fit, in two passes over the rows; O(D (d + k)) per row to predict.
    """

    _stored = Stored(
        feature_map=Member(FourierFeatures, {"n_features_in_": "d", "n_features_out_": "D"}),
        coef=Reals(("D", "k")),
        intercept=Reals(("k",)),
    )

    feature_map: FourierFeatures
    coef: Array
    intercept: Array

    @property
    def n_columns(self) -> int:
        """Number of columns of the rows."""
        return int(self.feature_map.n_features_in_)

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.intercept)

    @classmethod
    def of(
        cls,
        choice: LowOrderChoice,
        rows: Array,
        held: HeldTargets[Targets],
        seed: int,
        others: OtherMoments | None = None,
        *,
        n_components: int | None = None,
    ) -> tuple["LowOrderRidge", Array]:
        """Fit prepared rows and ``others``, which are read in a pass; return the model and its residuals (n, k).

        The residuals are the leave-one-out residuals of ``rows`` in the fit of all rows. Without u_i of its weight, row
        i has the residual :math:`r_i / (1 - u_i (1 / W + z_i^T A^{-1} z_i))`, with centred features z and A their Gram
        matrix plus the ridge. By default there is a feature for four rows, up to 512.
        """
        if n_components is None:
            n_components = int(np.clip(len(rows) / _ROWS_PER_FEATURE, _LEAST_FEATURES, _FEATURES)) // 2 * 2
        features = FourierFeatures(choice.kernel, n_components=n_components, order=choice.order, random_state=seed)
        features.fit(rows[:1])
        moments = _moments(features, rows, held)
        if others is not None:
            empty = partial(Moments.of, features.n_features_out_, held.Y.shape[1])
            moments.merge(others(partial(_moments_of, features), empty))
        gram, cross, _ = moments.centred()
        with one_blas_thread():
            root = _root(gram, choice.alpha)
            coef = solve_triangular(root, solve_triangular(root, cross, lower=True), lower=True, trans="T")
        model = cls(features, coef, moments.target_mean - moments.feature_mean @ coef)
        return model, model._residuals(rows, held, moments, root)

    def scores(self, rows: Array) -> Array:
        """Return the scores (n, k) of prepared rows, float64."""
        out = np.empty((len(rows), self.n_targets))
        coef = self.coef.astype(rows.dtype)

        def work(some: slice) -> None:
            out[some] = self.feature_map.times(rows[some], coef)

        for_each_block(work, row_blocks(len(rows), _BLOCK_ROWS))
        return out + self.intercept

    def _residuals(self, rows: Array, held: HeldTargets[Targets], moments: Moments, root: Array) -> Array:
        inverse = triangular.inverse(np.asfortranarray(root)).astype(rows.dtype, order="C")
        mean, coef = moments.feature_mean.astype(rows.dtype), self.coef.astype(rows.dtype)
        residuals = np.empty_like(held.Y)

        def work(some: slice) -> None:
            Z = self.feature_map.transform(rows[some])
            Z -= mean
            fitted = moments.target_mean + Z @ coef
            P = triangular.product(inverse, Z.T)
            leverage = 1 / moments.weight + np.einsum("ij,ij->j", P, P, dtype=np.float64)
            remains = np.maximum(1 - held.left_out[some] * leverage, np.finfo(rows.dtype).eps)
            residuals[some] = (held.Y[some] - fitted) / remains[:, None]

        for_each_block(work, row_blocks(len(rows), _BLOCK_ROWS))
        return residuals


def _root(gram: Array, alpha: float) -> Array:
    """Return the Cholesky factor of a Gram matrix plus a ridge; a larger ridge where rounding leaves it without one."""
    while True:
        shifted = gram.copy()
        shifted[np.diag_indices_from(gram)] += alpha
        try:
            return np.asarray(cholesky(shifted, lower=True, overwrite_a=True, check_finite=False))
        except np.linalg.LinAlgError:
            alpha *= _GROWTH


def sample_features(n_rows: float) -> int:
    """Return the number of features of fits on a sample of rows."""
    return int(np.clip(n_rows / _ROWS_PER_FEATURE, _LEAST_FEATURES, _SAMPLE_FEATURES)) // 2 * 2


def _moments(features: FourierFeatures, rows: Array, held: HeldTargets[Targets]) -> Moments:
    blocks = as_blocks(rows, held.Y, sample_weight=held.weight).recut(_BLOCK_ROWS, "low order", trusted=True)
    total = Moments.of(features.n_features_out_, held.Y.shape[1])

    def work(block: Block) -> Moments:
        assert block.y is not None  # noqa: S101, for the type checker
        return _moments_of(features, block.X, block.y, block.sample_weight)

    return Passes("low order").reduce("moments", work, blocks, total)


def _moments_of(features: FourierFeatures, rows: Rows, Y: Array, weight: Array | None) -> Moments:
    return Moments.of(features.n_features_out_, Y.shape[1]).update(features.transform(rows), Y, weight)


def is_worth_all_rows(choice: LowOrderChoice, rows: Array, held: HeldTargets[Targets], rest: Array, seed: int) -> bool:
    """Tell whether a model of low order of a sample already lowers ``rest``, the residuals of the other models.

    With the rows of a large table it costs as much as the leaves.
    """
    if len(rows) <= 2 * _JUDGING_ROWS:
        return True
    some = np.sort(np.random.RandomState(seed).permutation(len(rows))[:_JUDGING_ROWS])
    sample = held.some(some)
    _, residuals = LowOrderRidge.of(choice, rows[some], sample, seed, n_components=_JUDGING_FEATURES)
    variance = error_units(held)
    share = blend(rest[some], residuals, sample.weight, variance)
    mean = (1 - share) * rest[some] + share * residuals
    before, after = (float(np.sum(sample.weight @ part**2 / variance)) for part in (rest[some], mean))
    return share > 0 and after <= _WORTHWHILE * before
