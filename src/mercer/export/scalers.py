"""Transformers of numbers, of scikit-learn: scalers, powers, quantiles, bins and products."""

from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.feature_selection import VarianceThreshold
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from mercer._typing import Array
from mercer.export.columns import Columns
from mercer.export.graph import Tensor
from mercer.export.interpolation import interpolated
from mercer.export.registry import writes_step
from mercer.storage.foreign import stored_value

# Normal quantiles: probabilities nearer to 0 or 1 than this are moved here, as scikit-learn does.
_LEAST_CHANCE = 1e-7
# Where the middle and the tails of the normal quantiles meet, and the degree of the polynomial of each part.
_TAIL, _DEGREE = 0.075, 15


@writes_step(StandardScaler)
def standard(step: StandardScaler, X: Columns) -> Columns:
    """Write (x - mean) / scale."""
    return _scaled(X, step.mean_ if step.with_mean else None, step.scale_ if step.with_std else None)


@writes_step(RobustScaler)
def robust(step: RobustScaler, X: Columns) -> Columns:
    """Write (x - centre) / scale."""
    return _scaled(X, step.center_ if step.with_centering else None, step.scale_ if step.with_scaling else None)


@writes_step(MaxAbsScaler)
def max_abs(step: MaxAbsScaler, X: Columns) -> Columns:
    """Write x / scale."""
    return _scaled(X, None, step.scale_)


def _scaled(X: Columns, centre: Array | None, scale: Array | None) -> Columns:
    def write(x: Tensor) -> Tensor:
        x = x if centre is None else x - centre
        return x if scale is None else x / scale

    return X.mapped(write)


@writes_step(MinMaxScaler)
def min_max(step: MinMaxScaler, X: Columns) -> Columns:
    """Write scale x + min, clipped where asked for."""
    low, high = step.feature_range
    scaled = X.mapped(lambda x: x * step.scale_ + step.min_)
    return scaled.mapped(lambda x: x.at_least(low).at_most(high)) if step.clip else scaled


@writes_step(Normalizer)
def normalizer(step: Normalizer, X: Columns) -> Columns:
    """Write rows divided by their norm; rows of zeros stay."""

    def write(x: Tensor) -> Tensor:
        sizes = {
            "l1": lambda: x.op("Abs").sum(1),
            "l2": lambda: x.square().sum(1).op("Sqrt"),
            "max": lambda: x.op("Abs").max(1),
        }[step.norm]()
        return x / (sizes > 0.0).where(sizes, 1.0)

    return X.mapped(write)


@writes_step(Binarizer)
def binarizer(step: Binarizer, X: Columns) -> Columns:
    """Write 1 above the threshold, 0 elsewhere."""
    return X.mapped(lambda x: (x > float(step.threshold)).cast(x.dtype))


@writes_step(VarianceThreshold)
def variance_threshold(step: VarianceThreshold, X: Columns) -> Columns:
    """Write the columns that vary."""
    return X.take(np.flatnonzero(step.get_support()).tolist())


@writes_step(PolynomialFeatures)
def polynomial(step: PolynomialFeatures, X: Columns) -> Columns:
    """Write products of columns: the factors of all products at once, padded by ones."""
    powers = step.powers_
    n_factors = max(1, int(powers.sum(axis=1).max(initial=0)))
    factors = np.full((n_factors, len(powers)), powers.shape[1])  # the column of ones
    for k, row in enumerate(powers):
        own = np.repeat(np.arange(len(row)), row)
        factors[: len(own), k] = own

    def write(x: Tensor) -> Tensor:
        ones = x.columns(0, 1) * 0.0 + 1.0
        wide = x.graph.concatenate([x, ones])
        product = wide.take(factors[0], axis=1)
        for columns in factors[1:]:
            product = product * wide.take(columns, axis=1)
        return product

    return X.mapped(write, len(powers))


@writes_step(PowerTransformer)
def power(step: PowerTransformer, X: Columns) -> Columns:
    """Write powers of the columns, computed in float64, then standardised where asked for."""
    yeo_johnson = step.method == "yeo-johnson"
    write = _yeo_johnson if yeo_johnson else _box_cox
    lambdas = np.asarray(step.lambdas_)
    scaler = stored_value(step, "scaler") if step.standardize else None

    def powers(x: Tensor) -> Tensor:
        wide = x.cast(np.float64)
        found = x.graph.concatenate([write(wide.columns(j, j + 1), lam) for j, lam in enumerate(lambdas.tolist())])
        if scaler is not None:
            found = (found - scaler.mean_) / scaler.scale_
        return found.cast(x.dtype)

    return X.mapped(powers)


