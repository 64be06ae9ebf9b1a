r"""Radial kernels, functions of r = \|x - y\|_2 that are Gaussian scale mixtures.

:math:`k(r) = E\, e^{-s r^2 / (2 \ell^2)}` for a distribution of s >= 0 that does not depend on the dimension. A
frequency is then a Gaussian vector times :math:`\sqrt{s} / \ell`, one s a frequency.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse, special

from mercer._typing import Array, override
from mercer.kernels.bandwidth import check_bandwidth, inverse_square, median_distance, total_variance
from mercer.kernels.distances import squared_distances
from mercer.kernels.matern import matern_profile
from mercer.kernels.prepared import gaussian_features, gaussian_tiles
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
    def evaluate(self, X: Any, Y: Any) -> Array:
        inverse = inverse_square(self._length)
        q = squared_distances(X, Y)
        q *= inverse
        return self.profile(q)

    def frequencies(self, rng: np.random.RandomState, n_frequencies: int, n_features: int) -> Array:
        """Draw Gaussian vectors times sqrt(s) / length, one s a vector."""
        scales = self._scales(self._mixing(rng, n_frequencies))
        return scales * rng.standard_normal((n_features, n_frequencies))

    def n_uniforms(self, n_features: int) -> int:
        """Return one number a column, and those of the mixing variable."""
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

    def _one_column(self, n_features: int) -> None:
        if n_features != 1:
            raise ValueError(
                f"RandomBinning: {self!r} is a function of the Euclidean distance, no product over the {n_features} "
                "columns. Multiply one-dimensional ones, Columns(kernel, [0]) * Columns(kernel, [1]) * ..., or use "
                "Laplacian."
            )


@dataclass(frozen=True, repr=False)
class Gaussian(RadialKernel):
    """The Gaussian kernel exp(-gamma |x - y|_2^2). Its frequencies are Gaussian with variance 2 gamma.

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        Positive. ``"scale"`` is scikit-learn's 1 / (n_features * variance of X), ``"median"`` 1 / (2 m^2) with m the
        median distance between rows; both are found in an estimator's ``fit``.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> Gaussian(gamma=0.5)([[0.0]], [[1.0]]).round(4)
    array([[0.6065]])
    """

    _: KW_ONLY
    gamma: float | str = "scale"

    _n_mixing: ClassVar[int] = 0
    _why_no_grids: ClassVar[str] = (
        "the distribution would have to be t k''(t), which is negative below t = 1/sqrt(2 gamma), where the Gaussian "
        "is concave. Use OrthogonalFeatures or FourierFeatures, or the Laplacian kernel"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_bandwidth("Gaussian", "gamma", self.gamma))

    @property
    def _bandwidth(self) -> tuple[str, float | str]:
        return "gamma", self.gamma

    @property
    def _length(self) -> float:
        return float((2 * min(self._width, _LARGEST_GAMMA)) ** -0.5)

    def resolve(self, X: Any, sample_weight: Any = None) -> "Gaussian":
        """Return the kernel with gamma as a number, found on X."""
        if self.gamma == "scale":
            return Gaussian(gamma=1 / total_variance("Gaussian: gamma='scale'", X, sample_weight))
        if self.gamma == "median":
            return Gaussian(
                gamma=1 / (2 * median_distance("Gaussian: gamma='median'", squared_distances, X, sample_weight))
            )
        return self

    @override
    def evaluator(self, Y: Any, dtype: Any) -> Callable[[Any], Array]:
        general = super().evaluator(Y, dtype)
        if sparse.issparse(Y):
            return general
        dense = gaussian_tiles(Y, self._width, np.dtype(dtype))
        return lambda X: general(X) if sparse.issparse(X) else dense(X)

    def _features(self, Y: Any, projection: Array, first: int, dtype: Any) -> Callable[[Any, Array], None]:
        general = super()._features(Y, projection, first, dtype)
        if sparse.issparse(Y):
            return general
        dense = gaussian_features(Y, self._width, projection, first, np.dtype(dtype))
        return lambda X, out: general(X, out) if sparse.issparse(X) else dense(X, out)

    @override
    def profile(self, q: Array) -> Array:
        q *= -0.5
        return np.exp(q, out=q)

    @property
    def _mean_mixing(self) -> float:
        return 1.0

    def _mixing(self, rng: np.random.RandomState, n: int) -> Array:
        return np.ones(n)

    def _mixing_at(self, points: Array) -> Array:
        return np.ones(len(points))


@dataclass(frozen=True, repr=False)
class _LengthScaled(RadialKernel):
    """A radial kernel whose field ``length_scale`` sets the scale."""

    _: KW_ONLY
    length_scale: float | str = "scale"

    def __post_init__(self) -> None:
        value = check_bandwidth(type(self).__name__, "length_scale", self.length_scale)
        object.__setattr__(self, "length_scale", value)

    @property
    def _bandwidth(self) -> tuple[str, float | str]:
        return "length_scale", self.length_scale

    @property
    def _length(self) -> float:
        return self._width

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return the kernel with length_scale as a number, found on X."""
        asker = f"{type(self).__name__}: length_scale={self.length_scale!r}"
        if self.length_scale == "scale":
            return self.with_params(length_scale=(total_variance(asker, X, sample_weight) / 2) ** 0.5)
        if self.length_scale == "median":
            return self.with_params(length_scale=median_distance(asker, squared_distances, X, sample_weight) ** 0.5)
        return self


