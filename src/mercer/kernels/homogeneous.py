"""Homogeneous kernels |x|^p |y|^p f(cos) of the angle between two rows, and f as a dot-product kernel of unit rows."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms

from mercer._typing import Array, Rows, override
from mercer.kernels.base import Kernel
from mercer.kernels.dot_product import DotProductKernel
from mercer.kernels.evaluation.distances import squared_distances

# Points and radius of the circle on which f is evaluated for its series. A coefficient is exact up to the one that lies
# _POINTS degrees above it, times _RADIUS^_POINTS = 6e-15; rounding grows as _RADIUS^-n, 150 times at degree 10,000.
_POINTS, _RADIUS = 2**16, 0.9995
_LAST_DEGREE = 10_000
# Coefficients below this number are rounding: those of degrees that f does not have.
_ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class HomogeneousKernel(Kernel):
    """A kernel |x|^p |y|^p f(cos) of the lengths of two rows and the cosine of their angle; 0 for a row of zeros.

    A subclass writes ``power``, p, and f: ``of_angle`` of real angles, and ``of_cosine`` of complex numbers in the unit
    disc, from which the Maclaurin series of f is found.
    """

    @property
    @abstractmethod
    def power(self) -> int:
        """The power p of the lengths."""

    @abstractmethod
    def of_angle(self, theta: Array) -> Array:
        """Return f(cos theta) for angles from 0 to pi."""

    @abstractmethod
    def of_cosine(self, z: Array) -> Array:
        """Return f(z) for complex z of |z| < 1."""

    @override
    def evaluate(self, X: Rows, Y: Rows) -> Array:
        x, y = (row_norms(A.astype(np.float64)) for A in (X, Y))
        sizes = np.outer(x, y)
        # The angle from the chord |x/|x| - y/|y||: the arc cosine of the product loses half the digits at small angles.
        chord = np.clip(squared_distances(unit_rows(X, np.float64), unit_rows(Y, np.float64)), 0, 4)
        theta = 2 * np.arctan2(np.sqrt(chord), np.sqrt(4 - chord))
        # A row of zeros has no angle. Its features are 0, hence its kernel.
        return np.where(sizes > 0, sizes**self.power * self.of_angle(theta), 0.0)

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        squares = row_norms(X, squared=True)
        return np.asarray((squares > 0) * squares**self.power * self.of_angle(np.zeros(1)).astype(squares.dtype))


@dataclass(frozen=True, repr=False)
class Angular(DotProductKernel):
    """The function f of a homogeneous kernel, as a dot-product kernel: its values on rows of length 1.

    The Maclaurin coefficients of f come from one Fourier transform of f on a circle inside the unit disc; they are
    exact to about 12 digits up to degree 10,000.

    Parameters
    ----------
    kernel : HomogeneousKernel

    Examples
    --------
    >>> from mercer import ArcCosine
    >>> from mercer.kernels import Angular
    >>> Angular(ArcCosine(1)).maclaurin(4).round(4)
    array([0.3183, 0.5   , 0.1592, 0.    , 0.0133])
    """

    kernel: HomogeneousKernel

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, HomogeneousKernel):
            raise ValueError(f"Angular: kernel must be a homogeneous kernel such as ArcCosine(1), got {self.kernel!r}.")

    @override
    def profile(self, t: Array) -> Array:
        return np.asarray(self.kernel.of_angle(np.arccos(np.clip(t, -1.0, 1.0))), dtype=t.dtype)

    def coefficient(self, n: int) -> float:
        """Return a_n; 0 beyond degree 10,000."""
        coefficients = _coefficients(self.kernel)
        return float(coefficients[n]) if n < len(coefficients) else 0.0

    @override
    def tail(self, first: int, r: float) -> float:
        known = _coefficients(self.kernel)[:first]
        below = float(np.polynomial.polynomial.polyval(min(r, 1.0), known)) if first else 0.0
        return max(float(self.profile(np.array([min(r, 1.0)]))[0]) - below, 0.0)


@lru_cache(maxsize=32)
def _coefficients(kernel: HomogeneousKernel) -> Array:
    """Return the Maclaurin coefficients of f, by Cauchy's integral on a circle."""
    circle = _RADIUS * np.exp(2j * np.pi * np.arange(_POINTS) / _POINTS)
    spectrum = np.fft.fft(kernel.of_cosine(circle))[: _LAST_DEGREE + 1].real / _POINTS
    coefficients: Array = spectrum * _RADIUS ** -np.arange(_LAST_DEGREE + 1.0)
    coefficients[np.abs(coefficients) < _ROUNDING] = 0.0
    coefficients.flags.writeable = False
    return coefficients


def unit_rows(X: Rows, dtype: type[np.floating] | None = None) -> Rows:
    """Return rows divided by their lengths, dense or CSR as X is; rows of zeros stay."""
    return normalize(X if dtype is None else X.astype(dtype))


def relu_angle(theta: Array) -> Array:
    """Return the angle of two rows after a layer of ReLU units of infinite width.

    Its cosine is (sin theta + (pi - theta) cos theta) / pi. The square of the sine of half the angle keeps the digits
    of small angles.
    """
    gap = np.where(theta < 1e-3, theta**3 / 3 * (1 - theta**2 / 10), np.sin(theta) - theta * np.cos(theta))
    half = np.clip(np.sin(theta / 2) ** 2 - gap / (2 * np.pi), 0.0, 1.0)
    return np.asarray(2 * np.arcsin(np.sqrt(half)))


def relu_cosine(z: Array) -> Array:
    """Return the same cosine as a function of the cosine before the layer, for complex numbers."""
    return np.asarray((np.sqrt(1 - z**2) + z * (np.pi / 2 + np.arcsin(z))) / np.pi)
