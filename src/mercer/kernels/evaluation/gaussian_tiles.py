"""The Gaussian kernel against one fixed set of rows: one product and one exponential per tile of the Gram matrix."""

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from mercer import core
from mercer._typing import Array

# The exponent -gamma |x - y|^2 is summed from terms as large as gamma |x|^2, with that many roundings of float32:
# up to this size they cost 4e-6 of k(x, y) at most. Rows beyond it are few after centring, and are done in float64.
_LARGEST_EXPONENT = 64.0


def gaussian_tiles(Y: Array, gamma: float, dtype: DTypeLike) -> Callable[[Array], Array]:
    """Return X -> exp(-gamma |x - y|^2) for dense rows, the expansion of the square centred on the mean of Y.

    With two columns appended, [x, -gamma |x|^2, 1] . [2 gamma y, 1, -gamma |y|^2] is the exponent, so the distances
    cost a matrix product and no other pass. Centring keeps |x| and |y| as small as their difference allows:
    without it, rows far from the origin lose their distance to cancellation.
    """
    exponents = GaussianExponents(Y, gamma, dtype)

    def tile(X: Array) -> Array:
        left, far = exponents.left(X)
        values = left @ exponents.right
        if far.size:
            values[far] = exponents.exactly(X[far])
        core.decays(1.0, values)
        return np.asarray(values)

    return tile


class GaussianExponents:
    """The two factors of the exponents, and which rows float32 is too short for."""

    def __init__(self, Y: Array, gamma: float, dtype: DTypeLike):
        self._centre, self._gamma, self._dtype = Y.mean(axis=0, dtype=np.float64), gamma, np.dtype(dtype)
        self._exact = _appended(Y, self._centre, gamma)
        self.right = self._exact.astype(dtype)

    def left(self, X: Array) -> tuple[Array, Array]:
        """Return the left factor of rows, and the numbers of those that need float64."""
        left = np.empty((X.shape[0], X.shape[1] + 2), dtype=self._dtype)
        np.subtract(X, self._centre, out=left[:, :-2], casting="unsafe")
        squares = self._gamma * np.einsum("ij,ij->i", left[:, :-2], left[:, :-2])
        left[:, -2], left[:, -1] = -squares, 1.0
        near = squares <= _LARGEST_EXPONENT  # not so where they overflow, nor where inf times a gamma of 0 is NaN
        far = np.flatnonzero(~near) if self._dtype == np.float32 else np.empty(0, dtype=np.intp)
        return left, far

    def exactly(self, X: Array) -> Array:
        """Return the exponents in float64."""
        return np.asarray(_left(X, self._centre, self._gamma) @ self._exact)


def _appended(Y: Array, centre: Array, gamma: float) -> Array:
    centred = Y - centre
    right = np.empty((Y.shape[1] + 2, Y.shape[0]))
    right[:-2] = 2 * gamma * centred.T
    right[-2] = 1.0
    right[-1] = -gamma * np.einsum("ij,ij->i", centred, centred)
    return right


def _left(X: Array, centre: Array, gamma: float) -> Array:
    left = np.empty((X.shape[0], X.shape[1] + 2))
    np.subtract(X, centre, out=left[:, :-2])
    left[:, -2] = -gamma * np.einsum("ij,ij->i", left[:, :-2], left[:, :-2])
    left[:, -1] = 1.0
    return left
