"""Partitions of rows into clusters, for the block approximations."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.extmath import row_norms

from mercer._typing import Array, Rows, is_sparse
from mercer.features.nystroem.kmeans_centres import kmeans_centres
from mercer.parallel import for_each_block, row_blocks
from mercer.state import Integers, Reals, Sizes, Stored, part, require

# k-means runs on this many sampled rows, enough for the centres of a few clusters. Only the assignment of rows to
# centres takes time that grows with the number of rows.
_ROWS_FOR_CENTRES = 20_000


@part("Partition")
@dataclass(frozen=True)
class Partition:
    """Centres, and the row numbers sorted by cluster.

    Attributes
    ----------
    centres : ndarray of shape (c, d), float64
    order : ndarray of int
        Row numbers sorted by cluster.
    ends : ndarray of int
        The end of each cluster in ``order``.
    """

    _stored = Stored(
        centres=Reals(("c", "d")),
        order=Integers(("n",), (np.int64,), least=0, below="n"),
        ends=Integers(("c",), (np.int64,), least=1),
    )

    centres: Array
    order: Array
    ends: Array

    @classmethod
    def of(cls, X: Rows, n_clusters: int, rng: np.random.RandomState) -> "Partition":
        """Cluster the rows by k-means; empty clusters are dropped."""
        n = X.shape[0]
        some = X if n <= _ROWS_FOR_CENTRES else X[np.sort(rng.permutation(n)[:_ROWS_FOR_CENTRES])]
        centres = _mean(X) if n_clusters == 1 else kmeans_centres(some, n_clusters, rng)
        labels = nearest(X, centres)
        used, labels = np.unique(labels, return_inverse=True)
        order = np.argsort(labels, kind="stable").astype(np.int64)
        return cls(centres[used], order, np.cumsum(np.bincount(labels)))

    def __len__(self) -> int:
        return len(self.ends)

    def _check_stored(self, sizes: Sizes) -> None:
        ends = self.ends
        require(len(ends) and ends[-1] == sizes["n"] and np.all(np.diff(ends) > 0), "ends must ascend to the last row")
        require(np.all(np.bincount(self.order) == 1), "order must hold every row once")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.order)

    @property
    def n_columns(self) -> int:
        """Number of columns of the rows."""
        return int(self.centres.shape[1])

    @property
    def slices(self) -> list[slice]:
        """The slice of each cluster in ``order``."""
        starts = [0, *self.ends[:-1].tolist()]
        return [slice(a, b) for a, b in zip(starts, self.ends.tolist(), strict=True)]

    @property
    def memory_bytes(self) -> int:
        """Bytes held."""
        return int(self.centres.nbytes + self.order.nbytes + self.ends.nbytes)


def nearest(X: Rows, centres: Array) -> Array:
    """Return the number of the nearest centre of each row."""
    labels = np.empty(X.shape[0], dtype=np.int64)
    # Distances relative to the mean of the centres, in float64: far from the origin, <x, c> loses the digits of the
    # distances, and the cluster of a row would depend on the precision of X.
    origin = centres.mean(axis=0)
    centred = centres - origin
    half_squares = row_norms(centred, squared=True) / 2

    def work(rows: slice) -> None:
        # argmin |x - c|^2 = argmin |c'|^2 / 2 - <x - o, c'> with c' = c - o
        block = X[rows].astype(np.float64, copy=False)
        sparse_rows = is_sparse(block)
        products = block @ centred.T - origin @ centred.T if sparse_rows else (block - origin) @ centred.T
        labels[rows] = np.argmin(half_squares - products, axis=1)

    for_each_block(work, row_blocks(X.shape[0]))
    return labels


def _mean(X: Rows) -> Array:
    return np.asarray(X.mean(axis=0, dtype=np.float64)).reshape(1, -1)
