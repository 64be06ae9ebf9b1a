"""Bandwidths from data: scikit-learn's ``"scale"`` and the median heuristic, both with sample weights.

``"auto"`` is the median until a learner with targets has chosen a multiple of it (``mercer.fitting.scale``).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from mercer._typing import Array, Rows, is_sparse
from mercer.validation import canonical_csr, check_real

RULES = ("scale", "median", "auto")
# Rows whose pairs give the median: the standard error from half a million pairs is below 1 %.
_SAMPLE_ROWS = 1000
# The least and, inverted, the greatest square of a scale that is taken from data: beyond them, the inverse overflows.
_LEAST = 1e-300


def check_bandwidth(owner: str, name: str, value: object) -> float | str:
    """Return a bandwidth: a positive float, or the name of the rule that finds it in ``fit``."""
    if isinstance(value, str):
        if value in RULES:
            return value
        raise ValueError(f"{owner}: {name} must be a number > 0, 'scale', 'median' or 'auto', got {value!r}.")
    way_out = f"Or write {name}='scale', 'median' or 'auto' to take it from the data in fit."
    return check_real(owner, name, value, least=0, strict=True, way_out=way_out)


def inverse_square(scale: float) -> float:
    """Return scale^-2, inf or 0 beyond the range of floats, where Python's own power raises."""
    with np.errstate(over="ignore", divide="ignore"):
        return float(np.float64(scale) ** -2.0)


def total_variance(asker: str, X: Rows, sample_weight: ArrayLike | None = None) -> float:
    """Return n_features times the variance of all entries of X, 1 where that is 0 (as scikit-learn's SVC does).

    ``asker`` is the parameter that an error names, such as ``"Gaussian: gamma='scale'"``.
    """
    X, weights = _rows(X), _weights(X, sample_weight)
    share = weights / weights.sum()
    n_features = X.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        if is_sparse(X):
            X = X.astype(np.float64)
            first = (share @ np.asarray(X.sum(axis=1)).ravel()) / n_features
            # The square of x - mean, entry by entry: x^2 - mean^2 would cancel where all entries are far from 0.
            shares = np.repeat(share, np.diff(X.indptr))
            n_zero = n_features - np.diff(X.indptr)
            variance = float(shares @ (X.data - first) ** 2 + share @ n_zero * first**2) / n_features
        else:
            first = share @ X.mean(axis=1, dtype=np.float64)
            variance = float(share @ np.square(np.subtract(X, first, dtype=np.float64)).mean(axis=1))
    return _in_range(asker, n_features * variance if variance > 0 or np.isnan(variance) else _flat(X), X)


def median_distance(
    asker: str, distances: Callable[[Rows, Rows], Array], X: Rows, sample_weight: ArrayLike | None = None
) -> float:
    """Return the weighted median of the non-zero ``distances(X, X)``, over at most 1000 rows; 1 where all are 0.

    Distances of 0 are left out: rows that repeat say nothing about a scale, and where most do the median would be 0.
    The rows are a fixed pseudo-random subset, so that the same data give the same value.
    """
    X, weights = _rows(X), _weights(X, sample_weight)
    if X.shape[0] > _SAMPLE_ROWS:
        chosen = np.random.RandomState(0).choice(X.shape[0], _SAMPLE_ROWS, p=weights / weights.sum())
        X, weights = X[chosen], np.ones(_SAMPLE_ROWS)
    with np.errstate(over="ignore", invalid="ignore"):
        pairs = distances(X, X).ravel()
    kept = ~(pairs <= 0)  # NaN, of squares that overflow, stays
    if (weights == weights[0]).all():
        pairs = pairs[kept]
        if not len(pairs):
            return _in_range(asker, _flat(X), X)
        middle = (len(pairs) - 1) // 2
        return _in_range(asker, float(np.partition(pairs, middle)[middle]), X)
    pair_weights = np.outer(weights, weights).ravel()
    kept &= pair_weights > 0
    if not kept.any():
        return _in_range(asker, _flat(X), X)
    pairs, pair_weights = pairs[kept], pair_weights[kept]
    order = np.argsort(pairs)
    cumulative = np.cumsum(pair_weights[order])
    return _in_range(asker, float(pairs[order][np.searchsorted(cumulative, cumulative[-1] / 2)]), X)


def _flat(X: Rows) -> float:
    """Return the scale of rows that show none: 1 where all are equal, 0 where their squares underflow."""
    values = np.asarray(X.data if is_sparse(X) else X).ravel()
    if values.size < X.shape[0] * X.shape[1]:
        values = np.append(values, 0.0)
    low, high = float(values.min()), float(values.max())
    return 1.0 if low == high or high - low > np.sqrt(_LEAST) else 0.0


def _in_range(asker: str, value: float, X: Rows) -> float:
    """Return a squared scale of X, or say that X is out of the range in which it can be found."""
    if _LEAST <= value <= 1 / _LEAST:
        return value
    entries = np.abs(X.data if is_sparse(X) else X)
    fault = "small" if value < _LEAST else "large"
    raise ValueError(
        f"{asker} cannot be taken from these rows: the entries of X, up to {entries.max():.3g}, are too {fault} for "
        "their squares. Scale X (sklearn.preprocessing.MaxAbsScaler), or give a number."
    )


def _rows(X: Rows) -> Rows:
    """Return rows as they are read here: ``Kernel.resolve`` is public, and takes them unchecked."""
    return canonical_csr(X.tocsr()) if is_sparse(X) else X


def _weights(X: Rows, sample_weight: ArrayLike | None) -> Array:
    if sample_weight is None:
        return np.ones(X.shape[0])
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (X.shape[0],) or not (np.all(weights >= 0) and np.isfinite(weights).all() and weights.any()):
        raise ValueError(
            f"resolve: sample_weight must hold one number >= 0 for each of the {X.shape[0]} rows, finite and not all "
            f"0, got an array of shape {weights.shape}."
        )
    # By a power of 2, which rounds nothing: sums and products of the largest weights would overflow.
    return np.ldexp(weights, -int(np.frexp(weights.max())[1]))
