"""Kernels as sums over degrees around an anchor.

Each expansion writes k(x, y) = sum_k g_k(x) g_k(y) <v(x), v(y)>^k, with v(x) = [scale x, constant] - a(x) u for an
anchor u. If the anchor lies near the rows, v is short, and the low degrees, which have exact features, carry nearly all
of the kernel.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import comb, sqrt
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammainc, gammaln
from sklearn.utils.extmath import row_norms

from mercer._typing import Array, Rows, is_sparse
from mercer.features.sketches.degrees import check_coefficients, largest_square, tail
from mercer.features.sketches.variances import PairMoments
from mercer.kernels import DotProductKernel, Exponential, Gaussian, Kernel, Polynomial
from mercer.parallel import row_blocks
from mercer.state import LARGEST_DEGREE, Count, Many, Real, Reals, Sizes, Stored, part, require

_SERIES_DEGREES = 30  # last degree of an infinite series: 30! is above 1e32
_POWER_STEPS = 20
# Columns of a sample that are made dense at the same time: 2.5 MB for 300 rows.
_COLUMNS_AT_ONCE = 1024


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
        """Return a(x), the multiple of the anchor that is subtracted from each row: 1, unless a subclass projects."""
        return np.ones_like(projection)

    @property
    def width(self) -> int:
        """Number of entries of v."""
        return len(self.u)

    @property
    def degrees(self) -> list[int]:
        """The degrees that the kernel has, up to the last one."""
        return list(range(self.last_degree + 1))

    @abstractmethod
    def reach(self, longest: float) -> float:
        """Return a guess of |v| for new rows, for when all rows of ``fit``, of length ``longest``, have v = 0."""

    def beyond(self, kernel: Kernel, X: Rows) -> float:
        """Return the largest part of k(x, x), over the rows of X, that the degrees above the last degree carry.

        By the Cauchy-Schwarz inequality, no pair of rows loses more.
        """
        return 0.0

    def rows(self, X: Rows) -> tuple[Array, Array]:
        """Return v and the weights of the rows of X, dense."""
        dense = X.toarray() if is_sparse(X) else X
        V = np.empty((X.shape[0], self.width), dtype=X.dtype)
        np.multiply(dense, X.dtype.type(self.scale), out=V[:, : X.shape[1]])
        V[:, X.shape[1] :] = self.constant
        u = self.u.astype(X.dtype)
        projection = V @ u
        V -= self.multiple(projection)[:, None] * u
        return V, self.weights(projection, np.einsum("ij,ij->i", V, V)).astype(X.dtype)

    def moments(self, X: Rows) -> tuple[PairMoments, Array]:
        """Return the moments of all pairs of float64 rows v, and the weights; many columns are processed in parts."""
        n = X.shape[1]
        projection = self.scale * (X @ self.u[:n]) + self.constant * self.u[n:].sum()
        a = self.multiple(projection)[:, None]
        used = np.unique(X.indices) if is_sparse(X) else np.arange(n)
        unused = np.delete(self.u[:n], used)  # columns that are 0 in all rows, where v = -a u
        t, s = (a @ a.T) * np.sum(unused**2), (a**2 @ (a**2).T) * np.sum(unused**4)
        last = self.constant - a * self.u[n:]
        t, s = t + last @ last.T, s + last**2 @ (last**2).T
        columns = X.tocsc() if is_sparse(X) else X
        for start in range(0, len(used), _COLUMNS_AT_ONCE):
            some = used[start : start + _COLUMNS_AT_ONCE]
            part = columns[:, some]
            V = part.toarray() if is_sparse(part) else part
            V = self.scale * V - a * self.u[some]
            t += V @ V.T
            V *= V
            s += V @ V.T
        squares = np.diagonal(t)
        return PairMoments(t, np.outer(squares, squares), s), self.weights(projection, squares)

    def sparse_rows(self, X: sparse.csr_array) -> tuple[Array, Array]:
        """Return a(x) and the weights of CSR rows without making v: sketches of v follow from sketches of x and u."""
        projection, square = self._sparse_squares(X)
        return self.multiple(projection), self.weights(projection, square)

    def squares(self, X: Rows) -> Array:
        """Return |v(x)|^2 of each row in float64."""
        if is_sparse(X):
            return np.maximum(self._sparse_squares(X.astype(np.float64))[1], 0.0)
        blocks = (self.rows(X[rows].astype(np.float64))[0] for rows in row_blocks(X.shape[0]))
        return np.concatenate([row_norms(V, squared=True) for V in blocks])

    def _sparse_squares(self, X: sparse.csr_array) -> tuple[Array, Array]:
        n = X.shape[1]
        projection = self.scale * (X @ self.u[:n]) + self.constant * self.u[n:].sum()
        squares = self.scale**2 * np.asarray(X.multiply(X).sum(axis=1)).ravel() + self.constant**2
        a = self.multiple(projection)
        return projection, squares - 2 * a * projection + a**2 * (self.u @ self.u)


@part("SeriesExpansion")
@dataclass(frozen=True)
class SeriesExpansion(Expansion):
    """f(<x, y>) by the Maclaurin series of f, with the anchor at 0: g_k = sqrt(a_k)."""

    _stored = Stored(
        coefficients=Many(Real(0.0), of=tuple),
    )

    coefficients: tuple[float, ...] = ()

    def weights(self, projection: Array, square: Array) -> Array:
        """Return the square roots of the coefficients, the same for every row."""
        return np.tile(np.sqrt(self.coefficients), (len(projection), 1))

    def _check_stored(self, sizes: Sizes) -> None:
        require(len(self.coefficients) == self.last_degree + 1, "there must be one coefficient per degree")

    @property
    def degrees(self) -> list[int]:
        """The degrees whose coefficient is not 0."""
        return np.flatnonzero(self.coefficients).tolist()

    def reach(self, longest: float) -> float:
        """Return a length well within the radius of convergence of Vovk's kernel."""
        return sqrt(0.5)

    def beyond(self, kernel: Any, X: Rows) -> float:
        """Return the sum of the terms that are left out, at the longest row."""
        return tail(kernel, self.last_degree + 1, largest_square(X))


