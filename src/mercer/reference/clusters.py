"""Nearest centres of rows, with bounds that tell which rows can have a new one (Elkan, 2003).

Of n rows and k centres, ``labels`` (int32, -1 where there is none yet), ``upper`` (n,) and ``lower`` (k, n) hold each
row's centre, an upper bound of the distance to it and lower bounds of those to all others, inf at its own. Bounds are
float32, and widened by what rounding may take, so that they hold.
"""

from typing import Any

import numpy as np

from mercer._typing import Array

_EPS = np.finfo(np.float32).eps


def move_bounds(moved: Array, labels: Array, upper: Array, lower: Array, doubt: Array) -> int:
    """Move the bounds by how far each centre moved (float32); write the rows in doubt and return their number."""
    lower -= moved[:, None]
    upper += np.where(labels < 0, np.float32(0), moved[labels])
    lower *= 1 - 2 * _EPS
    upper *= 1 + 2 * _EPS
    found = np.flatnonzero(~(lower.min(axis=0) >= upper) | (labels < 0))
    doubt[: len(found)] = found
    return len(found)


def nearest_centres(
    Z: Any,
    rows: Array,
    centres: Array,
    slack: float,
    longest: float,
    weight: Array,
    norms: Array,
    labels: Array,
    upper: Array,
    lower: Array,
    sums: Array,
    totals: Array,
) -> int:
    """Find the nearest centres of some of n rows and set their bounds; return how many have left another centre.

    ``Z`` holds the features of all n rows, or of the given ones alone. Rounding may take ``slack`` of the squared
    lengths of a row and of the ``longest`` centre from a squared distance. ``norms`` (n,) holds the squared lengths of
    the rows, and receives those of rows without a label. A row with a new label adds its ``weight`` (n, or none: 1) to
    ``totals`` (k,) and its weighted features to ``sums`` (k, D), and takes them from those of its old label.
    """
    Z = Z if Z.shape[0] == len(rows) else Z[rows]
    old = labels[rows]
    norms[rows] = np.where(old < 0, squared_norms(Z), norms[rows])
    squares = squared_distances(Z, norms[rows], centres)
    new, nearest = nearest_of(squares)
    off = slack * (norms[rows] + longest)
    upper[rows] = np.sqrt(np.maximum(nearest, 0) + off).astype(np.float32) * (1 + 4 * _EPS)
    bounds = np.sqrt(np.maximum(squares - off.astype(squares.dtype), 0)).astype(np.float32) * (1 - 4 * _EPS)
    bounds[new, np.arange(len(rows))] = np.inf
    lower[:, rows] = bounds
    labels[rows] = new
    changed = np.flatnonzero(old != new)
    factor = weight[rows[changed]] if len(weight) else np.ones(len(changed))
    member = np.zeros((len(totals), len(changed)))
    member[new[changed], np.arange(len(changed))] = factor
    left = np.flatnonzero(old[changed] >= 0)
    member[old[changed[left]], left] = -factor[left]
    sums += member @ Z[changed].astype(np.float64)
    totals += member.sum(axis=1)
    return len(left)


def squared_norms(Z: Any) -> Array:
    """Return the squared length of each row, dense or CSR, in float64 sums of Z's own products."""
    if not isinstance(Z, np.ndarray):  # CSR
        return np.asarray(Z.multiply(Z).sum(axis=1, dtype=np.float64)).ravel()
    norms: Array = np.einsum("ij,ij->i", Z, Z).astype(np.float64)
    return norms


def squared_distances(Z: Any, norms: Array, centres: Array) -> Array:
    """Return squared distances of centres (down) to rows (across), in Z's precision; rounding may leave them < 0."""
    C = centres.astype(Z.dtype, copy=False)
    squares: Array = np.asarray((Z @ C.T).T) if not isinstance(Z, np.ndarray) else C @ Z.T
    squares *= -2
    squares += norms.astype(Z.dtype, copy=False)
    squares += np.einsum("kd,kd->k", C, C)[:, None]
    return squares


def nearest_of(squares: Array) -> tuple[Array, Array]:
    """Return the number and the value of the least entry of each column, the first of equal ones.

    A row at a time: NumPy's argmin down the columns was measured 3 to 5 times slower.

    >>> import numpy as np
    >>> [part.tolist() for part in nearest_of(np.array([[3.0, 1.0], [2.0, 1.0]]))]
    [[1, 0], [2.0, 1.0]]
    """
    labels, least = np.zeros(squares.shape[1], dtype=np.int32), squares[0].copy()
    for number, row in enumerate(squares[1:], 1):
        np.copyto(labels, number, where=row < least)
        np.minimum(least, row, out=least)
    return labels, least
