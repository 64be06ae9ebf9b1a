"""Features of rows from their kernel values with landmarks: k(X, landmarks) @ projection, by tiles of rows."""

from collections.abc import Callable

import numpy as np

from mercer import core
from mercer._typing import Array, Rows, is_sparse
from mercer.kernels import Gaussian, Kernel
from mercer.kernels.evaluation.gaussian_tiles import GaussianExponents

# Writes the features of a tile of rows into an array.
TileWriter = Callable[[Rows, Array], None]


def landmark_features(
    kernel: Kernel, landmarks: Rows, projection: Array, first: int, dtype: "np.dtype[np.floating]"
) -> TileWriter:
    """Return (X, out) -> out = k(X, landmarks) @ projection, whose column j is zero from row first + j on."""
    tile, weights = kernel.evaluator(landmarks, dtype), projection.astype(dtype)

    def general(X: Rows, out: Array) -> None:
        core.trapezoidal_product(tile(X), weights, first, out)

    if not isinstance(kernel, Gaussian) or is_sparse(landmarks):
        return general
    dense = _gaussian_features(landmarks, kernel.bandwidth, projection, first, dtype)
    return lambda X, out: general(X, out) if is_sparse(X) else dense(X, out)


def _gaussian_features(
    landmarks: Array, gamma: float, projection: Array, first: int, dtype: "np.dtype[np.floating]"
) -> TileWriter:
    """Return the features of dense rows by a Gaussian kernel, whose values are made and used in cache."""
    exponents = GaussianExponents(landmarks, gamma, dtype)
    weights = projection.astype(dtype, order="C")

    def write(X: Array, out: Array) -> None:
        left, far = exponents.left(X)
        core.landmark_features(left, exponents.right, weights, first, out)
        if far.size:
            out[far] = np.exp(np.minimum(exponents.exactly(X[far]), 0.0)) @ projection

    return write
