r"""Shift-invariant kernels k(x, y) = h(x - y), each with its spectral distribution side by side.

By Bochner's theorem such a kernel is the mean of :math:`\cos\langle w, x - y\rangle` over a distribution of frequencies
w. A kernel here evaluates itself and draws from that distribution. ``radial`` holds those of the Euclidean distance.
"""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from mercer._typing import Array, override
from mercer.kernels.bandwidth import check_bandwidth, median_distance, total_variance
from mercer.kernels.base import Kernel
from mercer.kernels.distances import absolute_distances

# Frequencies end here, in units of one over the length scale. The distributions of rough kernels reach so far that a
# phase would lose its fraction in floating point, and stand still instead of averaging out; what is cut off concerns
# distances below 1e-5 length scales only.
LARGEST_FREQUENCY = 2.0**20


@dataclass(frozen=True, repr=False)
class StationaryKernel(Kernel):
    """A kernel of the difference x - y, with k(x, x) = 1 and a distribution of frequencies."""

    @property
    @abstractmethod
    def _bandwidth(self) -> tuple[str, float | str]:
        """The name and the value of the field that sets the scale."""

    @property
    def _width(self) -> float:
        """The bandwidth as a number, or the error that says how to get one."""
        name, value = self._bandwidth
        if isinstance(value, str):
            raise ValueError(
                f"{self!r}: {name}={value!r} has no value before it has seen data. Estimators find it in fit; to "
                f"call the kernel itself write kernel.resolve(X)(X), or give {name} as a number."
            )
        return value

    @abstractmethod
    def frequencies(self, rng: np.random.RandomState, n_frequencies: int, n_features: int) -> Array:
        """Draw frequencies from the kernel's spectral distribution, one a column, shape (n_features, n_frequencies)."""

    @abstractmethod
    def n_uniforms(self, n_features: int) -> int:
        """Return how many uniform numbers make one frequency, for ``frequencies_at``."""

    @abstractmethod
    def frequencies_at(self, points: Array) -> Array:
        """Return the frequencies that points of the unit cube (n_frequencies, n_uniforms) stand for, one a column."""

    @property
    def frequency_variance(self) -> float:
        """The mean square of one column's frequency, inf where it does not exist."""
        return np.inf

    def pitches(self, rng: np.random.RandomState, n_grids: int, n_features: int) -> Array:
        """Draw grid pitches (n_grids, n_features) such that two points share a cell with probability k(x, y)."""
        self.require_grids()
        raise NotImplementedError

    @property
    def has_grids(self) -> bool:
        """Whether ``pitches`` can draw, for one column at least."""
        return type(self).pitches is not StationaryKernel.pitches

    def require_grids(self) -> None:
        """Refuse a kernel that has no grids, with the reason."""
        if not self.has_grids:
            raise ValueError(f"RandomBinning: {self!r} has no distribution of grid pitches: {self._why_no_grids}.")

    _why_no_grids: ClassVar[str] = (
        "it is not a product over columns of functions that are convex in |x - y|. Use FourierFeatures, or Laplacian"
    )

    @override
    def evaluate_diag(self, X: Any) -> Array:
        _ = self._width  # unresolved kernels have no values, on the diagonal neither
        return np.ones(X.shape[0], dtype=X.dtype)


@dataclass(frozen=True, repr=False)
class Laplacian(StationaryKernel):
    """The Laplace kernel exp(-gamma |x - y|_1).

    Its frequencies are independent Cauchy variables of scale gamma in every column. Its grid pitches follow
    Gamma(2, 1 / gamma) (Rahimi and Recht, 2007).

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        Positive. ``"scale"`` is 1 / (n_features * standard deviation of X), ``"median"`` one over the median L1
        distance; both are found in an estimator's ``fit``.

    Examples
    --------
    >>> from mercer import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    _: KW_ONLY
    gamma: float | str = "scale"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_bandwidth("Laplacian", "gamma", self.gamma))

    @property
    def _bandwidth(self) -> tuple[str, float | str]:
        return "gamma", self.gamma

    def resolve(self, X: Any, sample_weight: Any = None) -> "Laplacian":
        """Return the kernel with gamma as a number, found on X."""
        if self.gamma == "scale":
            return Laplacian(gamma=(X.shape[1] * total_variance("Laplacian: gamma='scale'", X, sample_weight)) ** -0.5)
        if self.gamma == "median":
            return Laplacian(
                gamma=1 / median_distance("Laplacian: gamma='median'", absolute_distances, X, sample_weight)
            )
        return self

    @override
    def evaluate(self, X: Any, Y: Any) -> Array:
        gamma = self._width
        distances = absolute_distances(X, Y)
        distances *= -gamma
        return np.exp(distances, out=distances)

    def frequencies(self, rng: np.random.RandomState, n_frequencies: int, n_features: int) -> Array:
        """Draw independent Cauchy variables of scale gamma."""
        return self._width * _capped(rng.standard_cauchy((n_features, n_frequencies)))

    def n_uniforms(self, n_features: int) -> int:
        """Return one number a column."""
        return n_features

    def frequencies_at(self, points: Array) -> Array:
        """Return the Cauchy quantiles of the points."""
        return self._width * _capped(np.tan(np.pi * (points.T - 0.5)))

    def pitches(self, rng: np.random.RandomState, n_grids: int, n_features: int) -> Array:
        """Draw from Gamma(shape 2, scale 1 / gamma), independently in every column."""
        return rng.gamma(2.0, 1 / self._width, (n_grids, n_features))


def _capped(frequencies: Array) -> Array:
    return np.clip(frequencies, -LARGEST_FREQUENCY, LARGEST_FREQUENCY)
