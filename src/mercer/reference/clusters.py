"""Nearest centres of rows, found from few products where these suffice.

Of n rows, ``labels`` (int32, -1 where there is none yet), ``norms`` (float64) and ``margins`` (float32) hold each row's
centre, its squared length, and by how much all other centres are farther from it, at least: so that it holds whatever
rounding takes.
"""

from typing import Any

import numpy as np

from mercer._typing import Array

_EPS = np.finfo(np.float32).eps


def rows_in_doubt(
    moved: Array,
    heads: Array,
    rests: Array,
    centre_heads: Array,
    centre_sizes: Array,
    apart: Array,
    slack: float,
    longest: float,
    norms: Array,
    labels: Array,
    margins: Array,
    doubt: Array,
    candidates: Array,
) -> int:
    """Write the rows whose features are needed to find their centres or to change them; return their number.

    ``moved`` (k,) says how much of a margin the centres' moves take, by the row's own centre. Rows whose margin is gone
    are judged by their ``heads`` (n, h), products with h orthonormal directions, which leave a rest of the lengths
    ``rests`` (n,). ``centre_heads`` (k, h) are those of the centres; ``centre_sizes`` (3, k) their squared lengths, the
    lengths of their rests, and the distances of these from their mean; ``apart`` (k, k) those from each other.
    ``candidates`` (n, k / 64) receives a bit for each centre that a row in doubt may be nearest to; of rows with more
    than one, the margin receives by how much the others are farther in squares. Rows with one have only to be moved to
    it. Without columns of ``heads``, rows whose margin is gone are in doubt between all centres.
    """
    margins -= moved[labels]
    margins *= 1 - 2 * _EPS
    rows = np.flatnonzero(~(margins > 0))
    if not heads.shape[1]:
        doubt[: len(rows)] = rows
        return len(rows)
    lengths, centre_rests, spreads = centre_sizes
    scores = lengths[:, None] - 2 * (centre_heads @ heads[rows].T)
    label, score = nearest_of(scores)
    own = np.arange(len(lengths))[:, None] == label
    rest, off = 2 * rests[rows], (2 * slack * (norms[rows] + longest)).astype(np.float32)
    low = np.where(own, np.float32(np.inf), scores - rest * spreads[:, None]).min(axis=0)
    gap = low - (score + rest * spreads[label] + off)
    more = scores - rest * apart[label].T - (score + off)
    possible = own | ~(more > 0)
    unclear = ~(gap > 0) | (label != labels[rows])
    gap[unclear] = np.where(possible, np.float32(np.inf), more).min(axis=0)[unclear]
    several = unclear & (possible.sum(axis=0) > 1)
    square = (norms[rows].astype(np.float32) + off) + (score + rest * centre_rests[label])
    margins[rows] = np.where(several, gap, _margin(square, gap))
    found = np.flatnonzero(several | (label != labels[rows]))
    doubt[: len(found)] = rows[found]
    _write_bits(possible[:, found], candidates)
    return len(found)


def _write_bits(chosen: Array, words: Array) -> None:
    """Write for each column of ``chosen`` a row of 64-bit words with a bit for each of its rows."""
    for word in range(words.shape[1]):
        bits = chosen[64 * word : 64 * (word + 1)]
        powers = np.uint64(1) << np.arange(len(bits), dtype=np.uint64)
        words[: bits.shape[1], word] = powers @ bits.astype(np.uint64)


