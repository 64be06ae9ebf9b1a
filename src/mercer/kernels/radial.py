r"""Radial kernels, functions of r = \|x - y\|_2 that are Gaussian scale mixtures.

:math:`k(r) = E\, e^{-s r^2 / (2 \ell^2)}` for a distribution of s >= 0 that does not depend on the dimension. A
frequency is then a Gaussian vector times :math:`\sqrt{s} / \ell`, one s per frequency.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import special

from mercer._typing import Array, Rows, is_sparse, override
from mercer.kernels.evaluation.bandwidth import check_bandwidth, inverse_square, median_distance, total_variance
from mercer.kernels.evaluation.distances import squared_distances
from mercer.kernels.evaluation.radial_tiles import radial_tiles
from mercer.kernels.stationary import LARGEST_FREQUENCY, StationaryKernel
from mercer.validation import check_real

# Beyond these, twice a gamma is infinite and half an index is 0. The kernels are 0 and 1/e at all distances by then.
_LARGEST_GAMMA, _LEAST_INDEX = 8e307, 1e-300


@dataclass(frozen=True, repr=False)
class RadialKernel(StationaryKernel):
    """A kernel of the Euclidean distance that is a Gaussian scale mixture.

    A subclass writes ``profile`` and the distribution of the mixing variable s: ``_mixing`` draws it, ``_mixing_at``
    maps ``_n_mixing`` uniform numbers to it.
    """

    _n_mixing: ClassVar[int] = 1

    @property
    @abstractmethod
    def _length(self) -> float:
        """The length scale as a number."""

    @abstractmethod
    def profile(self, q: Array) -> Array:
        """Return the kernel where |x - y|^2 / length^2 is q; it may overwrite q."""

    @abstractmethod
    def _mixing(self, rng: np.random.RandomState, n: int) -> Array:
        """Draw n values of s."""

    @abstractmethod
    def _mixing_at(self, points: Array) -> Array:
        """Return the values of s that points (n, _n_mixing) of the unit cube stand for."""

    @property
    def _mean_mixing(self) -> float:
        """The mean of s, inf where it does not exist."""
        return np.inf

    @property
    def frequency_variance(self) -> float:
        """The mean square of one column's frequency, E[s] / length^2."""
        return self._mean_mixing * inverse_square(self._length)

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        inverse = inverse_square(self._length)
        q = squared_distances(X, Y)
        q *= inverse
        return self.profile(q)

    @override
    def evaluator(self, Y: Rows, dtype: DTypeLike) -> Callable[[Rows], Array]:
        general, inverse = super().evaluator(Y, dtype), inverse_square(self._length)
        if is_sparse(Y) or np.dtype(dtype) != np.float32 or not 0 < inverse < np.inf:
            return general
        dense = radial_tiles(Y, inverse, self.profile)
        return lambda X: general(X) if is_sparse(X) else dense(X)

    def frequencies(self, rng: np.random.RandomState, n_frequencies: int, n_features: int) -> Array:
        """Draw Gaussian vectors times sqrt(s) / length, one s per vector."""
        scales = self._scales(self._mixing(rng, n_frequencies))
        return scales * rng.standard_normal((n_features, n_frequencies))

    def n_uniforms(self, n_features: int) -> int:
        """Return the number of columns, and one for each uniform number of the mixing variable."""
        return n_features + self._n_mixing

    def frequencies_at(self, points: Array) -> Array:
        """Return the Gaussian quantiles of the first columns, scaled by the mixing variable of the last."""
        n_features = points.shape[1] - self._n_mixing
        scales = self._scales(self._mixing_at(points[:, n_features:]))
        return np.asarray(scales * special.ndtri(points[:, :n_features].T))

    def radii(self, rng: np.random.RandomState, n_frequencies: int, n_features: int) -> Array:
        """Draw lengths of frequencies: chi variables of n_features degrees of freedom times sqrt(s) / length."""
        scales = self._scales(self._mixing(rng, n_frequencies))
        return scales * np.sqrt(rng.chisquare(n_features, n_frequencies))

    def _scales(self, mixing: Array) -> Array:
        return np.minimum(np.sqrt(mixing), LARGEST_FREQUENCY) / self._length

    def _as_pitches(self, units: Array) -> Array:
        """Return pitches of one column from pitches in length scales, kept within what a cell number can hold."""
        return self._length * np.clip(units, 1 / LARGEST_FREQUENCY, 1e200)[:, np.newaxis]


