"""Cosines and sines of projections on frequencies: what all Fourier maps share, whatever their frequencies."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from mercer import core
from mercer._typing import Array, Rows, override
from mercer.config import DEFAULT_BLOCK_ROWS, get_config
from mercer.features.base import Writer
from mercer.features.cache import cached
from mercer.features.kernel_map import KernelMap
from mercer.kernels import Gaussian, Kernel
from mercer.kernels.frequencies import frequency_distribution, is_shift_invariant
from mercer.parallel import shared_rows
from mercer.state import Reals, Sizes, Stored, require
from mercer.validation import block_norm, check_finite_features, check_memory

# Rows per block: every block copies the frequencies in the order that the product reads them.
_TALL_BLOCK = 1024
# Frequencies beyond this size are in no cache: reading them is what a block costs, and all blocks are tall.
_MANY_FREQUENCIES = 2**22


class Projections(ABC):
    """How rows are projected on the frequencies of a fitted map."""

    @abstractmethod
    def writer(self, X: Rows, offsets: Array, scale: float) -> Writer:
        """Return the function that writes cosines and sines of ranges of rows, times ``scale``; offsets in turns."""

    def scratch_bytes(self, X: Rows) -> float:
        """Return the bytes that a row needs on top of its features while they are made."""
        return 0.0

    def block_rows(self, n_rows: int) -> int:
        """Return the number of rows per block."""
        return get_config().block_rows


@dataclass(frozen=True)
class MatrixProjections(Projections):
    """Products with a matrix of frequencies. The matrix in X's precision is cached for ``owner``."""

    owner: object
    frequencies: Array

    @override
    def writer(self, X: Rows, offsets: Array, scale: float) -> Writer:
        turns = cached(self.owner, self.frequencies, X.dtype.str, lambda: self._turns(X.dtype))
        return lambda rows, out: core.fourier(X, rows, turns, offsets, scale, out)

    def _turns(self, dtype: np.dtype[np.floating]) -> Array:
        turns: Array = np.empty(self.frequencies.shape, dtype=dtype)
        return np.divide(self.frequencies, 2 * np.pi, out=turns, casting="same_kind")  # rounded once, from float64

    @override
    def block_rows(self, n_rows: int) -> int:
        config = get_config()
        if config.block_rows != DEFAULT_BLOCK_ROWS:
            return config.block_rows
        least = _TALL_BLOCK if self.frequencies.size > _MANY_FREQUENCIES else config.block_rows
        return shared_rows(n_rows, least, _TALL_BLOCK)


class PhaseFeatures(KernelMap):
    """Cosines and sines of projections on frequencies; a subclass draws these and says how rows are projected on them.

    The output is [cosines, sines] of the pairs, then, where ``n_components`` is odd, one cosine with a random offset.
    Every feature has the factor sqrt(2 / D), so that the estimate of each frequency is weighted by its features.
    """

    offsets_: Array

    # m frequencies, s of them with an offset instead of a pair.
    _stored = Stored(
        offsets_=Reals(("s",), 0.0, most=2 * np.pi),
    )

    _natural_kernel = Gaussian()

    @property
    @abstractmethod
    def projections(self) -> Projections:
        """How rows are projected on the fitted frequencies."""

    def _n_single(self, n_components: int) -> int:
        """Return how many features are cosines with an offset."""
        return n_components % 2

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        sound = sizes["s"] <= sizes["m"] and sizes["D"] == 2 * sizes["m"] - sizes["s"]
        require(sound, "n_features_out must be twice the frequencies less the offsets")

    @override
    def writer(self, X: Rows) -> Writer:
        return self.scaled_writer(X, (2 / self.n_features_out_) ** 0.5)

    def scaled_writer(self, X: Rows, scale: float) -> Writer:
        """Return the function that writes cosines and sines of ranges of rows of X, times ``scale``."""
        offsets = (self.offsets_ / (2 * np.pi)).astype(X.dtype)
        return self.projections.writer(X, offsets, scale)

    @override
    def _write_checked(self, write: Writer, X: Rows, rows: slice, out: Array) -> None:
        write_phases(type(self).__name__, write, X, rows, out)

    @override
    def block_rows(self, n_rows: int) -> int:
        return self.projections.block_rows(n_rows)

    @override
    def scratch_bytes(self, X: Rows) -> float:
        return self.projections.scratch_bytes(X)

    @override
    def reaches(self, n_features: int, level: float) -> Array | None:
        return frequency_distribution(self.kernel_, n_features).reaches(level)


class MatrixPhases(PhaseFeatures):
    """Phases from a matrix of frequencies; a subclass writes ``_frequencies``, the draw of them."""

    _stored = Stored(
        frequencies_=Reals(("d", "m")),
    )

    @abstractmethod
    def _frequencies(self, kernel: Kernel, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> Array:
        """Draw frequencies, one per column."""

    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        n_single = self._n_single(n_components)
        n_frequencies = (n_components + n_single) // 2
        check_frequencies(type(self).__name__, n_components, n_frequencies, X.shape[1])
        self.frequencies_ = self._frequencies(kernel, n_frequencies, X.shape[1], rng)
        self.offsets_ = rng.uniform(0, 2 * np.pi, n_single)
        return n_components

    @property
    @override
    def projections(self) -> Projections:
        return MatrixProjections(self, self.frequencies_)

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        return 1 + norm * float(np.linalg.norm(self.frequencies_))


def check_frequencies(owner: str, n_components: int, n_frequencies: int, n_features: int) -> None:
    """Refuse a matrix of frequencies beyond memory."""
    # The frequencies, and as much again while they are drawn; later that much in turns, in X's precision.
    needed = 16 * (n_features + 1) * n_frequencies
    check_memory(owner, "n_components", n_components, needed, f"{n_frequencies} frequencies of {n_features} columns")


def write_phases(owner: str, write: Writer, X: Rows, rows: slice, out: Array) -> None:
    """Write cosines and sines of a block, refusing what is not finite.

    A row that is not finite, or a projection that overflows, shows in the phases: rows need no other check.
    """
    if not write(rows, out):
        block_norm(owner, "X", X, rows)
        check_finite_features(owner, out, rows.start)


def require_shift_invariant(owner: str, kernel: Kernel) -> None:
    """Refuse a kernel that has no distribution of frequencies."""
    if not is_shift_invariant(kernel):
        raise ValueError(
            f"{owner}: kernel must be shift-invariant, such as Gaussian, Laplacian or Matern, or a product of such "
            f"kernels, got {kernel!r}. feature_map(kernel, n_components=...) chooses a map for any kernel that has one."
        )


def phase_variance(kernel: Kernel, X: Array, Y: Array, n_components: int, n_single: int) -> Array:
    """Return the variance of an estimate from independent frequencies, ``n_single`` of the features with offsets."""
    k, double = kernel(X, Y), kernel(2 * X, 2 * Y)
    pair, single = 1 + double - 2 * k**2, 1 + double / 2 - k**2
    variance: Array = ((n_components - n_single) * pair + n_single * single) / n_components**2
    return np.maximum(variance, 0.0)
