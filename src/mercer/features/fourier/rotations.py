"""Random rotations with random lengths, the frequencies of orthogonal features: exact, or by Hadamard transforms."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import special

from mercer._typing import Array, override
from mercer.features.fourier.phases import MatrixProjections, Projections, check_frequencies
from mercer.features.fourier.structured import HadamardProjections, check_structured, padded_size
from mercer.features.sketches.hashes import draw_signs
from mercer.kernels import Gaussian, Kernel, RadialKernel
from mercer.kernels.evaluation.distances import squared_distances
from mercer.validation import check_memory

_OWNER = "OrthogonalFeatures"
_CANDIDATES = 16
_RADIUS_BYTES = 8 * (3 * _CANDIDATES + 2)  # per radius, while its candidates are drawn and sorted
# Below this many columns or frequencies, the within-stratum variance that the closed form ignores matters.
LEAST_CLOSED = 5


class Rotation(ABC):
    """Frequencies whose directions are orthogonal in blocks, with their lengths ``radii``."""

    radii: Array

    @classmethod
    @abstractmethod
    def draw(
        cls, kernel: RadialKernel, n_components: int, n_frequencies: int, n_features: int, rng: np.random.RandomState
    ) -> Self:
        """Draw the frequencies of a map of ``n_components`` features."""

    @abstractmethod
    def projections(self, owner: object) -> Projections:
        """Return how rows are projected on the frequencies of the map ``owner``."""

    def variance(self, kernel: Kernel, X: Array, Y: Array, n_single: int) -> Array | None:
        """Return the exact variance of the estimate, or None where no closed form is known."""
        return None


@dataclass(frozen=True)
class ExactRotation(Rotation):
    """Uniformly random orthonormal bases, multiplied out to a matrix of frequencies."""

    frequencies: Array
    radii: Array

    @classmethod
    @override
    def draw(
        cls, kernel: RadialKernel, n_components: int, n_frequencies: int, n_features: int, rng: np.random.RandomState
    ) -> Self:
        check_frequencies(_OWNER, n_components, n_frequencies, n_features)
        needed = (8 * n_features + _RADIUS_BYTES) * n_frequencies
        check_memory(_OWNER, "n_components", n_components, needed, "frequencies and their lengths")
        n_bases, n_left = divmod(n_frequencies, n_features)
        frequencies = np.hstack(
            [_orthonormal(rng, n_bases, n_features, n_features), _orthonormal(rng, 1, n_features, n_left)]
        )
        radii = stratified_radii(kernel, rng, n_frequencies, n_features)
        frequencies *= radii
        return cls(frequencies, radii)

    @override
    def projections(self, owner: object) -> Projections:
        return MatrixProjections(owner, self.frequencies)

    @override
    def variance(self, kernel: Kernel, X: Array, Y: Array, n_single: int) -> Array | None:
        if not isinstance(kernel, Gaussian) or min(X.shape[1], len(self.radii)) < LEAST_CLOSED:
            return None
        return gaussian_variance(kernel, X, Y, len(self.radii), n_single)


@dataclass(frozen=True)
class HadamardRotation(Rotation):
    """Products H D_3 H D_2 H D_1 of Hadamard matrices H and random signs D."""

    signs: Array
    radii: Array

    @classmethod
    @override
    def draw(
        cls, kernel: RadialKernel, n_components: int, n_frequencies: int, n_features: int, rng: np.random.RandomState
    ) -> Self:
        size = padded_size(n_features)
        shape = (3, -(-n_frequencies // size), size)
        n_bytes = 27 * shape[1] * size + _RADIUS_BYTES * n_frequencies
        check_structured(_OWNER, n_components, n_bytes, size, min(2, shape[1]))
        signs = draw_signs(rng, shape)
        # Radii as in `size` dimensions: a uniform direction there times such a radius, cut to n_features columns, has
        # the distribution of a frequency of n_features columns.
        return cls(signs, stratified_radii(kernel, rng, n_frequencies, size))

    @override
    def projections(self, owner: object) -> Projections:
        size = self.signs.shape[2]
        turns = self.radii / (2 * np.pi * size**1.5)  # three unnormalised transforms multiply lengths by size^(3/2)
        return HadamardProjections(self.signs, np.empty((0, 0), dtype=np.int32), turns)


def stratified_radii(kernel: RadialKernel, rng: np.random.RandomState, n: int, n_features: int) -> Array:
    """Draw n radii, each of the kernel's distribution, spread evenly over it.

    Of 16 n draws in order, one is taken at random from every 16: a random one of the n is then a random one of all
    draws, so its distribution is exact, and any two lie in different strata.
    """
    candidates = np.sort(kernel.radii(rng, n * _CANDIDATES, n_features)).reshape(n, _CANDIDATES)
    radii: Array = candidates[np.arange(n), rng.randint(_CANDIDATES, size=n)]
    rng.shuffle(radii)
    return radii


def _orthonormal(rng: np.random.RandomState, n_bases: int, n_features: int, n_vectors: int) -> Array:
    """Draw bases of orthonormal columns, uniformly, side by side.

    They are QR factors of Gaussians, with the signs that LAPACK leaves to chance made random.
    """
    Q, R = np.linalg.qr(rng.standard_normal((n_bases, n_features, n_vectors)))
    Q *= np.where(np.diagonal(R, axis1=1, axis2=2) < 0, -1.0, 1.0)[:, None]
    return Q.transpose(1, 0, 2).reshape(n_features, n_bases * n_vectors)


def gaussian_variance(kernel: Gaussian, X: Array, Y: Array, m: int, n_single: int) -> Array:
    """Return the variance with m frequencies, of which the last ``n_single`` (0 or 1) has an offset.

    Two frequencies of one block, with independent radii, have E[cos cos'] = e^(-z^2/2) 1F1(-d/2; d/2; z^2/2) where
    z = sqrt(2 gamma) |x - y|; of two blocks, k^2. Radii from one stratum would make these k(sqrt(2) (x - y)) and
    e^(-z^2) 0F1(; d/2; z^4/4); the m radii come from m strata, so pairs from one stratum are left out of the mean.
    """
    d = X.shape[1]
    squared = 2 * float(kernel.gamma) * squared_distances(X, Y)
    k = np.exp(-squared / 2)
    same_block = k * special.hyp1f1(-d / 2, d / 2, squared / 2)
    between = [
        _without_own_stratum(same_block, k**2, m) - k**2,  # k(sqrt(2) z) = k(z)^2 for the Gaussian
        _without_own_stratum(k**2, k**2 * special.hyp0f1(d / 2, squared**2 / 4), m) - k**2,
    ]
    # The offset feature counts half of a pair, and its own phase leaves its covariances as they are.
    n_pairs = m - n_single
    D = 2 * n_pairs + n_single
    weights = np.full(m, 2 / D)
    weights[n_pairs:] = 1 / D
    block = np.arange(m) // d
    pairs_in_block = np.bincount(block, weights) @ np.bincount(block, weights) - weights @ weights
    pairs_across = 1 - weights @ weights - pairs_in_block
    alone = n_pairs * (2 / D) ** 2 * (1 - k**2) ** 2 / 2 + n_single * (1 - k**2 + k**4 / 2) / D**2
    variance: Array = alone + pairs_in_block * between[0] + pairs_across * between[1]
    return np.maximum(variance, 0.0)


def _without_own_stratum(independent: Array, one_stratum: Array, m: int) -> Array:
    """Return the mean over radii of different strata, given that over independent radii and within one stratum."""
    if m == 1:
        return independent
    c = _CANDIDATES
    mean: Array = ((m * c - 1) * independent - (c - 1) * one_stratum) / ((m - 1) * c)
    return mean
