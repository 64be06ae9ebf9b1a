r"""Shift-invariant kernels k(x, y) = h(x - y), each with its spectral distribution.

By Bochner's theorem such a kernel is the mean of :math:`\cos\langle w, x - y\rangle` over a distribution of frequencies
w. A kernel here evaluates itself and draws from that distribution. ``radial`` holds those of the Euclidean distance.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._typing import Array, Rows, override
from mercer.kernels.base import Kernel

# The largest frequency, in units of one over the length scale. Rough kernels have frequencies so large that a phase in
# floating point has no fraction left, and its cosine does not average out. The cut changes the kernel only at distances
# below 1e-5 length scales.
LARGEST_FREQUENCY = 2.0**20

# Why most kernels have no distribution of grid pitches.
NOT_CONVEX = "it is not a product over columns of functions that are convex in |x - y|"


@dataclass(frozen=True, repr=False)
class StationaryKernel(Kernel):
    """A kernel of the difference x - y, with k(x, x) = 1 and a distribution of frequencies."""

    @property
    @abstractmethod
    def _named_bandwidth(self) -> tuple[str, float | str]:
        """The name and the value of the field that sets the scale."""

    @property
    def bandwidth(self) -> float:
        """The bandwidth as a number, or the error that says how to get one."""
        name, value = self._named_bandwidth
        if isinstance(value, str):
            raise ValueError(
                f"{self!r}: {name}={value!r} has no value before it has seen data. Estimators find it in fit; to "
                f"call the kernel itself write kernel.resolve(X)(X), or give {name} as a number."
            )
        return value

    @property
    def is_automatic(self) -> bool:
        """Whether a learner with targets is to choose the scale."""
        return self._named_bandwidth[1] == "auto"

    def stretched(self, factor: float) -> Self:
        """Return the kernel whose length scale is ``factor`` times that of this one, which must be a number."""
        raise NotImplementedError(f"{self!r} does not say what its length scale is: write its method stretched.")

    @abstractmethod
    def frequencies(self, rng: np.random.RandomState, n_frequencies: int, n_features: int) -> Array:
        """Draw frequencies (n_features, n_frequencies) from the kernel's spectral distribution, one per column."""

    @abstractmethod
    def n_uniforms(self, n_features: int) -> int:
        """Return how many uniform numbers make one frequency, for ``frequencies_at``."""

    @abstractmethod
    def frequencies_at(self, points: Array) -> Array:
        """Return the frequencies that points of the unit cube (n_frequencies, n_uniforms) stand for, one per column."""

    @property
    def frequency_variance(self) -> float:
        """The mean square of one column's frequency, inf where it does not exist."""
        return np.inf

    def pitches(self, rng: np.random.RandomState, n_grids: int, n_features: int) -> Array:
        """Draw grid pitches (n_grids, n_features) such that two points share a cell with probability k(x, y)."""
        raise NotImplementedError(f"{self!r} has no distribution of grid pitches: {self.why_no_grids}.")

    @property
    def why_no_grids(self) -> str | None:
        """The reason why ``pitches`` cannot draw; None where it can, for one column at least."""
        if type(self).pitches is not StationaryKernel.pitches:
            return None
        return NOT_CONVEX

    @override
    def evaluate_diag(self, X: Rows) -> Array:
        _ = self.bandwidth  # unresolved kernels have no values, not on the diagonal either
        return np.ones(X.shape[0], dtype=X.dtype)
