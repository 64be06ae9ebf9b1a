"""Tensor Sketches of the degrees of a series: Gaussian, exponential and other dot-product kernels."""

from dataclasses import dataclass
from typing import Self, cast

import numpy as np

from mercer._typing import Array, Rows
from mercer.features.base import Writer
from mercer.features.sketches.degrees import check_radius, largest_square
from mercer.features.sketches.expansions import Expansion, exponential_expansion, gaussian_expansion, series_expansion
from mercer.features.sketches.strata import Strata
from mercer.kernels import DotProductKernel, Exponential, Gaussian, Kernel


@dataclass(frozen=True)
class SeriesSketch:
    """One sketch per degree of a kernel's series; low degrees have exact features if there are enough features."""

    kernel: Kernel
    strata: Strata
    truncated_at: int | None

    @classmethod
    def draw(cls, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> Self:
        """Allocate the features to the degrees by their variance on the rows of X, and draw the sketches."""
        expansion = _expansion(kernel, X)
        strata = Strata.on_rows("TensorSketch", expansion, X, n_components, rng)
        endless = isinstance(kernel, Gaussian) or cast(DotProductKernel, kernel).last_degree is None
        return cls(kernel, strata, expansion.last_degree if endless else None)

    @property
    def is_random(self) -> bool:
        """Whether any degree is sketched."""
        return self.strata.is_random

    def truncation_error(self, X: Rows) -> float:
        """Return the largest part of the kernel, on the rows of X, that the degrees above the last degree carry."""
        return self.strata.expansion.beyond(self.kernel, X)

    def writer(self, X: Rows) -> Writer:
        """Return the function that writes the features of ranges of rows of X."""
        return self.strata.writer(X)

    def scratch_bytes(self, X: Rows) -> float:
        """Return the bytes of working memory per row, in addition to the features."""
        return self.strata.scratch_bytes(X)

    def variance(self, X: Array, Y: Array) -> Array:
        """Return the exact variance of the estimate."""
        return self.strata.variance(X, Y)

    def bias(self, X: Array, Y: Array) -> Array | float:
        """Return the bias, which comes from the degrees left out."""
        if self.truncated_at is None and not self.strata.allocation.dropped:
            return 0.0
        return self.strata.mean(X, Y) - self.kernel.evaluate(X, Y)

    def largest_feature(self, norm: float, X: Rows) -> float:
        """Return infinity: no bound is known."""
        return np.inf

    def redrawn(self, rng: np.random.RandomState) -> Self:
        """Return a sketch with new hashes and the same number of features per degree."""
        return type(self)(self.kernel, self.strata.redrawn(rng), self.truncated_at)


def _expansion(kernel: Kernel, X: Rows) -> Expansion:
    if isinstance(kernel, Gaussian):
        return gaussian_expansion(kernel, X)
    if isinstance(kernel, Exponential):
        return exponential_expansion(kernel, X)
    product = cast(DotProductKernel, kernel)
    check_radius("TensorSketch", product, largest_square(X))
    return series_expansion("TensorSketch", product, X.shape[1])
