"""Nearest centres of rows, found from a few products if possible.

Each row has a margin: a lower bound, minus rounding, of how much farther all other centres are than the row's centre.
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

    First ``moved[c]`` is subtracted from the margin of each row of cluster c: the moves of the centres may have
    shortened the margin by this much. Rows whose margin is no longer positive are then compared by their heads.
    ``doubts.candidates`` receives one bit per centre that may be the nearest of a row in doubt. If a row has several
    candidates, its margin receives how much farther the other centres are, in squared distance. A row with one
    candidate only has to move to that centre. Without heads, all centres are candidates of every row whose margin is
    no longer positive.
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
    """Write each column of ``chosen`` as a row of 64-bit words, with one bit per entry of the column."""
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
    """Find the nearest centres of the rows in doubt and set their margins; return how many rows changed centre.

    ``Z`` holds the features of all n rows, or of the rows in doubt alone. Either ``products`` holds the products of the
    rows in doubt with all k centres, or ``doubts.candidates`` holds the centres to compare; the unused one of both has
    no columns. ``state.norms`` receives the squared lengths of rows without a label. The weight and the weighted
    features of a row with a new label are added to the new cluster in ``changes``, and subtracted from the old cluster.
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
    """Return the weight of each row (columns) that each cluster gains or loses, and how many rows left a cluster."""
    member = np.zeros((n_clusters, len(new)))
    member[new, np.arange(len(new))] = factor
    left = np.flatnonzero(old >= 0)
    member[old[left], left] = -factor[left]
    return member, len(left)


def _margin(own: Array, gap: Array) -> Array:
    """Return sqrt(own + gap) - sqrt(own): the difference of two distances whose squares differ by ``gap``.

    ``own`` is the squared distance to the row's centre. The result decreases in ``own``, so an upper bound of ``own``
    gives a lower bound of the result.
    """
    own, far = np.maximum(own, 0), np.clip(gap, 0, np.float32(1e38))
    with np.errstate(invalid="ignore"):
        margin = far / (np.sqrt(own + far) + np.sqrt(own)) * (1 - 8 * _EPS)
    return np.where(gap > 0, margin, np.float32(-1))
