"""Tiles of the Gaussian Gram matrix against one fixed set of rows: one product and one exponential a tile."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._typing import Array

# The exponent -gamma |x - y|^2 is summed from terms as large as gamma |x|^2, with that many roundings of float32:
# up to this size they cost 4e-6 of k(x, y) at most. Rows beyond it are few after centring, and are done in float64.
_LARGEST_EXPONENT = 64.0


def gaussian_tiles(Y: Array, gamma: float, dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    """Return X -> exp(-gamma |x - y|^2) for dense rows, the expansion of the square centred on the mean of Y.

    With two columns appended, [x, -gamma |x|^2, 1] . [2 gamma y, 1, -gamma |y|^2] is the exponent, so the distances
    cost a matrix product and no pass of their own. Centring keeps |x| and |y| as small as their difference allows:
    without it, rows far from the origin lose their distance to cancellation.
    """
    centre = Y.mean(axis=0, dtype=np.float64)
    exact = _appended(Y, centre, gamma)
    right = exact.astype(dtype)

    def tile(X: Array) -> Array:
        left = np.empty((X.shape[0], X.shape[1] + 2), dtype=dtype)
        np.subtract(X, centre, out=left[:, :-2], casting="unsafe")
        squares = gamma * np.einsum("ij,ij->i", left[:, :-2], left[:, :-2])
        left[:, -2], left[:, -1] = -squares, 1.0
        exponent = left @ right
        if dtype == np.float32 and (far := np.flatnonzero(squares > _LARGEST_EXPONENT)).size:
            exponent[far] = _left(X[far], centre, gamma) @ exact
        np.minimum(exponent, 0.0, out=exponent)
        np.exp(exponent, out=exponent)
        return np.asarray(exponent)

    return tile


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
