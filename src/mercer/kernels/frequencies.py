"""Distributions of frequencies of kernel expressions: the algebra of shift-invariant kernels carried over to draws.

A product adds independent frequencies, a scaled column scales its frequencies, and columns left out have frequency 0.
``frequency_distribution`` walks the expression once; everything else is a method of what it returns.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.kernels.base import Kernel, Product
from mercer.kernels.low_order import LowOrder
from mercer.kernels.stationary import StationaryKernel
from mercer.kernels.transforms import Columns, ScaledColumns

# Grids and their points in the search for a reach: three of them divide the 710 logarithms of a distance by 255^3, and
# the interpolation is then exact to 1e-9.
_N_GRIDS, _GRID_POINTS = 3, 256


def leaves(kernel: Kernel) -> tuple[Kernel, ...]:
    """Return the kernels that an expression multiplies, without their scaled and selected columns."""
    if isinstance(kernel, Product):
        return tuple(leaf for term in kernel.terms for leaf in leaves(term))
    return leaves(kernel.kernel) if isinstance(kernel, ScaledColumns | Columns) else (kernel,)


def is_shift_invariant(kernel: Kernel) -> bool:
    """Return whether the kernel has a distribution of frequencies."""
    return all(isinstance(leaf, StationaryKernel | LowOrder) for leaf in leaves(kernel))


class FrequencyDistribution(ABC):
    """The distribution of the frequencies of a shift-invariant kernel on rows of a given number of columns."""

    @abstractmethod
    def draw(self, rng: np.random.RandomState, n_frequencies: int) -> Array:
        """Draw frequencies, one per column, shape (n_features, n_frequencies)."""

    @property
    @abstractmethod
    def n_uniforms(self) -> int:
        """How many uniform numbers make one frequency, for ``at``."""

    @abstractmethod
    def at(self, points: Array) -> Array:
        """Return the frequencies that points of the unit cube (n_frequencies, n_uniforms) stand for, one per column."""

    @property
    @abstractmethod
    def column_variances(self) -> Array:
        """The mean square of each column's frequency, inf where it does not exist."""

    @abstractmethod
    def reaches(self, level: float) -> Array:
        """Return how far apart two rows must be in each column for their kernel to be below ``level``.

        Whatever the other columns: these kernels are 1 at distance 0 and fall with the distance in each column. The
        reach is inf for a column that is not used.
        """


def frequency_distribution(kernel: Kernel, n_features: int) -> FrequencyDistribution:
    """Return the distribution of the frequencies of a shift-invariant kernel on rows of ``n_features`` columns."""
    if isinstance(kernel, Product):
        return _Sum(tuple(frequency_distribution(term, n_features) for term in kernel.terms))
    if isinstance(kernel, ScaledColumns | Columns):
        return _OfColumns(kernel, frequency_distribution(kernel.kernel, kernel.width(n_features)), n_features)
    if isinstance(kernel, LowOrder):
        return _Masked(frequency_distribution(kernel.kernel, 1), kernel.probability(n_features), n_features)
    if isinstance(kernel, StationaryKernel):
        return _Leaf(kernel, n_features)
    raise ValueError(f"{kernel!r} is not shift-invariant, so it has no distribution of frequencies.")


@dataclass(frozen=True)
class _Leaf(FrequencyDistribution):
    """The frequencies of one kernel, which is no expression of others."""

    kernel: StationaryKernel
    n_features: int

    def draw(self, rng: np.random.RandomState, n_frequencies: int) -> Array:
        return self.kernel.frequencies(rng, n_frequencies, self.n_features)

    @property
    def n_uniforms(self) -> int:
        return self.kernel.n_uniforms(self.n_features)

    def at(self, points: Array) -> Array:
        return self.kernel.frequencies_at(points)

    @property
    def column_variances(self) -> Array:
        return np.full(self.n_features, self.kernel.frequency_variance)

    def reaches(self, level: float) -> Array:
        return np.full(self.n_features, _reach(self.kernel, level))


@dataclass(frozen=True)
class _Masked(FrequencyDistribution):
    """Independent frequencies of single columns, each with a probability, else 0: those of ``LowOrder``."""

    of_column: FrequencyDistribution
    probability: float
    n_features: int

    def draw(self, rng: np.random.RandomState, n_frequencies: int) -> Array:
        drawn = self.of_column.draw(rng, n_frequencies * self.n_features).reshape(self.n_features, n_frequencies)
        return np.where(rng.random_sample(drawn.shape) < self.probability, drawn, 0.0)

    @property
    def n_uniforms(self) -> int:
        return self.n_features * (self.of_column.n_uniforms + 1)

    def at(self, points: Array) -> Array:
        of_columns, of_mask = np.split(points, [self.n_features * self.of_column.n_uniforms], axis=1)
        drawn = self.of_column.at(of_columns.reshape(-1, self.of_column.n_uniforms)).reshape(-1, self.n_features)
        return np.where(of_mask < self.probability, drawn, 0.0).T

    @property
    def column_variances(self) -> Array:
        return np.repeat(self.probability * self.of_column.column_variances, self.n_features)

    def reaches(self, level: float) -> Array:
        # A single column brings the kernel down to 1 - p at most.
        needed = (level - (1 - self.probability)) / self.probability
        return np.repeat(self.of_column.reaches(needed) if needed > 0 else np.inf, self.n_features)


