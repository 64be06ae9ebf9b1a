"""The nearest centre of each row, kept from one pass of k-means to the next with few distance computations."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer import core
from mercer._typing import Array, Rows
from mercer.linalg import squared_distances
from mercer.solvers.clustering.heads import Heads
from mercer.stats import ClusterSums

# Rounding error of a squared distance, in units of the precision times the root of the width.
_ROUNDINGS = 8
# Distance between two centres that is rounding, relative to the longest centre.
_EQUAL = 1024 * float(np.finfo(np.float64).eps)
_EPS = float(np.finfo(np.float32).eps)


@dataclass
class PreparedCentres:
    """The centres of one pass, and the quantities that every block of the pass needs."""

    values: Array
    cast: Array
    longest: float
    moved: Array
    heads: Array
    sizes: Array
    apart: Array


class NearestCentres:
    r"""The nearest centre of each row, with few distance computations.

    Each row keeps a margin: a lower bound on the distance to all other centres minus the distance to its own centre.
    When the centres move by m_c, the margin shrinks by m_own plus the largest m_c of the others (triangle inequality;
    Hamerly). A row with a positive margin needs no computation. For other rows, the head decides: the products h of the
    row with a few orthonormal directions Q, which leave a rest of length t. Centres are split into heads and rests r_c
    in the same way. The row is nearer to b than to c if

    .. math:: \|c\|^2 - 2 \langle h, Q^T c \rangle - \|b\|^2 + 2 \langle h, Q^T b \rangle > 2 t \, \|r_b - r_c\|

    Centres are means, so their rests are short. Distances are computed only if this test leaves several centres. The
    result is the same as with all distances, except among centres that are equally near to rounding.

    Heads are float32 and take 4 h + 4 bytes per row; labels, margins and squared lengths take 16 bytes per row. Time n
    per pass, plus h k for each row without a margin, plus D for each remaining centre of a row in doubt.

    Parameters
    ----------
    n_rows, n_clusters : int
    heads : Heads, optional
        The heads of the same rows. Without heads, every row without a margin is in doubt.
    dtype : dtype
        The type of the features.

    References
    ----------
    G. Hamerly, "Making k-means even faster", 2010.

    >>> import numpy as np
    >>> nearest = NearestCentres(3, 2)
    >>> rows, centres = np.array([[0.0], [1.0], [9.0]]), np.array([[0.0], [8.0]])
    >>> nearest.begin(slice(0, 3), rows, nearest.prepare(centres)).weight.tolist()
    [2.0, 1.0]
    >>> moved = nearest.prepare(centres + 0.5, before=centres)
    >>> nearest.in_doubt(slice(0, 3), moved)[0].tolist()
    []
    """

    def __init__(self, n_rows: int, n_clusters: int, heads: Heads | None = None, dtype: DTypeLike = np.float64):
        self._dtype = dtype
        self.labels = np.full(n_rows, -1, dtype=np.int32)
        self._norms = np.zeros(n_rows)
        self._margins = np.zeros(n_rows, dtype=np.float32)
        self._heads = heads
        self._n_words = 0 if heads is None else -(-n_clusters // 64)

    @staticmethod
    def row_bytes() -> int:
        """Return the number of bytes per row, without the head."""
        return 16

    @property
    def kept(self) -> list[Array]:
        """The arrays that hold what is known of each row, for a checkpoint."""
        return [self.labels, self._norms, self._margins, *([] if self._heads is None else self._heads.kept)]

    def restore(self, kept: list[Array]) -> None:
        """Take over what ``kept`` returned in another process."""
        for mine, theirs in zip(self.kept, kept, strict=True):
            mine[...] = theirs

    def prepare(self, centres: Array, before: Array | None = None) -> PreparedCentres:
        """Return the centres of a pass, prepared for its blocks; ``before`` are the centres of the previous pass."""
        longest = float(np.einsum("kd,kd->k", centres, centres).max())
        moved = np.zeros(len(centres)) if before is None else np.linalg.norm(centres - before, axis=1)
        fastest = int(np.argmax(moved))
        steps = moved + moved[fastest]
        steps[fastest] = moved[fastest] + np.delete(moved, fastest).max(initial=0)
        steps = (steps * (1 + 4 * _EPS)).astype(np.float32)
        parts = Heads.of_no_centres(len(centres)) if self._heads is None else self._heads.of_centres(centres)
        return PreparedCentres(centres, centres.astype(self._dtype), longest, steps, *parts)

    def begin(self, block: slice, Z: Any, centres: PreparedCentres, sample_weight: Array | None = None) -> ClusterSums:
        """Find the nearest centres of a new block of rows; return the sums of the clusters."""
        directions = None if self._heads is None else self._heads.directions_of(block)
        n_heads = 0 if directions is None else directions.shape[1]
        columns = centres.cast.T
        products = Z @ (columns if directions is None else np.hstack([directions, columns]))
        every = np.arange(Z.shape[0])
        none = _no_columns(every, np.uint64)
        sums = self._change(block, every, none, products[:, n_heads:], Z, centres, sample_weight)
        norms = self._norms[block]
        sums.squares = float(norms.sum() if sample_weight is None else norms @ sample_weight)
        if self._heads is not None and n_heads:
            self._heads.keep(block, products[:, :n_heads], norms)
        return sums

    def in_doubt(self, block: slice, centres: PreparedCentres) -> tuple[Array, Array]:
        """Return the rows in doubt, by their positions in the block, and the centres that each may be nearest to.

        The centres of a row are bits of 64-bit words; no words mean all centres.
        """
        n_rows = len(self.labels[block])
        doubt, candidates = np.empty(n_rows, dtype=np.int64), np.empty((n_rows, self._n_words), dtype=np.uint64)
        rows = Heads.of_no_rows(n_rows) if self._heads is None else self._heads.of_rows(block)
        n_doubt = core.rows_in_doubt(
            centres.moved,
            core.ClusterHeads(*rows, centres.heads, centres.sizes, centres.apart),
            self._scale(_EPS, centres),
            self._state(block),
            core.ClusterDoubts(doubt, candidates),
        )
        return doubt[:n_doubt], candidates[:n_doubt]

    def settle(
        self,
        block: slice,
        doubt: Array,
        candidates: Array,
        Z: Rows,
        centres: PreparedCentres,
        sample_weight: Array | None = None,
    ) -> ClusterSums:
        """Find the nearest centres of the rows in doubt; return the changes of the sums of the clusters.

        ``Z`` holds the features of the whole block or of the rows in doubt; ``sample_weight`` the weights of the block.
        """
        products = _no_columns(doubt, Z.dtype)
        if not candidates.shape[1]:
            Z = Z if Z.shape[0] == len(doubt) else Z[doubt]
            products = Z @ centres.cast.T
        return self._change(block, doubt, candidates, products, Z, centres, sample_weight)

    def _change(
        self,
        block: slice,
        rows: Array,
        candidates: Array,
        products: Array,
        Z: Rows,
        centres: PreparedCentres,
        sample_weight: Array | None,
    ) -> ClusterSums:
        changes = ClusterSums.of(*centres.values.shape)
        changes.moves = core.nearest_centres(
            Z,
            core.ClusterDoubts(rows, candidates),
            products,
            centres.cast,
            self._scale(float(np.finfo(Z.dtype).eps), centres),
            self._state(block),
            core.ClusterChanges(np.zeros(0) if sample_weight is None else sample_weight, changes.sums, changes.weight),
        )
        return changes

    def _state(self, block: slice) -> core.ClusterRows:
        return core.ClusterRows(self._norms[block], self.labels[block], self._margins[block])

    @staticmethod
    def _scale(eps: float, centres: PreparedCentres) -> core.ClusterScale:
        return core.ClusterScale(_ROUNDINGS * eps * sqrt(centres.values.shape[1]), centres.longest)


def _no_columns(rows: Array, dtype: DTypeLike) -> Array:
    return np.empty((len(rows), 0), dtype=dtype)


def first_of_equals(labels: Array, centres: Array) -> Array:
    """Return labels in which all centres that are equal to rounding share the number of the first of them.

    If there are fewer distinct rows than clusters, some centres are equal, and rounding would choose among them.

    >>> import numpy as np
    >>> first_of_equals(np.array([2, 1, 0]), np.array([[1.0], [3.0], [1.0 + 1e-16]])).tolist()
    [0, 1, 0]
    """
    norms = np.linalg.norm(centres, axis=1)
    order = np.argsort(norms, kind="stable")
    limit = _EQUAL * float(norms.max(initial=0.0))
    first = np.arange(len(centres))
    # Equal centres have equal norms, so that only neighbours in their order are compared.
    for start in np.flatnonzero(np.diff(norms[order]) <= limit):
        group = order[start : np.searchsorted(norms[order], norms[order[start]] + 2 * limit, side="right")]
        same = group[np.linalg.norm(centres[group] - centres[group[0]], axis=1) <= limit]
        first[same] = np.minimum(first[same], first[same].min())
    return first.astype(labels.dtype)[labels]


def distances(Z: Rows, centres: Array) -> Array:
    """Return the distances from rows (down) to centres (across), right to at least half of the digits, also near 0."""
    norms = np.asarray((np.square(Z) if isinstance(Z, np.ndarray) else Z.multiply(Z)).sum(axis=1)).ravel()
    squares = squared_distances(Z, norms, centres).T
    # A small distance is a difference of large numbers: these few are computed again from the coordinates.
    size = norms[:, None] + np.einsum("kd,kd->k", centres, centres)
    near, centre = np.nonzero(squares < np.sqrt(np.finfo(Z.dtype).eps) * size)
    for rows in np.array_split(np.arange(len(near)), 1 + len(near) // 1024):
        some = Z[near[rows]]
        Z_near = some if isinstance(some, np.ndarray) else some.toarray()
        squares[near[rows], centre[rows]] = np.square(Z_near - centres[centre[rows]]).sum(axis=1)
    return np.sqrt(squares)
