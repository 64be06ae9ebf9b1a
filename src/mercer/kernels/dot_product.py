"""Dot-product kernels k(x, y) = f(<x, y>), each with the Maclaurin coefficients of f.

Such an f gives a positive definite kernel in every dimension exactly when its Maclaurin coefficients are all
non-negative (Schoenberg, 1942; Kar and Karnick, 2012, Theorem 2).
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from math import comb, exp, inf, lgamma, log

import numpy as np
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from mercer._typing import Array, Rows, override
from mercer.kernels.base import Kernel
from mercer.validation import check_integer, check_real

# Most terms of a sum by Horner's rule, each a pass over the matrix. Longer sums overflow, or equal VovkInfinite.
_MOST_TERMS = 2**16
_LARGEST_LOGARITHM = log(np.finfo(np.float64).max)


@dataclass(frozen=True, repr=False)
class DotProductKernel(Kernel):
    """A kernel f(<x, y>). A subclass writes the profile f and its Maclaurin coefficients a_n."""

    @abstractmethod
    def profile(self, t: Array) -> Array:
        """Return f(t); it may overwrite t."""

    @abstractmethod
    def coefficient(self, n: int) -> float:
        """Return a_n, the coefficient of t^n in f(t)."""

    @property
    def last_degree(self) -> int | None:
        """The highest degree with a coefficient, or None when the series does not end."""
        return None

    @property
    def radius(self) -> float:
        """The radius of convergence of the series of f."""
        return inf

    def tail(self, first: int, r: float) -> float | None:
        """Return the sum of a_n r^n over n >= ``first`` where it has a closed form, else None."""
        return None

    def maclaurin(self, last: int) -> Array:
        """Return the coefficients a_0, ..., a_last.

        >>> from mercer import Polynomial
        >>> Polynomial(2, coef0=1.0).maclaurin(3)
        array([1., 2., 1., 0.])
        """
        end = last if self.last_degree is None else min(last, self.last_degree)
        coefficients = np.zeros(last + 1)
        coefficients[: end + 1] = [self.coefficient(n) for n in range(end + 1)]
        return coefficients

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        return self.profile(np.asarray(safe_sparse_dot(X, Y.T, dense_output=True)))

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return self.profile(np.asarray(row_norms(X, squared=True)))


def _positive_gamma(kernel: "Polynomial | Exponential | Sigmoid") -> None:
    name = type(kernel).__name__
    object.__setattr__(kernel, "gamma", check_real(name, "gamma", kernel.gamma, least=0, strict=True))


@dataclass(frozen=True, repr=False)
class Linear(DotProductKernel):
    """The linear kernel <x, y>."""

    @override
    def profile(self, t: Array) -> Array:
        return t

    def coefficient(self, n: int) -> float:
        """Return 1 for n = 1, else 0."""
        return float(n == 1)

    @property
    def last_degree(self) -> int:
        """One."""
        return 1


@dataclass(frozen=True, repr=False)
class Polynomial(DotProductKernel):
    """The polynomial kernel (gamma <x, y> + coef0)^degree.

    Parameters
    ----------
    degree : int
        At least 1.
    gamma : float, default=1.0
        Positive.
    coef0 : float, default=0.0
        Not negative: a negative one gives negative Maclaurin coefficients, hence no kernel.

    Examples
    --------
    >>> from mercer import Polynomial
    >>> Polynomial(2, coef0=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    degree: int
    _: KW_ONLY
    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", check_integer("Polynomial", "degree", self.degree, least=1))
        _positive_gamma(self)
        way_out = "A negative coef0 gives negative Maclaurin coefficients, so the function is not a kernel."
        object.__setattr__(self, "coef0", check_real("Polynomial", "coef0", self.coef0, least=0, way_out=way_out))

    @override
    def profile(self, t: Array) -> Array:
        if self.gamma != 1.0:
            t *= t.dtype.type(self.gamma)
        if self.coef0 != 0.0:
            t += t.dtype.type(self.coef0)
        return _power(t, self.degree)

    def coefficient(self, n: int) -> float:
        """Return C(degree, n) gamma^n coef0^(degree - n)."""
        if n > self.degree:
            return 0.0
        return comb(self.degree, n) * self.gamma**n * self.coef0 ** (self.degree - n)

    @property
    def last_degree(self) -> int:
        """The degree."""
        return self.degree


def _power(t: Array, n: int) -> Array:
    """Return t^n by repeated squaring: np.power is 10 times slower for small n."""
    if n == 1:
        return t
    root = _power(t, n // 2)
    square = root * root
    return square * t if n % 2 else square


@dataclass(frozen=True, repr=False)
class Exponential(DotProductKernel):
    """The exponential kernel exp(gamma <x, y>), with a_n = gamma^n / n!."""

    _: KW_ONLY
    gamma: float

    def __post_init__(self) -> None:
        _positive_gamma(self)

    @override
    def profile(self, t: Array) -> Array:
        t *= t.dtype.type(self.gamma)
        return np.exp(t, out=t)

    def coefficient(self, n: int) -> float:
        """Return gamma^n / n!."""
        logarithm = n * log(self.gamma) - lgamma(n + 1)
        return exp(logarithm) if logarithm < _LARGEST_LOGARITHM else inf


@dataclass(frozen=True, repr=False)
class VovkPolynomial(DotProductKernel):
    """Vovk's polynomial kernel: the sum of <x, y>^n for 0 <= n < degree, that is (1 - t^degree) / (1 - t)."""

    degree: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", check_integer("VovkPolynomial", "degree", self.degree, most=_MOST_TERMS))

    @override
    def profile(self, t: Array) -> Array:
        # Horner's rule; on purpose not the closed form, which is 0/0 at t = 1 and loses digits around it.
        total = np.ones_like(t)
        for _ in range(self.degree - 1):
            total *= t
            total += 1
        return total

    def coefficient(self, n: int) -> float:
        """Return 1 below the degree, else 0."""
        return float(n < self.degree)

    @property
    def last_degree(self) -> int:
        """One less than the degree."""
        return self.degree - 1


@dataclass(frozen=True, repr=False)
class VovkInfinite(DotProductKernel):
    """Vovk's infinite polynomial kernel 1 / (1 - <x, y>), defined for |<x, y>| < 1 only."""

    @property
    def radius(self) -> float:
        """One."""
        return 1.0

    @override
    def profile(self, t: Array) -> Array:
        worst = float(np.abs(t).max(initial=0.0))
        if worst >= 1:
            raise ValueError(
                f"VovkInfinite() is defined for |<x, y>| < 1 only, and these rows reach {worst:.6g}. "
                f"Multiply X by less than {worst**-0.5:.3g}."
            )
        return 1 / (1 - t)

    def coefficient(self, n: int) -> float:
        """Return 1."""
        return 1.0


def _floats(coefficients: Sequence[float]) -> tuple[float, ...]:
    try:
        return tuple(float(a) for a in coefficients)
    except TypeError:
        raise ValueError(
            f"DotProduct: coefficients must be numbers a_0, a_1, ... or a function of n, got {coefficients!r}."
        ) from None


@dataclass(frozen=True, repr=False)
class DotProduct(DotProductKernel):
    """Any f(<x, y>), given f and its Maclaurin coefficients. Compared by the identity of f.

    Parameters
    ----------
    f : callable
        Takes and returns an array.
    coefficients : sequence of float or callable
        a_0, a_1, ..., all of them; or a function of n, for a series that does not end.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from mercer import DotProduct
    >>> cosh = DotProduct(np.cosh, lambda n: 0.0 if n % 2 else 1 / math.factorial(n))
    >>> cosh([[0.5]], [[1.0]]).round(4)
    array([[1.1276]])
    """

    f: Callable[[Array], Array]
    coefficients: Sequence[float] | Callable[[int], float]

    def __post_init__(self) -> None:
        if not callable(self.f):
            raise ValueError(f"DotProduct: f must be a function of an array, got {self.f!r}.")
        if not callable(self.coefficients):
            object.__setattr__(self, "coefficients", _floats(self.coefficients))
        self._check_series()

    def _check_series(self) -> None:
        """Compare f with its series near 0: a map built on other coefficients would be silently biased."""
        t = np.array([0.0, 0.005, 0.01])
        series = np.polynomial.polynomial.polyval(t, self.maclaurin(24))
        values = np.asarray(self.f(t.copy()), dtype=float)
        if values.shape != t.shape or not np.allclose(values, series, rtol=1e-6, atol=1e-12):
            raise ValueError(
                f"DotProduct: f and coefficients disagree: at t = {t.tolist()} f gives {values.tolist()} and the "
                f"series {series.tolist()}. Give the Maclaurin coefficients f^(n)(0)/n! of f."
            )

    @override
    def profile(self, t: Array) -> Array:
        return np.asarray(self.f(t), dtype=t.dtype)

    def coefficient(self, n: int) -> float:
        """Return the given a_n."""
        if callable(self.coefficients):
            return float(self.coefficients(n))
        return self.coefficients[n] if n < len(self.coefficients) else 0.0

    @property
    def last_degree(self) -> int | None:
        """The last degree given, or None when the coefficients are a function."""
        return None if callable(self.coefficients) else max(len(self.coefficients) - 1, 0)


@dataclass(frozen=True, repr=False)
class Sigmoid(DotProductKernel):
    """The function tanh(gamma <x, y> + coef0). It evaluates, but it is not positive definite and has no feature map.

    Its series has negative coefficients: for coef0 = 0 the first is a_3 = -gamma^3 / 3.
    """

    _: KW_ONLY
    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        _positive_gamma(self)
        object.__setattr__(self, "coef0", check_real("Sigmoid", "coef0", self.coef0, least=-inf))

    @override
    def profile(self, t: Array) -> Array:
        t *= t.dtype.type(self.gamma)
        t += t.dtype.type(self.coef0)
        return np.tanh(t, out=t)

    @property
    def radius(self) -> float:
        """The distance from coef0 to the nearest pole of tanh, over gamma."""
        return abs(complex(self.coef0, np.pi / 2)) / self.gamma

    def coefficient(self, n: int) -> float:
        """Return a_n, from y' = gamma (1 - y^2), that is (n+1) a_(n+1) = gamma (1[n=0] - sum a_i a_(n-i))."""
        a = np.zeros(n + 1)
        a[0] = np.tanh(self.coef0)
        for m in range(n):
            a[m + 1] = self.gamma * ((m == 0) - a[: m + 1] @ a[m::-1]) / (m + 1)
        return float(a[n])