@dataclass(frozen=True, repr=False)
class Matern(_LengthScaled):
    r"""The Matern kernel :math:`\frac{2^{1-\nu}}{\Gamma(\nu)} t^\nu K_\nu(t)` with :math:`t = \sqrt{2\nu}\, r / \ell`.

    ``nu=0.5`` is exp(-r / l), ``nu=1.5`` and ``nu=2.5`` have closed forms, and the Gaussian is the limit. Frequencies
    follow a multivariate t distribution with 2 nu degrees of freedom: one chi^2 a frequency, shared by the columns.

    Parameters
    ----------
    nu : float
        Smoothness, positive.
    length_scale : float, "scale" or "median", default="scale"
        Positive; see ``Cauchy``.

    Examples
    --------
    >>> from mercer import Matern
    >>> Matern(1.5, length_scale=2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.6537]])
    """

    nu: float

    def __post_init__(self) -> None:
        super().__post_init__()
        way_out = "nu=0.5 is the exponential kernel, the roughest in common use."
        object.__setattr__(self, "nu", check_real("Matern", "nu", self.nu, least=0, strict=True, way_out=way_out))

    @override
    def profile(self, q: Array) -> Array:
        return matern_profile(self.nu, q)

    @property
    def _mean_mixing(self) -> float:
        return self.nu / (self.nu - 1) if self.nu > 1 else np.inf

    def _mixing(self, rng: np.random.RandomState, n: int) -> Array:
        with np.errstate(divide="ignore", over="ignore"):  # an infinite s ends at the largest frequency
            return self.nu / rng.gamma(self.nu, size=n)

    def _mixing_at(self, points: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(self.nu / special.gammaincinv(self.nu, points[:, 0]))

    @property
    def has_grids(self) -> bool:
        """Whether ``pitches`` can draw: nu is at most 1/2."""
        return self.nu <= 0.5

    def pitches(self, rng: np.random.RandomState, n_grids: int, n_features: int) -> Array:
        """Draw pitches for one column and nu <= 1/2, where the kernel is a mixture of Laplace kernels.

        t^nu K_nu(t) is the mean of exp(-u t) over u = B^(-1/2) with B ~ Beta(nu, 1/2 - nu).
        """
        self.require_grids()
        self._one_column(n_features)
        with np.errstate(divide="ignore"):  # an infinite rate ends at the smallest pitch
            rates = np.ones(n_grids) if self.nu == 0.5 else rng.beta(self.nu, 0.5 - self.nu, n_grids) ** -0.5
        return self._as_pitches(rng.gamma(2.0, 1.0, n_grids) / ((2 * self.nu) ** 0.5 * rates))


@dataclass(frozen=True, repr=False)
class Cauchy(_LengthScaled):
    """The Cauchy kernel 1 / (1 + r^2 / length_scale^2), a rational quadratic. Its mixing variable is exponential.

    Parameters
    ----------
    length_scale : float, "scale" or "median", default="scale"
        Positive. ``"scale"`` is that of the Gaussian with scikit-learn's gamma, sqrt(n_features * variance of X / 2),
        ``"median"`` the median distance between rows; both are found in an estimator's ``fit``.

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
class RationalQuadratic(_LengthScaled):
    """The rational quadratic kernel (1 + r^2 / (2 alpha length_scale^2))^(-alpha), as in scikit-learn.

    Its mixing variable is Gamma(alpha) / alpha; the Gaussian is the limit of large alpha.

    Parameters
    ----------
    alpha : float
        Positive.
    length_scale : float, "scale" or "median", default="scale"
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


@dataclass(frozen=True, repr=False)
class ExponentialPower(_LengthScaled):
    r"""The exponential power kernel :math:`\exp(-(r / \ell)^\alpha)` for 0 < alpha <= 2.

    ``alpha=1`` is the Laplace kernel of the Euclidean distance, ``alpha=2`` a Gaussian. The mixing variable is twice a
    positive stable variable of index alpha / 2, drawn by Kanter's (1975) formula.

    Parameters
    ----------
    alpha : float
        In (0, 2]; above 2 the function is not positive definite.
    length_scale : float, "scale" or "median", default="scale"
        Positive; see ``Cauchy``.

    Examples
    --------
    >>> from mercer import ExponentialPower
    >>> ExponentialPower(1.0, length_scale=2.0)([[0.0]], [[2.0]]).round(4)
    array([[0.3679]])
    """

    alpha: float

    _n_mixing: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        way_out = "Above 2 the function is not positive definite."
        alpha = check_real("ExponentialPower", "alpha", self.alpha, least=0, strict=True, way_out=way_out)
        if alpha > 2:
            raise ValueError(f"ExponentialPower: alpha must be in (0, 2], got {self.alpha!r}. {way_out}")
        object.__setattr__(self, "alpha", alpha)

    @override
    def profile(self, q: Array) -> Array:
        np.power(q, self.alpha / 2, out=q)
        np.negative(q, out=q)
        return np.exp(q, out=q)

    @property
    def _mean_mixing(self) -> float:
        return 2.0 if self.alpha == 2 else np.inf

    def _mixing(self, rng: np.random.RandomState, n: int) -> Array:
        return self._stable(np.pi * (1 - rng.random_sample(n)), rng.standard_exponential(n))

    def _mixing_at(self, points: Array) -> Array:
        return self._stable(np.pi * points[:, 0], -np.log1p(-points[:, 1]))

    def _stable(self, angle: Array, exponential: Array) -> Array:
        """Return twice a positive stable variable, in logarithms: its own range exceeds that of floats."""
        a = max(self.alpha / 2, _LEAST_INDEX)
        if a == 1:
            return np.full(len(angle), 2.0)
        with np.errstate(divide="ignore", over="ignore"):  # the ends of the range are 0 and the largest frequency
            log_s = np.log(np.sin(a * angle)) - np.log(np.sin(angle)) / a
            log_s += (1 - a) / a * (np.log(np.sin((1 - a) * angle)) - np.log(exponential))
            return 2 * np.exp(np.minimum(log_s, 600.0))

    @property
    def has_grids(self) -> bool:
        """Whether ``pitches`` can draw: alpha is at most 1."""
        return self.alpha <= 1

    def pitches(self, rng: np.random.RandomState, n_grids: int, n_features: int) -> Array:
        """Draw pitches for one column and alpha <= 1, where exp(-t^alpha) is convex.

        The survival function exp(-v) (1 + alpha v), v = (t / l)^alpha, is that of v ~ Gamma(2) with probability alpha
        and v ~ Gamma(1) otherwise.
        """
        self.require_grids()
        self._one_column(n_features)
        shapes = np.where(rng.random_sample(n_grids) < self.alpha, 2.0, 1.0)
        return self._as_pitches(rng.standard_gamma(shapes) ** (1 / self.alpha))
