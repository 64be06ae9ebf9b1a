"""Kernels as sums over degrees around an anchor.

Each expansion writes k(x, y) = sum_k g_k(x) g_k(y) <v(x), v(y)>^k, with v(x) = [scale x, constant] - a(x) u for an
anchor u. Moving the anchor to where the rows are makes v short, so that low degrees, which have exact features, carry
nearly all of the kernel.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import comb, sqrt
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from mercer._typing import Array
from mercer.features.degree_law import check_coefficients
from mercer.state import LARGEST_DEGREE, Count, Many, Real, Reals, Sizes, Stored, part, require

_SERIES_DEGREES = 30  # of a series that does not end: 30! is beyond 1e32
_POWER_STEPS = 20


@dataclass(frozen=True)
class Expansion(ABC):
    """The degrees of a kernel around an anchor u; a subclass writes the weights g_k."""

    _stored = Stored(
        u=Reals(("w",), dtypes=(np.float64,)),
        last_degree=Count(most=LARGEST_DEGREE),
        scale=Real(positive=True),
        constant=Real(0.0),
    )

    u: Array
    last_degree: int
    scale: float = 1.0
    constant: float = 0.0

    @abstractmethod
    def weights(self, projection: Array, square: Array) -> Array:
        """Return g_k(x), shape (n, last_degree + 1), given <[scale x, constant], u> and |v(x)|^2 of each row."""

    def multiple(self, projection: Array) -> Array:
        """Return a(x), how often the anchor is taken off a row; once, unless a subclass projects."""
        return np.ones_like(projection)

    @property
    def width(self) -> int:
        """Number of entries of v."""
        return len(self.u)

    def rows(self, X: Any) -> tuple[Array, Array]:
        """Return v and the weights of the rows of X, dense."""
        dense = X.toarray() if sparse.issparse(X) else X
        V = np.empty((X.shape[0], self.width), dtype=X.dtype)
        np.multiply(dense, X.dtype.type(self.scale), out=V[:, : X.shape[1]])
        V[:, X.shape[1] :] = self.constant
        u = self.u.astype(X.dtype)
        projection = V @ u
        V -= self.multiple(projection)[:, None] * u
        return V, self.weights(projection, np.einsum("ij,ij->i", V, V)).astype(X.dtype)

    def sparse_rows(self, X: Any) -> tuple[Array, Array]:
        """Return a(x) and the weights of CSR rows, without making v: its sketches follow from those of x and u."""
        n = X.shape[1]
        projection = self.scale * (X @ self.u[:n]) + self.constant * self.u[n:].sum()
        squares = self.scale**2 * np.asarray(X.multiply(X).sum(axis=1)).ravel() + self.constant**2
        a = self.multiple(projection)
        return a, self.weights(projection, squares - 2 * a * projection + a**2 * (self.u @ self.u))


@part("SeriesExpansion")
@dataclass(frozen=True)
class SeriesExpansion(Expansion):
    """f(<x, y>) by its own Maclaurin series, anchored at 0: g_k = sqrt(a_k)."""

    _stored = Stored(
        coefficients=Many(Real(0.0), of=tuple),
    )

    coefficients: tuple[float, ...] = ()

    def weights(self, projection: Array, square: Array) -> Array:
        """Return the roots of the coefficients, the same for every row."""
        return np.tile(np.sqrt(self.coefficients), (len(projection), 1))

    def _check_stored(self, sizes: Sizes) -> None:
        require(len(self.coefficients) == self.last_degree + 1, "coefficients must be as many as degrees")


@part("ExponentialExpansion")
@dataclass(frozen=True)
class ExponentialExpansion(Expansion):
    """exp(gamma <x, y>) centred at mu: g_k = exp(gamma (<x, mu> - |mu|^2 / 2)) sqrt(gamma^k / k!)."""

    _stored = Stored(
        last_degree=Count(most=_SERIES_DEGREES),
        gamma=Real(positive=True),
    )

    gamma: float = 1.0

    def weights(self, projection: Array, square: Array) -> Array:
        """Return the envelope times the roots of gamma^k / k!."""
        envelope = np.exp(self.gamma * (projection - self.u @ self.u / 2))
        return np.outer(envelope, _factorial_roots(self.gamma, self.last_degree))


@part("GaussianExpansion")
@dataclass(frozen=True)
class GaussianExpansion(Expansion):
    """exp(-gamma |x - y|^2) centred at mu: g_k = exp(-gamma |x - mu|^2) sqrt((2 gamma)^k / k!)."""

    _stored = Stored(
        last_degree=Count(most=_SERIES_DEGREES),
        gamma=Real(positive=True),
    )

    gamma: float = 1.0

    def weights(self, projection: Array, square: Array) -> Array:
        """Return the envelope times the roots of (2 gamma)^k / k!."""
        return np.outer(np.exp(-self.gamma * square), _factorial_roots(2 * self.gamma, self.last_degree))


@part("SplitExpansion")
@dataclass(frozen=True)
class SplitExpansion(Expansion):
    """(gamma <x, y> + c)^p split along a unit vector u: a(x) = <[sqrt(gamma) x, sqrt(c)], u>, v the rest of the row.

    The rest is orthogonal to u, so the power of <x, y> = a a' + <v, v'> expands to g_k = sqrt(C(p, k)) a^(p-k).
    """

    def multiple(self, projection: Array) -> Array:
        """Return the projection itself: v is orthogonal to u."""
        return projection

    def weights(self, projection: Array, square: Array) -> Array:
        """Return the binomial roots times the powers of the projection."""
        p = self.last_degree
        return np.stack([sqrt(comb(p, k)) * projection ** (p - k) for k in range(p + 1)], axis=1)


def _factorial_roots(rate: float, last: int) -> Array:
    k = np.arange(last + 1)
    return np.asarray(np.exp((k * np.log(rate) - gammaln(k + 1)) / 2))


def mean_row(X: Any) -> Array:
    """Return the mean of the rows in float64."""
    return np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()


def series_expansion(owner: str, kernel: Any, n_features: int) -> SeriesExpansion:
    """Return the Maclaurin expansion of a dot-product kernel, refusing a negative coefficient."""
    last = _SERIES_DEGREES if kernel.last_degree is None else kernel.last_degree
    coefficients = check_coefficients(owner, kernel, last)
    return SeriesExpansion(np.zeros(n_features), last, coefficients=tuple(coefficients.tolist()))


def exponential_expansion(kernel: Any, X: Any) -> ExponentialExpansion:
    """Return the expansion of exp(gamma <x, y>) around the mean of X."""
    return ExponentialExpansion(mean_row(X), _SERIES_DEGREES, gamma=kernel.gamma)


def gaussian_expansion(kernel: Any, X: Any) -> GaussianExpansion:
    """Return the expansion of the Gaussian kernel around the mean of X."""
    return GaussianExpansion(mean_row(X), _SERIES_DEGREES, gamma=kernel.gamma)


def split_expansion(kernel: Any, X: Any) -> SplitExpansion:
    """Return the expansion of a polynomial kernel along the top uncentred direction of the rows of X."""
    scale, constant = sqrt(kernel.gamma), sqrt(kernel.coef0)
    u = np.append(scale * mean_row(X), [constant] * (constant > 0))
    if not u.any():
        u[0] = 1.0
    n = X.shape[1]
    for _ in range(_POWER_STEPS):
        u /= np.linalg.norm(u)
        images = scale * (X @ u[:n]) + constant * u[n:].sum()
        grown = np.append(scale * (X.T @ images), [constant * images.sum()] * (constant > 0))
        if not grown.any():
            break
        u = np.asarray(grown, dtype=np.float64)
    return SplitExpansion(u / np.linalg.norm(u), kernel.degree, scale, constant)
