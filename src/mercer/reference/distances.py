"""L1 and squared distances to fixed rows, as sums over columns."""

import numpy as np

from mercer._typing import Array


def absolute_distances(X: Array, fixed: Array, out: Array) -> None:
    """Write the sums over the columns of |x - y| for all pairs of rows of ``X`` (n, d) and of ``fixed`` (m, d)."""
    for x, distances in zip(X, out, strict=True):
        np.abs(fixed - x).sum(axis=1, out=distances)


def squared_distances(X: Array, fixed: Array, out: Array) -> None:
    """Write the sums over the columns of (x - y)^2 for all pairs of rows of ``X`` (n, d) and of ``fixed`` (m, d)."""
    for x, distances in zip(X, out, strict=True):
        np.square(fixed - x).sum(axis=1, out=distances)
