"""Tiles of kernels of distances: near pairs, exponentials, and Matern functions in closed form."""

import numpy as np

from mercer._typing import Array

# Entries of differences that are held at once.
_PAIR_ENTRIES = 2**20
# Every Matern function is 0 from here on. A polynomial of an infinite root times 0 would have no value.
_FAR = 1e6


def near_squares(X: Array, fixed: Array, bounds: Array, fixed_bounds: Array, q: Array) -> None:
    """Square the differences of those pairs of rows of ``X`` (n, d) and ``fixed`` (m, d) that are near.

    A pair is near if its entry of ``q`` (n, m) is at most the sum of the bounds of its two rows.
    """
    i, j = np.nonzero(q <= np.add.outer(bounds, fixed_bounds))
    step = max(1, _PAIR_ENTRIES // max(1, X.shape[1]))
    for start in range(0, len(i), step):
        some = slice(start, start + step)
        difference = X[i[some]] - fixed[j[some]]
        q[i[some], j[some]] = np.einsum("ij,ij->i", difference, difference)


def matern_values(scale: float, linear: float, quadratic: float, values: Array) -> None:
    """Overwrite ``values`` (n, m) by (1 + linear t + quadratic t^2) exp(-t) with t = sqrt(scale values)."""
    values *= scale
    t = np.minimum(np.sqrt(values, out=values), _FAR)
    np.exp(-t, out=values)
    if linear or quadratic:
        values *= 1 + t * (linear + t * quadratic)


def decays(factor: float, values: Array) -> None:
    """Overwrite ``values`` (n, m) by exp(min(factor values, 0))."""
    values *= factor
    np.exp(np.minimum(values, 0.0, out=values), out=values)
