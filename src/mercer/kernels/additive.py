r"""Additive kernels of histograms: sums over columns of homogeneous functions of two non-negative numbers.

Each is :math:`\sum_j \sqrt{x_j y_j}\, K(\log y_j / x_j)`, and K is the Fourier transform of a non-negative density
kappa, which its feature map samples (Vedaldi and Zisserman, 2012).
"""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass

import numpy as np

from mercer._typing import Array, Rows, is_sparse, override
from mercer.kernels.base import Kernel
from mercer.kernels.evaluation.bandwidth import inverse_square
from mercer.validation import check_non_negative, check_real


@dataclass(frozen=True, repr=False)
class AdditiveKernel(Kernel):
    """A sum over columns of a homogeneous kernel of two numbers. A subclass writes that kernel and its density."""

    @abstractmethod
    def _pair(self, x: Array, y: Array) -> Array:
        """Return the kernel of positive numbers that broadcast."""

    @abstractmethod
    def density(self, frequency: Array) -> Array:
        """Return kappa, the density whose Fourier transform is K."""

    @abstractmethod
    def signature(self, log_ratio: Array) -> Array:
        """Return K(log y/x)."""

    @override
    def check_domain(self, name: str, X: Rows) -> None:
        check_non_negative(type(self).__name__, name, X)

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        # Column by column, over the rows where it is not 0: every one of these kernels is 0 where x or y is.
        X, Y = (A.tocsc() if is_sparse(A) else A for A in (X, Y))
        total = np.zeros((X.shape[0], Y.shape[0]))
        for j in range(X.shape[1]):
            rows, x = _column(X, j)
            columns, y = _column(Y, j)
            values = self._pair(x[:, np.newaxis], y)
            if values.size == total.size:
                total += values
            elif values.size:
                total[np.ix_(rows, columns)] += values
        return total

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return np.asarray(X.sum(axis=1, dtype=np.float64)).reshape(-1)


def _column(X: Rows, j: int) -> tuple[Array, Array]:
    """Return the rows where column j is not 0, and its values there."""
    if is_sparse(X):
        used = slice(X.indptr[j], X.indptr[j + 1])
        rows, values = X.indices[used], X.data[used]
        return rows[values > 0], values[values > 0].astype(np.float64)
    rows = np.flatnonzero(X[:, j])
    return rows, X[rows, j].astype(np.float64)


def _sech(t: Array) -> Array:
    decay = np.exp(-np.abs(t))  # never above 1: cosh itself overflows
    sech: Array = 2 * decay / (1 + np.square(decay))
    return sech


@dataclass(frozen=True, repr=False)
class Chi2(AdditiveKernel):
    """The additive chi-squared kernel sum_j 2 x_j y_j / (x_j + y_j), with 0/0 = 0.

    >>> from mercer import Chi2
    >>> Chi2()([[1.0, 0.0]], [[3.0, 0.0]])
    array([[1.5]])
    """

    def _pair(self, x: Array, y: Array) -> Array:
        return np.asarray(2 * y * (x / (x + y)))  # in this order x y cannot underflow

    def density(self, frequency: Array) -> Array:
        """Return sech(pi w)."""
        return _sech(np.pi * frequency)

    def signature(self, log_ratio: Array) -> Array:
        """Return sech(t / 2)."""
        return _sech(log_ratio / 2)


@dataclass(frozen=True, repr=False)
class Intersection(AdditiveKernel):
    """The histogram intersection kernel sum_j min(x_j, y_j).

    >>> from mercer import Intersection
    >>> Intersection()([[1.0, 2.0]], [[3.0, 1.0]])
    array([[2.]])
    """

    def _pair(self, x: Array, y: Array) -> Array:
        return np.minimum(x, y)

    def density(self, frequency: Array) -> Array:
        """Return 2 / (pi (1 + 4 w^2))."""
        return np.asarray(2 / (np.pi * (1 + 4 * np.square(frequency))))

    def signature(self, log_ratio: Array) -> Array:
        """Return exp(-|t| / 2)."""
        return np.asarray(np.exp(-np.abs(log_ratio) / 2))