@dataclass(frozen=True)
class _Sum(FrequencyDistribution):
    """Sums of independent frequencies, those of a product of kernels."""

    terms: tuple[FrequencyDistribution, ...]

    def draw(self, rng: np.random.RandomState, n_frequencies: int) -> Array:
        return _sum(term.draw(rng, n_frequencies) for term in self.terms)

    @property
    def n_uniforms(self) -> int:
        return sum(term.n_uniforms for term in self.terms)

    def at(self, points: Array) -> Array:
        ends = np.cumsum([term.n_uniforms for term in self.terms])
        parts = np.split(points, ends[:-1], axis=1)
        return _sum(term.at(part) for term, part in zip(self.terms, parts, strict=True))

    @property
    def column_variances(self) -> Array:
        return _sum(term.column_variances for term in self.terms)

    def reaches(self, level: float) -> Array:
        return np.asarray(np.minimum.reduce([term.reaches(level) for term in self.terms]))


@dataclass(frozen=True)
class _OfColumns(FrequencyDistribution):
    """Frequencies on scaled or selected columns, carried over to all columns."""

    kernel: ScaledColumns | Columns
    inner: FrequencyDistribution
    n_features: int

    def draw(self, rng: np.random.RandomState, n_frequencies: int) -> Array:
        return _on_all_columns(self.kernel, self.inner.draw(rng, n_frequencies), self.n_features)

    @property
    def n_uniforms(self) -> int:
        return self.inner.n_uniforms

    def at(self, points: Array) -> Array:
        return _on_all_columns(self.kernel, self.inner.at(points), self.n_features)

    @property
    def column_variances(self) -> Array:
        deviations = np.sqrt(self.inner.column_variances)[:, np.newaxis]
        return np.square(_on_all_columns(self.kernel, deviations, self.n_features))[:, 0]

    def reaches(self, level: float) -> Array:
        return reaches_on_all_columns(self.kernel, self.inner.reaches(level), self.n_features)


def reaches_on_all_columns(kernel: ScaledColumns | Columns, inner: Array, n_features: int) -> Array:
    """Return the reaches in all columns, given those in the transformed columns; inf for columns left out."""
    with np.errstate(divide="ignore"):
        return 1 / np.abs(_on_all_columns(kernel, 1 / inner[:, np.newaxis], n_features)[:, 0])


def _on_all_columns(kernel: ScaledColumns | Columns, inner: Array, n_features: int) -> Array:
    """Return the frequencies on all columns, given those on the transformed columns."""
    if isinstance(kernel, ScaledColumns):
        return np.asarray(inner * np.array(kernel.weights)[:, np.newaxis])
    W = np.zeros((n_features, inner.shape[1]))
    W[list(kernel.columns)] = inner
    return W


def _reach(kernel: StationaryKernel, level: float) -> float:
    """Return the distance in one column at which the kernel is ``level``, or inf where it is so at no distance.

    The logarithm of the distance is bracketed by a grid, three times, and then interpolated. One evaluation serves a
    whole grid: the rows are the distances, and the only other row is 0, so that no squared distance cancels.
    """
    low, high = np.log([np.finfo(float).tiny, np.finfo(float).max]) / 2  # squares of distances are finite
    for grids_before in range(_N_GRIDS):
        logs = np.linspace(low, high, _GRID_POINTS)
        with np.errstate(over="ignore"):
            values = kernel.evaluate(np.exp(logs)[:, np.newaxis], np.zeros((1, 1)))[:, 0]
        if grids_before == 0 and not values[-1] < level < values[0]:
            return np.inf
        right = min(max(1, int(np.count_nonzero(values > level))), _GRID_POINTS - 1)
        low, high = logs[right - 1], logs[right]
    above, below = values[right - 1] - level, level - values[right]
    share = above / (above + below) if above > 0 and below > 0 else 0.5  # rounding hides the level between two points
    return float(np.exp(low + (high - low) * share))


def _sum(parts: Iterable[Array]) -> Array:
    return np.asarray(np.add.reduce(list(parts)))
