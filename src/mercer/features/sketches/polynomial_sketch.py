"""One or several Tensor Sketches of a polynomial kernel."""

from dataclasses import dataclass
from math import prod, sqrt
from typing import Self

import numpy as np

from mercer import core
from mercer._typing import Array, Rows
from mercer.features.base import Writer
from mercer.features.sketches.hashes import draw_hashes
from mercer.features.sketches.variances import PairMoments, power_sketch_variance
from mercer.kernels import Polynomial
from mercer.validation import check_memory


@dataclass(frozen=True)
class PolynomialSketch:
    """The average of several sketches of (gamma <x, y> + coef0)^degree, and their hashes."""

    kernel: Polynomial
    n_features_out: int
    index: Array
    sign: Array

    @classmethod
    def draw(
        cls, kernel: Polynomial, n_features: int, n_components: int, n_sketches: int, rng: np.random.RandomState
    ) -> Self:
        """Draw the hashes of ``n_sketches`` sketches, with ``n_components`` features in all."""
        shape = (n_sketches, kernel.degree, n_features + (kernel.coef0 > 0))
        what = f"hash tables of {n_sketches} sketches x {shape[1]} factors x {shape[2]} columns"
        check_memory("TensorSketch", "degree", kernel.degree, 5 * prod(shape), what)
        return cls(kernel, n_components, *draw_hashes(rng, n_components // n_sketches, shape))

    @property
    def is_random(self) -> bool:
        """True: every sketch is drawn."""
        return True

    @property
    def _width(self) -> int:
        return self.n_features_out // len(self.index)

    def writer(self, X: Rows) -> Writer:
        """Return the function that writes the features of ranges of rows of X."""
        # The factor 1/sqrt(t) of the average multiplies the rows, as its p-th root: a sketch is a product of p factors.
        share = len(self.index) ** (-0.5 / self.kernel.degree)
        scale, constant = share * sqrt(self.kernel.gamma), share * sqrt(self.kernel.coef0)
        width = self._width

        def write(rows: slice, out: Array) -> None:
            for i, (index, sign) in enumerate(zip(self.index, self.sign, strict=True)):
                core.tensor_sketch(X, rows, index, sign, scale, constant, out[:, i * width : (i + 1) * width])

        return write

    def scratch_bytes(self, X: Rows) -> float:
        """Return 0: the core needs no memory per row in addition to the features."""
        return 0.0

    def variance(self, X: Array, Y: Array) -> Array:
        """Return the exact variance of the estimate."""
        pairs = PairMoments.affine(X, Y, self.kernel.gamma, self.kernel.coef0)
        return power_sketch_variance(pairs, self.kernel.degree, self._width) / len(self.index)

    def bias(self, X: Array, Y: Array) -> float:
        """Return 0: the estimate is unbiased."""
        return 0.0

    def largest_feature(self, norm: float, X: Rows) -> float:
        """Return a bound of the features, and of all intermediate results, for rows of length at most ``norm``."""
        # Spectra are bounded by products of 1-norms, times 2 per factor (the core divides by this 2 at the end). The
        # inverse transform sums D spectrum entries before the division.
        one_norm = sqrt(self.kernel.gamma * X.shape[1]) * norm + sqrt(self.kernel.coef0)
        return float(self.n_features_out * (2 * one_norm) ** self.kernel.degree)

    def redrawn(self, rng: np.random.RandomState) -> Self:
        """Return the same sketch with new hashes."""
        index, sign = draw_hashes(rng, self._width, self.index.shape)
        return type(self)(self.kernel, self.n_features_out, index, sign)
