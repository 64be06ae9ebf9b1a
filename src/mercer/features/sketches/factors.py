"""The random factors of Random Maclaurin features: projections on random signs, or draws of an inner kernel."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer import core
from mercer._typing import Array, Rows, override
from mercer.features.base import Writer
from mercer.features.sketches.degrees import largest_sign_moment
from mercer.features.sketches.hashes import draw_signs
from mercer.features.sketches.scalar_draws import ScalarDraws, largest_moment, scalar_draws
from mercer.features.sketches.variances import PairMoments
from mercer.kernels import Composed


class Factors(ABC):
    """Independent random functions W with E[W(x) W(y)] = k(x, y), one per factor of the features."""

    @abstractmethod
    def writer(self, X: Rows, widths: Array, scales: Array) -> Writer:
        """Return the function that writes products of factors, times ``scales``.

        The first ``widths[j]`` features have a j-th factor; the factors are numbered j by j.
        """

    @property
    @abstractmethod
    def numbers_per_factor(self) -> int:
        """Numbers of working memory per row and factor during a transform."""

    @abstractmethod
    def mean(self, X: Array, Y: Array) -> Array:
        """Return E[W(x) W(y)] for all pairs of rows."""

    @abstractmethod
    def moments(self, X: Array, Y: Array) -> tuple[Array, Array] | None:
        """Return E[W(x) W(y)] and E[W(x)^2 W(y)^2] for all pairs of rows, or None without a closed form."""

    @abstractmethod
    def largest_moment(self, X: Rows) -> float:
        """Return the largest E[W(x)^4] over the rows of X; 0 if this moment is not known."""

    @abstractmethod
    def divergence(self, ratio: float) -> tuple[str, str]:
        """Return the quantity that makes the variance infinite by being ``ratio`` times too large, and the way out."""

    @abstractmethod
    def largest_product(self, norm: float, n_features: int, degree: int) -> float:
        """Return a bound of products of ``degree`` factors on rows of length at most ``norm``."""

    @property
    @abstractmethod
    def has_exact_mean(self) -> bool:
        """Whether ``mean`` is the kernel itself."""

    @abstractmethod
    def redrawn(self, n_features: int, n_factors: int, rng: np.random.RandomState) -> Self:
        """Return new draws, for rows of ``n_features`` columns."""


@dataclass(frozen=True)
class SignFactors(Factors):
    """Projections <w, x> on vectors of random signs, one vector per column."""

    signs: Array

    @override
    def writer(self, X: Rows, widths: Array, scales: Array) -> Writer:
        if isinstance(X, np.ndarray):
            codes = np.packbits(self.signs > 0, axis=0, bitorder="little")
            return lambda rows, out: core.sign_products(X, rows, codes, widths, scales, out)
        W = self.signs.astype(X.dtype)
        W[:, : len(scales)] *= scales
        return lambda rows, out: core.project_product(X, rows, W, widths, out)

    @property
    @override
    def numbers_per_factor(self) -> int:
        return 0

    @override
    def mean(self, X: Array, Y: Array) -> Array:
        return PairMoments.of(X, Y).t

    @override
    def moments(self, X: Array, Y: Array) -> tuple[Array, Array]:
        pairs = PairMoments.of(X, Y)
        return pairs.t, pairs.rademacher

    @override
    def largest_moment(self, X: Rows) -> float:
        return largest_sign_moment(X)

    @override
    def divergence(self, ratio: float) -> tuple[str, str]:
        return "p (3|x|^4 - 2 sum x_i^4)", f"Multiply X by less than {ratio**-0.25:.3g}"

    @override
    def largest_product(self, norm: float, n_features: int, degree: int) -> float:
        one_norm = max(float(n_features) ** 0.5 * norm, 1.0)
        return float(one_norm**degree)

    @property
    @override
    def has_exact_mean(self) -> bool:
        return True

    @override
    def redrawn(self, n_features: int, n_factors: int, rng: np.random.RandomState) -> Self:
        return type(self)(draw_signs(rng, (n_features, n_factors)))


@dataclass(frozen=True)
class DrawnFactors(Factors):
    """Scalar draws of the inner kernel of a composed kernel."""

    kernel: Composed
    draws: ScalarDraws

    @classmethod
    def draw(cls, kernel: Composed, X: Rows, n_factors: int, rng: np.random.RandomState) -> Self:
        """Draw ``n_factors`` factors, at least one."""
        return cls(kernel, scalar_draws(kernel.inner, X, max(n_factors, 1), rng))

    @override
    def writer(self, X: Rows, widths: Array, scales: Array) -> Writer:
        write_draws = self.draws.writer(X)

        def write(rows: slice, out: Array) -> None:
            draws = np.empty((out.shape[0], max(int(widths.sum()), 1)), dtype=out.dtype)
            write_draws(rows, draws)
            np.multiply(draws[:, : out.shape[1]], scales, out=out)
            start = out.shape[1]
            for width in widths[1:]:
                out[:, :width] *= draws[:, start : start + width]
                start += width

        return write

    @property
    @override
    def numbers_per_factor(self) -> int:
        return 4  # a map makes the draws, then reorders them

    @override
    def mean(self, X: Array, Y: Array) -> Array:
        return self.draws.mean(X, Y)

    @override
    def moments(self, X: Array, Y: Array) -> tuple[Array, Array] | None:
        second = self.draws.second_moment(X, Y)
        return None if second is None else (self.draws.mean(X, Y), second)

    @override
    def largest_moment(self, X: Rows) -> float:
        return largest_moment(self.draws, X)

    @override
    def divergence(self, ratio: float) -> tuple[str, str]:
        what = "p E[W(x)^4], with W a draw of the inner kernel,"
        return what, f"Multiply the inner kernel by less than {ratio**-0.5:.3g}"

    @override
    def largest_product(self, norm: float, n_features: int, degree: int) -> float:
        return np.inf

    @property
    @override
    def has_exact_mean(self) -> bool:
        return False  # a map among the draws may be biased

    @override
    def redrawn(self, n_features: int, n_factors: int, rng: np.random.RandomState) -> Self:
        return type(self).draw(self.kernel, np.zeros((1, n_features)), n_factors, rng)