@dataclass(frozen=True, repr=False)
class LengthScaled(RadialKernel):
    """A radial kernel whose field ``length_scale`` sets the scale."""

    _: KW_ONLY
    length_scale: float | str = "scale"

    def __post_init__(self) -> None:
        value = check_bandwidth(type(self).__name__, "length_scale", self.length_scale)
        object.__setattr__(self, "length_scale", value)

    @property
    def _named_bandwidth(self) -> tuple[str, float | str]:
        return "length_scale", self.length_scale

    @property
    def _length(self) -> float:
        return self.bandwidth

    @override
    def stretched(self, factor: float) -> Self:
        return self.with_params(length_scale=self.bandwidth * factor)

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        """Return the kernel with length_scale as a number, found on X."""
        asker = f"{type(self).__name__}: length_scale={self.length_scale!r}"
        if self.length_scale == "scale":
            return self.with_params(length_scale=(total_variance(asker, X, sample_weight) / 2) ** 0.5)
        if self.length_scale in ("median", "auto"):
            return self.with_params(length_scale=median_distance(asker, squared_distances, X, sample_weight) ** 0.5)
        return self


@dataclass(frozen=True, repr=False)
class Cauchy(LengthScaled):
    """The Cauchy kernel 1 / (1 + r^2 / length_scale^2), a rational quadratic. Its mixing variable is exponential.

    Parameters
    ----------
    length_scale : float, "scale", "median" or "auto", default="scale"
        Positive. ``"scale"`` is that of the Gaussian with scikit-learn's gamma, sqrt(n_features * variance of X / 2),
        ``"median"`` the median distance between rows; both are found in an estimator's ``fit``. ``"auto"``: see
        ``Gaussian``.

    Examples
    --------
    >>> from mercer import Cauchy
    >>> Cauchy(length_scale=1.0)([[0.0]], [[2.0]])
    array([[0.2]])
    """

    @override
    def profile(self, q: Array) -> Array:
        q += 1
        return np.reciprocal(q, out=q)

    @property
    def _mean_mixing(self) -> float:
        return 2.0

    def _mixing(self, rng: np.random.RandomState, n: int) -> Array:
        return 2 * rng.standard_exponential(n)

    def _mixing_at(self, points: Array) -> Array:
        return -2 * np.log1p(-points[:, 0])


@dataclass(frozen=True, repr=False)
class RationalQuadratic(LengthScaled):
    """The rational quadratic kernel (1 + r^2 / (2 alpha length_scale^2))^(-alpha), as in scikit-learn.

    Its mixing variable is Gamma(alpha) / alpha; the Gaussian is the limit of large alpha.

    Parameters
    ----------
    alpha : float
        Positive.
    length_scale : float, "scale", "median" or "auto", default="scale"
        Positive; see ``Cauchy``.

    Examples
    --------
    >>> from mercer import RationalQuadratic
    >>> RationalQuadratic(2.0, length_scale=1.0)([[0.0]], [[2.0]])
    array([[0.25]])
    """

    alpha: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", check_real("RationalQuadratic", "alpha", self.alpha, least=0, strict=True))

    @override
    def profile(self, q: Array) -> Array:
        q /= 2 * self.alpha
        np.log1p(q, out=q)
        q *= -self.alpha
        return np.exp(q, out=q)

    @property
    def _mean_mixing(self) -> float:
        return 1.0

    def _mixing(self, rng: np.random.RandomState, n: int) -> Array:
        return rng.gamma(self.alpha, size=n) / self.alpha

    def _mixing_at(self, points: Array) -> Array:
        return np.asarray(special.gammaincinv(self.alpha, points[:, 0]) / self.alpha)