def _box_cox(x: Tensor, lam: float) -> Tensor:
    if lam == 0:
        return x.op("Log")
    return ((x.op("Log") * lam).op("Exp") - 1.0) / lam


def _yeo_johnson(x: Tensor, lam: float) -> Tensor:
    """Write Box-Cox of 1 + x above 0, and minus Box-Cox of 1 - x with 2 - lambda below."""
    above, below = x.at_least(0.0) + 1.0, x.at_most(0.0) * -1.0 + 1.0
    nearly = float(np.finfo(np.float64).eps)  # as near to 0 or 2 scikit-learn takes logarithms
    upper = _box_cox(above, 0.0 if abs(lam) < nearly else lam)
    lower = _box_cox(below, 0.0 if abs(lam - 2) < nearly else 2 - lam)
    return upper - lower


@writes_step(QuantileTransformer)
def quantiles(step: QuantileTransformer, X: Columns) -> Columns:
    """Write the place of each number among the quantiles, in float64; as a normal quantile where asked for."""
    is_normal = step.output_distribution == "normal"

    def write(x: Tensor) -> Tensor:
        wide = x.cast(np.float64)
        parts = [_place(wide.columns(j, j + 1), knots, step.references_) for j, knots in enumerate(step.quantiles_.T)]
        chances = x.graph.concatenate(parts)
        return (_normal_quantile(chances) if is_normal else chances).cast(x.dtype)

    return X.mapped(write)


def _place(x: Tensor, knots: Array, references: Array) -> Tensor:
    """Write the mean of the places from the left and from the right, which differ where quantiles are equal."""
    left = interpolated(x, knots, references)
    right = interpolated(-x, -knots[::-1], -references[::-1])
    middle = (left - right) * 0.5
    inner = (x > knots[0]).where(middle, 0.0)
    return x.op("GreaterOrEqual", np.asarray(knots[-1]), dtype=bool).where(1.0, inner)


def _normal_quantile(chance: Tensor) -> Tensor:
    """Write the standard normal quantile: polynomials in t = p - 1/2 in the middle and in sqrt(-2 log p) in the tails.

    Both interpolate ``scipy.special.ndtri`` at Chebyshev points, with an error below 1e-7.
    """
    t = chance - 0.5
    ends = (0.0, (0.5 - _TAIL) ** 2)
    middle = t * _polynomial(t.square().at_most(ends[1]), ends, _slope)
    small = (chance.at_most(1.0 - chance)).at_least(_LEAST_CHANCE).at_most(_TAIL)
    ends = (float(np.sqrt(-2 * np.log(_TAIL))), float(np.sqrt(-2 * np.log(_LEAST_CHANCE))))
    tail = _polynomial((small.op("Log") * -2.0).op("Sqrt"), ends, lambda s: -ndtri(np.exp(-(s**2) / 2)))
    outer = (t > 0.0).where(tail, -tail)
    return (t.op("Abs") > 0.5 - _TAIL).where(outer, middle)


def _slope(square: Array) -> Array:
    """Return ndtri(1/2 + t) / t as a function of t^2."""
    t = np.sqrt(square)
    near = t < 1e-4
    safe = np.where(near, 1.0, t)
    slope: Array = np.where(near, np.sqrt(2 * np.pi), ndtri(0.5 + np.where(near, 0.1, t)) / safe)
    return slope


def _polynomial(x: Tensor, ends: tuple[float, float], function: Any) -> Tensor:
    """Write the polynomial that meets a function at Chebyshev points between two ends, by Clenshaw's recurrence."""
    fit = np.polynomial.Chebyshev.interpolate(function, _DEGREE, domain=list(ends))
    u = (x - (ends[0] + ends[1]) / 2) * (2 / (ends[1] - ends[0]))
    zero = u * 0.0
    first, second = zero, zero
    for value in fit.coef[:0:-1].tolist():
        first, second = u * first * 2.0 - second + value, first
    return u * first - second + float(fit.coef[0])


@writes_step(KBinsDiscretizer)
def bins(step: KBinsDiscretizer, X: Columns) -> Columns:
    """Write the number of the bin of each number, compared in float64; or a column for each bin."""
    one_hot = step.encode != "ordinal"

    def write(x: Tensor) -> Tensor:
        wide, parts = x.cast(np.float64), []
        for j, edges in enumerate(step.bin_edges_):
            column = wide.columns(j, j + 1)
            place = column * 0.0
            if len(edges) > 2:
                place = column.op("GreaterOrEqual", edges[1:-1], dtype=bool).cast(np.float64).sum(1)
            parts.append(place.equals(np.arange(len(edges) - 1.0)).cast(x.dtype) if one_hot else place.cast(x.dtype))
        return x.graph.concatenate(parts)

    return X.mapped(write, int(step.n_bins_.sum()) if one_hot else None)
