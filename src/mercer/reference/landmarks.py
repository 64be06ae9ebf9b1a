"""Features from kernel values at landmarks, by a projection; known zeros of the projection are skipped."""

import numpy as np

from mercer._typing import Array

_PANEL = 128  # columns per product: narrow enough to skip most zeros, wide enough for BLAS


def landmark_features(left: Array, right: Array, projection: Array, first: int, out: Array) -> None:
    """Overwrite ``out`` with exp(min(left @ right, 0)) @ projection, whose column j is zero from row first + j on."""
    values = left @ right
    np.minimum(values, 0.0, out=values)
    np.exp(values, out=values)
    trapezoidal_product(values, projection, first, out)


def trapezoidal_product(K: Array, projection: Array, first: int, out: Array) -> None:
    """Overwrite ``out`` with K @ projection, whose column j is zero from row first + j on."""
    width = projection.shape[1]
    for start in range(0, width, _PANEL):
        stop = min(start + _PANEL, width)
        used = min(first + stop - 1, len(projection))
        np.matmul(K[:, :used], projection[:used, start:stop], out=out[:, start:stop])