def nearest_centres(
    Z: Any,
    rows: Array,
    candidates: Array,
    products: Array,
    centres: Array,
    slack: float,
    longest: float,
    weight: Array,
    norms: Array,
    labels: Array,
    margins: Array,
    sums: Array,
    totals: Array,
) -> int:
    """Find the nearest centres of some of n rows and set their margins; return how many have left another centre.

    ``Z`` holds the features of all n rows, or of the given ones alone; ``candidates`` is that of ``rows_in_doubt``, or
    ``products`` holds those with all k centres, the other has no columns. Rounding may take ``slack`` of the squared
    lengths of a row and of the ``longest`` centre from a squared distance. ``norms`` receives those of rows without a
    label. A row with a new label adds its ``weight`` (n, or none: 1) to ``totals`` (k,) and its weighted features to
    ``sums`` (k, D), and takes them from those of its old label.
    """
    Z = Z if Z.shape[0] == len(rows) else Z[rows]
    old = labels[rows]
    norms[rows] = np.where(old < 0, squared_norms(Z), norms[rows])
    others, single = np.full(len(rows), np.inf), np.zeros(len(rows), dtype=bool)
    if products.shape[1]:
        squares = squares_of(products.T, norms[rows], centres)
    else:
        squares = squared_distances(Z, norms[rows], centres)
        number = np.arange(len(centres), dtype=np.uint64)
        possible = (candidates[:, number // 64] >> number % 64 & np.uint64(1)).T.astype(bool)
        squares[~possible] = np.inf
        others, single = margins[rows].astype(np.float64), possible.sum(axis=0) == 1
    new, nearest = nearest_of(squares)
    squares[new, np.arange(len(rows))] = np.inf
    off = slack * (norms[rows] + longest)
    gap = np.minimum(squares.min(axis=0).astype(np.float64) - nearest - 2 * off, others)
    own = (np.maximum(nearest, 0) + off).astype(np.float32)
    margins[rows] = np.where(single, margins[rows], _margin(own, gap.astype(np.float32)))
    labels[rows] = new
    changed = np.flatnonzero(old != new)
    factor = weight[rows[changed]] if len(weight) else np.ones(len(changed))
    member, n_left = _changes(old[changed], new[changed], factor, len(totals))
    sums += member @ Z[changed].astype(np.float64)
    totals += member.sum(axis=1)
    return n_left


def _changes(old: Array, new: Array, factor: Array, n_clusters: int) -> tuple[Array, int]:
    """Return how much of each row (across) comes to each cluster or goes from it, and how many rows left one."""
    member = np.zeros((n_clusters, len(new)))
    member[new, np.arange(len(new))] = factor
    left = np.flatnonzero(old >= 0)
    member[old[left], left] = -factor[left]
    return member, len(left)


def _margin(own: Array, gap: Array) -> Array:
    """Return sqrt(own + gap) - sqrt(own): by how much a centre is farther that is by ``gap`` farther in squares.

    It falls as ``own``, the square of the distance to the own centre, grows: of an upper bound it is a lower one.
    """
    own, far = np.maximum(own, 0), np.clip(gap, 0, np.float32(1e38))
    with np.errstate(invalid="ignore"):
        margin = far / (np.sqrt(own + far) + np.sqrt(own)) * (1 - 8 * _EPS)
    return np.where(gap > 0, margin, np.float32(-1))


def squared_norms(Z: Any) -> Array:
    """Return the squared length of each row, dense or CSR, in float64 sums of Z's own products."""
    if not isinstance(Z, np.ndarray):  # CSR
        return np.asarray(Z.multiply(Z).sum(axis=1, dtype=np.float64)).ravel()
    norms: Array = np.einsum("ij,ij->i", Z, Z).astype(np.float64)
    return norms


def squared_distances(Z: Any, norms: Array, centres: Array) -> Array:
    """Return squared distances of centres (down) to rows (across), in Z's precision; rounding may leave them < 0."""
    C = centres.astype(Z.dtype, copy=False)
    return squares_of(np.asarray((Z @ C.T).T) if not isinstance(Z, np.ndarray) else C @ Z.T, norms, C)


def squares_of(products: Array, norms: Array, centres: Array) -> Array:
    """Return the squared distances of centres (down) to rows (across) from their products."""
    squares: Array = -2 * products
    squares += norms.astype(products.dtype, copy=False)
    squares += np.einsum("kd,kd->k", centres, centres)[:, None]
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