@dataclass(frozen=True, repr=False)
class JensenShannon(AdditiveKernel):
    r"""The Jensen-Shannon kernel of two histograms.

    .. math:: \sum_j \tfrac{x_j}{2} \log_2 \tfrac{x_j + y_j}{x_j} + \tfrac{y_j}{2} \log_2 \tfrac{x_j + y_j}{y_j}

    >>> from mercer import JensenShannon
    >>> JensenShannon()([[1.0, 2.0]], [[1.0, 2.0]])
    array([[3.]])
    """

    def _pair(self, x: Array, y: Array) -> Array:
        return np.asarray((x * np.log2(1 + y / x) + y * np.log2(1 + x / y)) / 2)

    def density(self, frequency: Array) -> Array:
        """Return 2 sech(pi w) / (log 4 (1 + 4 w^2))."""
        return np.asarray(2 / np.log(4) * _sech(np.pi * frequency) / (1 + 4 * np.square(frequency)))

    def signature(self, log_ratio: Array) -> Array:
        """Return (exp(t/2) log2(1 + exp(-t)) + exp(-t/2) log2(1 + exp(t))) / 2."""
        half = np.exp(np.abs(log_ratio) / 2)
        ratio = np.square(half)
        return np.asarray((half * np.log1p(1 / ratio) + np.log1p(ratio) / half) / np.log(4))


@dataclass(frozen=True, repr=False)
class Hellinger(AdditiveKernel):
    """Hellinger's kernel sum_j sqrt(x_j y_j), the linear kernel of square roots: its map is exact.

    >>> from mercer import Hellinger
    >>> Hellinger()([[1.0, 4.0]], [[4.0, 1.0]])
    array([[4.]])
    """

    def _pair(self, x: Array, y: Array) -> Array:
        return np.asarray(np.sqrt(x) * np.sqrt(y))

    def density(self, frequency: Array) -> Array:
        """Return a unit mass at 0."""
        return np.asarray(np.asarray(frequency) == 0, dtype=np.float64)

    def signature(self, log_ratio: Array) -> Array:
        """Return 1."""
        return np.ones_like(log_ratio)


@dataclass(frozen=True, repr=False)
class ExponentialChi2(Kernel):
    r"""The exponential chi-squared kernel :math:`\exp(-\chi^2 / (2 \sigma^2))`.

    Here :math:`\chi^2 = \sum_j (x_j - y_j)^2 / (x_j + y_j)`, with 0/0 = 0.

    Parameters
    ----------
    sigma : float, default=1.0
        Positive.

    References
    ----------
    S. Vempati, A. Vedaldi, A. Zisserman and C. V. Jawahar, "Generalized RBF feature maps for efficient detection",
    BMVC 2010.

    Examples
    --------
    >>> from mercer import ExponentialChi2
    >>> ExponentialChi2(sigma=1.0)([[1.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    _: KW_ONLY
    sigma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", check_real("ExponentialChi2", "sigma", self.sigma, least=0, strict=True))

    @override
    def check_domain(self, name: str, X: Rows) -> None:
        check_non_negative("ExponentialChi2", name, X)

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        # chi^2 = |x|_1 + |y|_1 - 2 Chi2(x, y), whose rounding is far below 1 in float64.
        additive = Chi2()
        exponent: Array = additive.evaluate_diag(X)[:, np.newaxis] + additive.evaluate_diag(Y)
        exponent -= 2 * additive.evaluate(X, Y)
        np.maximum(exponent, 0, out=exponent)
        exponent *= -0.5 * inverse_square(self.sigma)
        return np.exp(exponent, out=exponent)

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        return np.ones(X.shape[0], dtype=X.dtype)
