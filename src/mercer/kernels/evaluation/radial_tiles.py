"""Functions of the Euclidean distance to one fixed set of rows, in float32: one product per tile of the Gram matrix."""

from collections.abc import Callable

import numpy as np

from mercer._typing import Array
from mercer.kernels.evaluation.distances import squared_distances

# Below this share of |x|^2 + |y|^2 the expanded square has lost 3 of its 7 digits, and x - y is squared instead: the
# error of a distance r is then below 1e-5 |x| at all pairs.
_NEAR = 1e-3
# Squares of rows, in units of the kernel, beyond which a row is done in float64: up to here the error of r in units of
# the kernel is below 3e-4, and only where r is above 2.
_LARGEST_SQUARE = 4096.0
# Where more than one of so many pairs may be near, each pair is compared with its own bound.
_MANY = 64
# Entries of differences that are held at once.
_PAIR_ENTRIES = 2**20


def radial_tiles(Y: Array, inverse: float, profile: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return X -> profile(inverse |x - y|^2) for dense rows, in float32.

    ``profile`` may overwrite its argument. The square is expanded about the mean of Y. With two columns appended,
    [x, |x|^2, 1] . [-2 y, 1, |y|^2] is the squared distance, so that the distances cost a matrix product and one
    comparison.
    """
    centre = Y.mean(axis=0, dtype=np.float64)
    root = inverse**0.5
    fixed = ((Y - centre) * root).astype(np.float32)
    fixed_squares = np.einsum("ij,ij->i", fixed, fixed)
    right = np.concatenate([-2 * fixed.T, np.ones((1, len(Y)), dtype=np.float32), fixed_squares[None]])
    exact = np.flatnonzero(~(fixed_squares <= _LARGEST_SQUARE))

    def tile(X: Array) -> Array:
        left = np.ones((len(X), X.shape[1] + 2), dtype=np.float32)
        rows = left[:, :-2]
        rows[:] = (X - centre) * root
        squares = left[:, -2] = np.einsum("ij,ij->i", rows, rows)
        q = left @ right
        _repair_near(q, rows, fixed, squares, fixed_squares)
        far = np.flatnonzero(~(squares <= _LARGEST_SQUARE))
        if far.size:
            q[far] = inverse * squared_distances(X[far], Y)
        if exact.size:
            q[:, exact] = inverse * squared_distances(X, Y[exact])
        return np.asarray(profile(q), dtype=np.float32)

    return tile


def _repair_near(q: Array, rows: Array, fixed: Array, squares: Array, fixed_squares: Array) -> None:
    """Square the differences of pairs that are near to each other relative to their distance from the centre."""
    i, j = _near_pairs(q, _NEAR * squares, _NEAR * fixed_squares)
    step = max(1, _PAIR_ENTRIES // max(1, rows.shape[1]))
    for start in range(0, len(i), step):
        some = slice(start, start + step)
        difference = rows[i[some]] - fixed[j[some]]
        q[i[some], j[some]] = np.einsum("ij,ij->i", difference, difference)


def _near_pairs(q: Array, bounds: Array, fixed_bounds: Array) -> tuple[Array, Array]:
    """Return the places where q is at most the sum of the bounds of its row and of its column."""
    # The largest bound of the columns first: a matrix of sums costs as much as the product that made q. Pairs with a
    # row beyond _LARGEST_SQUARE are not counted, and computed anew anyway.
    largest = np.fmin(fixed_bounds, _NEAR * _LARGEST_SQUARE).max(initial=0)
    places = np.flatnonzero(q <= (bounds + largest)[:, None])
    if _MANY * len(places) > q.size:
        places = np.flatnonzero(q <= np.add.outer(bounds, fixed_bounds))
    i, j = np.divmod(places, len(fixed_bounds))
    near = q[i, j] <= bounds[i] + fixed_bounds[j]
    return i[near], j[near]