@dataclass(frozen=True)
class _FactorialExpansion(Expansion):
    """A kernel of exponentials around mu: g_k = e(x) sqrt(rate^k / k!), with an envelope e and a rate."""

    _stored = Stored(
        last_degree=Count(most=_SERIES_DEGREES),
        gamma=Real(positive=True),
    )

    gamma: float = 1.0

    @property
    @abstractmethod
    def rate(self) -> float:
        """The factor of <v(x), v(y)>."""

    def reach(self, longest: float) -> float:
        """Return the length |v| at which the term of each degree k is 1 / k! times the constant term."""
        return float(self.rate**-0.5)

    def beyond(self, kernel: Kernel, X: Rows) -> float:
        """Return the largest k(x, x) P(N > last degree), where N is Poisson with mean rate * |v(x)|^2."""
        with np.errstate(over="ignore", invalid="ignore"):
            lost = kernel.evaluate_diag(X) * gammainc(self.last_degree + 1, self.rate * self.squares(X))
        return float(np.nan_to_num(lost, nan=np.inf).max())


@part("ExponentialExpansion")
@dataclass(frozen=True)
class ExponentialExpansion(_FactorialExpansion):
    """exp(gamma <x, y>) centred at mu: g_k = exp(gamma (<x, mu> - |mu|^2 / 2)) sqrt(gamma^k / k!)."""

    @property
    def rate(self) -> float:
        """Gamma."""
        return self.gamma

    def weights(self, projection: Array, square: Array) -> Array:
        """Return the envelope times sqrt(gamma^k / k!)."""
        envelope = np.exp(self.gamma * (projection - self.u @ self.u / 2))
        return np.outer(envelope, _factorial_roots(self.gamma, self.last_degree))


