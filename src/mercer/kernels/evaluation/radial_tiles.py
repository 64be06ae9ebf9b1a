"""Functions of the Euclidean distance to one fixed set of rows, in float32: one compiled call per tile of distances."""

from collections.abc import Callable

import numpy as np

from mercer import core
from mercer._typing import Array
from mercer.kernels.evaluation.distances import squared_distances

# Up to so many columns, squares of differences cost less than a product (measured), and lose no digit.
_FEW_COLUMNS = 32
# Units in which squares of differences that float32 cannot hold are 0 or far beyond every length scale.
_PLAIN_UNITS = 1e-30, 1e30
# Below this share of |x|^2 + |y|^2 the expanded square has lost 3 of its 7 digits, and x - y is squared instead: the
# error of a distance r is then below 1e-5 |x| at all pairs.
_NEAR = 1e-3
# Squares of rows, in units of the kernel, beyond which a row is done in float64: up to here the error of r in units of
# the kernel is below 3e-4, and only where r is above 2.
_LARGEST_SQUARE = 4096.0


def radial_tiles(Y: Array, inverse: float, profile: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return X -> profile(inverse |x - y|^2) for dense rows, in float32.

    ``profile`` may overwrite its argument. Differences of few columns of float32 are squared and summed as they are, so
    that no digit is lost. Other tiles expand the square.
    """
    if not (has_few_columns(Y) and _PLAIN_UNITS[0] < inverse < _PLAIN_UNITS[1]):
        return _from_product(Y, inverse, profile)
    fixed = np.ascontiguousarray(Y)

    def tile(X: Array) -> Array:
        if X.dtype != np.float32:
            return _from_product(Y, inverse, profile)(X)
        q = core.squared_distances(np.ascontiguousarray(X), fixed)
        q *= np.float32(inverse)
        return np.asarray(profile(q), dtype=np.float32)

    return tile


def has_few_columns(Y: Array) -> bool:
    """Tell whether differences from these rows cost less than products with them."""
    return Y.dtype == np.float32 and Y.shape[1] <= _FEW_COLUMNS


def _from_product(Y: Array, inverse: float, profile: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Expand the square about the mean of Y.

    With two columns appended, [x, |x|^2, 1] . [-2 y, 1, |y|^2] is the squared distance, so that the distances cost a
    matrix product and one comparison.
    """
    centre = Y.mean(axis=0, dtype=np.float64)
    root = inverse**0.5
    fixed = ((Y - centre) * root).astype(np.float32)
    fixed_squares = np.einsum("ij,ij->i", fixed, fixed)
    right = np.concatenate([-2 * fixed.T, np.ones((1, len(Y)), dtype=np.float32), fixed_squares[None]])
    fixed_bounds = _NEAR * fixed_squares
    exact = np.flatnonzero(~(fixed_squares <= _LARGEST_SQUARE))

    def tile(X: Array) -> Array:
        left = np.ones((len(X), X.shape[1] + 2), dtype=np.float32)
        rows = left[:, :-2]
        rows[:] = (X - centre) * root
        squares = left[:, -2] = np.einsum("ij,ij->i", rows, rows)
        q = left @ right
        core.near_squares(rows, fixed, _NEAR * squares, fixed_bounds, q)
        far = np.flatnonzero(~(squares <= _LARGEST_SQUARE))
        if far.size:
            q[far] = inverse * squared_distances(X[far], Y)
        if exact.size:
            q[:, exact] = inverse * squared_distances(X, Y[exact])
        return np.asarray(profile(q), dtype=np.float32)

    return tile
