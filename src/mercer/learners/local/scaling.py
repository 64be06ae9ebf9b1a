"""Columns of numbers brought to one scale, so that no row lies far outside the others."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from mercer._typing import Array
from mercer.state import Many, OneOf, Reals, Sizes, Stored, part, require

METHODS = ("rank", "clip", "common")
# Rows and knots that the ranks of a column are taken from, and the normal score at which they end.
_RANK_ROWS, _KNOTS, _LARGEST_SCORE = 20_000, 1000, 3.0
# Standard deviations beyond which "clip" bends a column.
BEND = 4.0
# Standard deviations at which values end: squares of float32 must not overflow.
FAR = 1e15


@part("ColumnScaling")
@dataclass(frozen=True)
class ColumnScaling:
    r"""One of three ways to scale columns.

    "rank": the normal score of the rank of a value among the training rows, between -3 and 3. "clip": standardised,
    then bent, :math:`t / \sqrt{1 + (t / 4)^2}`, so that no value is beyond 4. Both leave columns of two values at 0 and
    1, and give others variance 1. "common": centred, and all columns divided by one number, for pixels and counts.

    Attributes
    ----------
    method : {"rank", "clip", "common"}
    knots, scores : list of ndarray
        For each column, a piecewise linear function. Values beyond its ends are those of the ends with "rank".
    centre, scale : ndarray
        For each column without knots, what is subtracted first and what then divides.
    spread : ndarray
        The standard deviation of bent columns, by which they are divided.
    """

    _stored = Stored(
        method=OneOf(METHODS),
        knots=Many(Reals((None,)), "d"),
        scores=Many(Reals((None,)), "d"),
        centre=Reals(("d",)),
        scale=Reals(("d",), positive=True),
        spread=Reals(("d",), positive=True),
    )

    method: str
    knots: list[Array]
    scores: list[Array]
    centre: Array
    scale: Array
    spread: Array

    @classmethod
    def of(
        cls, X: Array, method: str, rng: np.random.RandomState, sample_weight: Array | None = None
    ) -> "ColumnScaling":
        """Learn from finite rows (n, d); a row of weight 2 counts as two."""
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        some = np.arange(len(X)) if len(X) <= _RANK_ROWS else rng.permutation(len(X))[:_RANK_ROWS]
        few = (X[some], weight[some])
        columns = [_column(X[:, j], weight, few[0][:, j], few[1], method) for j in range(X.shape[1])]
        knots, scores, centres, scales = (list(values) for values in zip(*columns, strict=True))
        centre, scale, spread = np.array(centres), np.array(scales), np.ones(len(centres))
        if method == "common":
            with np.errstate(under="ignore"):
                scale[:] = scale.max() * np.sqrt(np.mean((scale / scale.max()) ** 2))
        if method == "clip":
            for j in (j for j, values in enumerate(knots) if not len(values)):
                spread[j] = _moments(_bent((X[:, j] - centre[j]) / scale[j]), weight)[1] or 1.0
        return cls(method, knots, scores, centre, scale, spread)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.knots)

    def transform(self, X: Array, dtype: np.dtype[np.floating]) -> Array:
        """Return scaled columns of X, which may hold values beyond those of ``of``."""
        out = np.empty(X.shape, dtype=dtype)
        for j, (knots, scores) in enumerate(zip(self.knots, self.scores, strict=True)):
            if len(knots):
                out[:, j] = np.interp(X[:, j], knots, scores)
                continue
            with np.errstate(over="ignore"):
                t = np.clip((X[:, j] - self.centre[j]) / self.scale[j], -FAR, FAR)
            out[:, j] = t if self.method == "common" else _bent(t) / self.spread[j]
        return out

    def _check_stored(self, sizes: Sizes) -> None:
        for knots, scores in zip(self.knots, self.scores, strict=True):
            require(len(knots) == len(scores), "knots and scores must be as many")
            require(np.all(np.diff(knots) > 0), "knots must ascend")


def _column(x: Array, weight: Array, few: Array, few_weight: Array, method: str) -> tuple[Array, Array, float, float]:
    """Return knots and scores, or a centre and a scale without knots."""
    none = np.empty(0)
    size = float(np.abs(x).max()) or 1.0
    mean, deviation = _moments(x / size, weight)  # squares of the largest numbers would overflow
    centre, scale = mean * size, deviation * size or 1.0
    if method == "common":
        return none, none, centre, scale
    values = _few_values(x)
    if values is not None:
        return values, np.arange(len(values), dtype=np.float64), 0.0, 1.0
    if method == "rank":
        return (*_ranks(few, few_weight), 0.0, 1.0)
    return none, none, centre, scale


def _few_values(x: Array) -> Array | None:
    """Return the values of a column of one or two, None where there are more."""
    low, high = float(x.min()), float(x.max())
    if np.all((x == low) | (x == high)):
        return np.array([low]) if low == high else np.array([low, high])
    return None


def _ranks(x: Array, weight: Array) -> tuple[Array, Array]:
    """Return knots and the normal scores of their mean ranks, of variance 1 on these rows."""
    values, group = np.unique(x, return_inverse=True)
    counts = np.bincount(group, weights=weight)
    ranks = (np.cumsum(counts) - counts / 2) / weight.sum()
    if len(values) > _KNOTS:
        places = np.unique(np.searchsorted(ranks, np.linspace(0, 1, _KNOTS)).clip(0, len(values) - 1))
        values, ranks = values[places], ranks[places]
    scores = np.clip(ndtri(ranks), -_LARGEST_SCORE, _LARGEST_SCORE)
    mean, deviation = _moments(np.interp(x, values, scores), weight)
    return values, (scores - mean) / (deviation or 1.0)


def _moments(x: Array, weight: Array) -> tuple[float, float]:
    """Return the weighted mean and standard deviation."""
    share = weight / weight.sum()
    mean = float(share @ x)
    return mean, float(np.sqrt(share @ (x - mean) ** 2))


def weighted_median(x: Array, weight: Array) -> float:
    """Return the median of values that count as often as their weight, the mean of the two in the middle.

    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    2.0
    """
    order = np.argsort(x)
    reached = np.cumsum(weight[order])
    half = reached[-1] / 2
    low, high = (np.searchsorted(reached, half, side=side) for side in ("left", "right"))
    return float(x[order[low]] / 2 + x[order[min(high, len(x) - 1)]] / 2)


def _bent(t: Array) -> Array:
    return np.asarray(t / np.hypot(1.0, t / BEND))