@part("GaussianExpansion")
@dataclass(frozen=True)
class GaussianExpansion(_FactorialExpansion):
    """exp(-gamma |x - y|^2) centred at mu: g_k = exp(-gamma |x - mu|^2) sqrt((2 gamma)^k / k!)."""

    @property
    def rate(self) -> float:
        """Two gamma."""
        return 2 * self.gamma

    def weights(self, projection: Array, square: Array) -> Array:
        """Return the envelope times sqrt((2 gamma)^k / k!)."""
        return np.outer(np.exp(-self.gamma * square), _factorial_roots(2 * self.gamma, self.last_degree))


@part("SplitExpansion")
@dataclass(frozen=True)
class SplitExpansion(Expansion):
    """(gamma <x, y> + c)^p split along a unit vector u: a(x) = <[sqrt(gamma) x, sqrt(c)], u>, and v is the remainder.

    The remainder v is orthogonal to u, so gamma <x, y> + c = a a' + <v, v'>, and g_k = sqrt(C(p, k)) a^(p-k).
    """

    def multiple(self, projection: Array) -> Array:
        """Return the projection on u, so that v is orthogonal to u."""
        return projection

    def weights(self, projection: Array, square: Array) -> Array:
        """Return sqrt(C(p, k)) times powers of the projection."""
        p = self.last_degree
        return np.stack([sqrt(comb(p, k)) * projection ** (p - k) for k in range(p + 1)], axis=1)

    def reach(self, longest: float) -> float:
        """Return the length of the rows: the remainder is then as long as the part along u."""
        return longest or 1.0


def _factorial_roots(rate: float, last: int) -> Array:
    k = np.arange(last + 1)
    return np.asarray(np.exp((k * np.log(rate) - gammaln(k + 1)) / 2))


def mean_row(X: Rows) -> Array:
    """Return the mean of the rows in float64."""
    return np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()


def series_expansion(owner: str, kernel: DotProductKernel, n_features: int) -> SeriesExpansion:
    """Return the Maclaurin expansion of a dot-product kernel; refuse a negative coefficient."""
    last = _SERIES_DEGREES if kernel.last_degree is None else kernel.last_degree
    coefficients = check_coefficients(owner, kernel, last)
    return SeriesExpansion(np.zeros(n_features), last, coefficients=tuple(coefficients.tolist()))


def exponential_expansion(kernel: Exponential, X: Rows) -> ExponentialExpansion:
    """Return the expansion of exp(gamma <x, y>) around the mean of X."""
    return ExponentialExpansion(mean_row(X), _SERIES_DEGREES, gamma=kernel.gamma)


def gaussian_expansion(kernel: Gaussian, X: Rows) -> GaussianExpansion:
    """Return the expansion of the Gaussian kernel around the mean of X."""
    return GaussianExpansion(mean_row(X), _SERIES_DEGREES, gamma=kernel.bandwidth)


def split_expansion(kernel: Polynomial, X: Rows) -> SplitExpansion:
    """Return the expansion of a polynomial kernel along the top uncentred direction of the rows of X."""
    scale, constant = sqrt(kernel.gamma), sqrt(kernel.coef0)
    u = np.append(scale * mean_row(X), [constant] * (constant > 0))
    if not u.any():
        u[0] = 1.0
    n = X.shape[1]
    for _ in range(_POWER_STEPS):
        u = _unit(u)
        images = _shrunk(scale * (X @ u[:n]) + constant * u[n:].sum())
        grown = np.append(scale * (X.T @ images), [constant * images.sum()] * (constant > 0))
        if not grown.any():
            break
        u = np.asarray(grown, dtype=np.float64)
    return SplitExpansion(_unit(u), kernel.degree, scale, constant)


def _unit(u: Array) -> Array:
    u = _shrunk(u)
    return np.asarray(u / np.linalg.norm(u))


def _shrunk(u: Array) -> Array:
    """Return a vector times a power of 2 (exact, without rounding), so that squares neither overflow nor underflow."""
    return np.ldexp(u, -int(np.frexp(np.abs(u).max())[1]))
