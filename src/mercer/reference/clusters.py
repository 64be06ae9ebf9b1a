"""Nearest centres of rows, found from few products where these are enough.

A row keeps a margin: a lower bound, with rounding subtracted, of how much farther all other centres are than its own.
"""

import numpy as np

from mercer._typing import Array, Rows
from mercer.linalg import nearest_of, squared_distances, squared_norms, squares_of
from mercer.reference.types import ClusterChanges, ClusterDoubts, ClusterHeads, ClusterRows, ClusterScale

_EPS = np.finfo(np.float32).eps


def rows_in_doubt(
    moved: Array, heads: ClusterHeads, scale: ClusterScale, state: ClusterRows, doubts: ClusterDoubts
) -> int:
    """Write the rows whose features are needed, to find their nearest centre or to move them; return their number.

    First ``moved[c]`` is subtracted from the margin of each row of cluster c: by so much the moves of the centres may
    have shortened it. Rows whose margin is used up are judged by their heads. ``doubts.candidates`` receives one bit
    for each centre that a row in doubt may be nearest to. If a row has several candidates, its margin receives by how
    much the other centres are farther, in squared distance. If it has one candidate, it only has to move there.
    Without heads, every row whose margin is used up is in doubt between all centres.
    """
    norms, labels, margins = state
    table, rests, centre_heads, centre_sizes, apart = heads
    slack, longest = scale
    margins -= moved[labels]
    margins *= 1 - 2 * _EPS
    judged = np.flatnonzero(~(margins > 0))
    if not table.shape[1]:
        doubts.rows[: len(judged)] = judged
        return len(judged)
    lengths, centre_rests, spreads = centre_sizes
    scores = lengths[:, None] - 2 * (centre_heads @ table[judged].T)
    label, score = nearest_of(scores)
    own = np.arange(len(lengths))[:, None] == label
    rest, off = 2 * rests[judged], (2 * slack * (norms[judged] + longest)).astype(np.float32)
    low = np.where(own, np.float32(np.inf), scores - rest * spreads[:, None]).min(axis=0)
    gap = low - (score + rest * spreads[label] + off)
    more = scores - rest * apart[label].T - (score + off)
    possible = own | ~(more > 0)
    unclear = ~(gap > 0) | (label != labels[judged])
    gap[unclear] = np.where(possible, np.float32(np.inf), more).min(axis=0)[unclear]
    several = unclear & (possible.sum(axis=0) > 1)
    square = (norms[judged].astype(np.float32) + off) + (score + rest * centre_rests[label])
    margins[judged] = np.where(several, gap, _margin(square, gap))
    found = np.flatnonzero(several | (label != labels[judged]))
    doubts.rows[: len(found)] = judged[found]
    _write_bits(possible[:, found], doubts.candidates)
    return len(found)


def _write_bits(chosen: Array, words: Array) -> None:
    """Write for each column of ``chosen`` a row of 64-bit words with a bit for each of its rows."""
    for word in range(words.shape[1]):
        bits = chosen[64 * word : 64 * (word + 1)]
        powers = np.uint64(1) << np.arange(len(bits), dtype=np.uint64)
        words[: bits.shape[1], word] = powers @ bits.astype(np.uint64)


def nearest_centres(
    Z: Rows,
    doubts: ClusterDoubts,
    products: Array,
    centres: Array,
    scale: ClusterScale,
    state: ClusterRows,
    changes: ClusterChanges,
) -> int:
    """Find the nearest centres of the rows in doubt and set their margins; return how many have left another centre.

    ``Z`` holds the features of all n rows, or of the rows in doubt alone. Either ``products`` holds those of the rows
    in doubt with all k centres, or ``doubts.candidates`` names the centres to look at; the other one has no columns.
    Rows without a label receive their squared lengths in ``state.norms``. A row with a new label adds its weight and
    its weighted features to ``changes``, and takes them from those of its old label.
    """
    (rows, candidates), (norms, labels, margins), (weight, sums, totals) = doubts, state, changes
    slack, longest = scale
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
