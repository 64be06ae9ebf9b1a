"""Spectral and grid distributions of kernel expressions: the algebra of shift-invariant kernels carried over to draws.

A product adds independent frequencies, a scaled column scales its frequencies, and columns left out have frequency 0.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from mercer._typing import Array
from mercer.kernels.base import Kernel, Product
from mercer.kernels.stationary import StationaryKernel
from mercer.kernels.transforms import Columns, ScaledColumns


def is_shift_invariant(kernel: Kernel) -> bool:
    """Return whether ``frequencies`` can draw for the kernel."""
    if isinstance(kernel, Product):
        return all(is_shift_invariant(term) for term in kernel.terms)
    if isinstance(kernel, ScaledColumns | Columns):
        return is_shift_invariant(kernel.kernel)
    return isinstance(kernel, StationaryKernel)


def frequencies(kernel: Kernel, rng: np.random.RandomState, n_frequencies: int, n_features: int) -> Array:
    """Draw frequencies of a shift-invariant kernel expression, one a column, shape (n_features, n_frequencies)."""
    if isinstance(kernel, Product):
        return sum_of(frequencies(term, rng, n_frequencies, n_features) for term in kernel.terms)
    if isinstance(kernel, ScaledColumns | Columns):
        inner = frequencies(kernel.kernel, rng, n_frequencies, _inner_width(kernel, n_features))
        return _pulled_back(kernel, inner, n_features)
    return _leaf(kernel).frequencies(rng, n_frequencies, n_features)


def n_uniforms(kernel: Kernel, n_features: int) -> int:
    """Return how many uniform numbers make one frequency of the expression."""
    if isinstance(kernel, Product):
        return sum(n_uniforms(term, n_features) for term in kernel.terms)
    if isinstance(kernel, ScaledColumns | Columns):
        return n_uniforms(kernel.kernel, _inner_width(kernel, n_features))
    return _leaf(kernel).n_uniforms(n_features)


def frequencies_at(kernel: Kernel, points: Array, n_features: int) -> Array:
    """Return the frequencies that points of the unit cube stand for, one a column."""
    if isinstance(kernel, Product):
        ends = np.cumsum([n_uniforms(term, n_features) for term in kernel.terms])
        parts = np.split(points, ends[:-1], axis=1)
        return sum_of(frequencies_at(*pair, n_features) for pair in zip(kernel.terms, parts, strict=True))
    if isinstance(kernel, ScaledColumns | Columns):
        inner = frequencies_at(kernel.kernel, points, _inner_width(kernel, n_features))
        return _pulled_back(kernel, inner, n_features)
    return _leaf(kernel).frequencies_at(points)


def column_variances(kernel: Kernel, n_features: int) -> Array:
    """Return the mean square of each column's frequency, inf where it does not exist."""
    if isinstance(kernel, Product):
        return sum_of(column_variances(term, n_features) for term in kernel.terms)
    if isinstance(kernel, ScaledColumns | Columns):
        inner = column_variances(kernel.kernel, _inner_width(kernel, n_features))
        return np.square(_pulled_back(kernel, np.sqrt(inner)[:, np.newaxis], n_features))[:, 0]
    return np.full(n_features, _leaf(kernel).frequency_variance)


def reaches(kernel: Kernel, n_features: int, level: float) -> Array:
    """Return how far apart two rows must be in each column for their kernel to be below ``level``, whatever the others.

    Kernels here are 1 at distance 0 and fall with the distance in each column; inf for a column that is not used.
    """
    if isinstance(kernel, Product):
        return np.asarray(np.minimum.reduce([reaches(term, n_features, level) for term in kernel.terms]))
    if isinstance(kernel, ScaledColumns | Columns):
        return pulled_back_reaches(kernel, reaches(kernel.kernel, _inner_width(kernel, n_features), level), n_features)
    return np.full(n_features, _reach(_leaf(kernel), level))


def pulled_back_reaches(transform: ScaledColumns | Columns, inner: Array, n_features: int) -> Array:
    """Return the reaches in all columns of those in the transformed ones; inf for columns that are left out."""
    with np.errstate(divide="ignore"):
        return 1 / np.abs(_pulled_back(transform, 1 / inner[:, np.newaxis], n_features)[:, 0])


def _reach(kernel: StationaryKernel, level: float) -> float:
    """Return the distance in one column at which the kernel is ``level``, by bisection of its logarithm."""

    def excess(log_distance: float) -> float:
        return float(kernel.evaluate(np.zeros((1, 1)), np.exp([[log_distance]]))[0, 0]) - level

    low, high = np.log([np.finfo(float).tiny, np.finfo(float).max]) / 2  # squares of distances are finite
    with np.errstate(over="ignore"):
        return float(np.exp(brentq(excess, low, high))) if excess(high) < 0 < excess(low) else np.inf


def sum_of(parts: Any) -> Array:
    """Return the sum of arrays, as an array."""
    return np.asarray(np.add.reduce(list(parts)))


def _leaf(kernel: Kernel) -> StationaryKernel:
    if not isinstance(kernel, StationaryKernel):
        raise ValueError(f"{kernel!r} is not shift-invariant, so it has no distribution of frequencies or grids.")
    return kernel


def _inner_width(kernel: ScaledColumns | Columns, n_features: int) -> int:
    return int(kernel.apply(np.empty((0, n_features))).shape[1])


def _pulled_back(kernel: ScaledColumns | Columns, inner: Array, n_features: int) -> Array:
    """Return the frequencies on all columns of those on the transformed ones."""
    if isinstance(kernel, ScaledColumns):
        return np.asarray(inner * np.array(kernel.weights)[:, np.newaxis])
    W = np.zeros((n_features, inner.shape[1]))
    W[list(kernel.columns)] = inner
    return W


class Grids(NamedTuple):
    """Grids of random pitch: cell numbers are floor((x[columns] - shift) / pitch); one row a grid."""

    columns: Array
    pitches: Array


def require_grids(kernel: Kernel) -> None:
    """Refuse an expression of which a part has no grids, with the reason."""
    parts = (
        kernel.terms
        if isinstance(kernel, Product)
        else (kernel.kernel,)
        if isinstance(kernel, ScaledColumns | Columns)
        else ()
    )
    for part in parts:
        require_grids(part)
    if not parts:
        _leaf(kernel).require_grids()


def grids(kernel: Kernel, rng: np.random.RandomState, n_grids: int, n_features: int) -> Grids:
    """Draw grids on which two points share a cell with probability k(x, y).

    Factors of a product have grids of their own, which must all agree: their columns are set side by side.
    """
    if isinstance(kernel, Product):
        parts = [grids(term, rng, n_grids, n_features) for term in kernel.terms]
        return Grids(np.concatenate([part.columns for part in parts]), np.hstack([part.pitches for part in parts]))
    if isinstance(kernel, Columns):
        inner = grids(kernel.kernel, rng, n_grids, _inner_width(kernel, n_features))
        return Grids(np.array(kernel.columns)[inner.columns], inner.pitches)
    if isinstance(kernel, ScaledColumns):
        inner = grids(kernel.kernel, rng, n_grids, _inner_width(kernel, n_features))
        weights = np.abs(np.array(kernel.weights))[inner.columns]
        used = weights > 0
        return Grids(inner.columns[used], inner.pitches[:, used] / weights[used])
    return Grids(np.arange(n_features), _leaf(kernel).pitches(rng, n_grids, n_features))
