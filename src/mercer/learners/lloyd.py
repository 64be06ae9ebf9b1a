"""Passes of k-means over blocks of features, kept in memory or made anew."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.data import Block, Blocks
from mercer.solvers import NearestCentres, nearest_of, squared_distances
from mercer.stats import ClusterSums, Farthest
from mercer.stats.clusters import squared_norms

Reduce = Callable[[str, Callable[[Block], Any], Blocks, Any], Any]


class FeatureBlocks(Blocks):
    """Blocks whose features are at hand: with ``kept``, X is the features already.

    Parameters
    ----------
    blocks : Blocks
        Read once before, so that their number of rows is known.
    transform : function from rows to features
    kept : list of arrays, optional
        The features of each block.
    """

    def __init__(self, blocks: Blocks, transform: Callable[[Any], Any], kept: list[Any] | None = None):
        super().__init__(blocks.reader, blocks.block_rows, owner=blocks.owner)
        self._blocks, self._transform, self._kept = blocks, transform, kept
        self._n_rows = blocks.n_rows
        self._weights: list[Any] = []
        if kept is not None:
            self._weights = [block.sample_weight for block in blocks.labelled()]  # small beside the features

    def labelled(self) -> Iterator[Block]:
        """Iterate over the blocks, with their weights in float64 and without y."""
        first = 0
        pieces: Iterator[Any] = self._blocks.labelled()
        if self._kept is not None:
            pieces = (Block(*pair) for pair in zip(self._kept, [None] * len(self._kept), self._weights, strict=True))
        for block in pieces:
            weight = None if block.sample_weight is None else block.sample_weight.astype(np.float64)
            yield Block(block.X, None, weight, first)
            first += block.n_rows

    def features(self, block: Block, rows: Array | None = None) -> Any:
        """Return the features of a block, or of some of its rows."""
        X = block.X
        if rows is not None and len(rows) < block.n_rows:
            X = X.take(rows, axis=0) if isinstance(X, np.ndarray) else X[rows]
        return X if self._kept is not None else self._transform(X)


class Lloyd:
    """Assignment of rows to centres, a pass at a time, with what one pass knows kept for the next.

    Parameters
    ----------
    blocks : FeatureBlocks
    n_clusters, n_features : int
    reduce : function (title, work, blocks, into)
        The learner's pass over blocks.
    bounded : bool
        Whether to keep bounds of the distances (``NearestCentres``): later passes then look at few rows.
    """

    def __init__(self, blocks: FeatureBlocks, n_clusters: int, n_features: int, reduce: Reduce, *, bounded: bool):
        self._blocks, self._reduce = blocks, reduce
        self._empty = ClusterSums.of(n_clusters, n_features)
        assert blocks.n_rows is not None  # noqa: S101
        self._nearest = NearestCentres(blocks.n_rows, n_clusters) if bounded else None
        self._norms = np.zeros(blocks.n_rows if bounded else 0)
        self.sums = self._empty.zero()

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the features."""
        return self._blocks.dtype

    @property
    def labels(self) -> Array | None:
        """The cluster of each row as of the last pass, where bounds are kept."""
        return None if self._nearest is None else self._nearest.labels

    def assign(self, centres: Array, before: Array | None = None) -> int | None:
        """Assign all rows to the nearest centres and bring ``sums`` up to date; ``before`` are the last pass's centres.

        Returns how many rows changed their cluster: None where that is not known.
        """
        if self._nearest is None:
            self.sums = self._reduce("assignment", lambda block: self._plain(block, centres), self._blocks, self._empty)
            self._empty = self._empty.zero()
            return None
        moved = np.full(len(centres), np.inf) if before is None else np.linalg.norm(centres - before, axis=1)
        changes = self._reduce(
            "assignment", lambda block: self._by_bounds(block, centres, moved), self._blocks, self._empty.zero()
        )
        self.sums.merge(changes)
        return None if before is None else changes.moves

    def farthest(self, centres: Array, n_rows: int) -> Farthest:
        """Return the rows that are farthest from their centres, in a pass of its own."""
        empty = Farthest.of(n_rows, centres.shape[1])

        def work(block: Block) -> Farthest:
            Z = self._blocks.features(block)
            squares = squared_distances(Z, squared_norms(Z), centres)
            labels, distances = nearest_of(squares)
            return empty.zero().update(Z, distances.astype(np.float64), labels, block.sample_weight)

        return self._reduce("farthest rows", work, self._blocks, empty)  # type: ignore[no-any-return]

    def _plain(self, block: Block, centres: Array) -> ClusterSums:
        Z = self._blocks.features(block)
        labels, _ = nearest_of(squared_distances(Z, squared_norms(Z), centres))
        return self._empty.zero().update(Z, labels, block.sample_weight)

    def _by_bounds(self, block: Block, centres: Array, moved: Array) -> ClusterSums:
        assert self._nearest is not None  # noqa: S101
        part, first = self._empty.zero(), block.first_row
        begins = bool(np.isinf(moved[0]))
        doubt = self._nearest.in_doubt(slice(first, first + block.n_rows), moved)
        if not len(doubt):
            return part
        Z = self._blocks.features(block, doubt - first)
        if begins:
            self._norms[doubt] = squared_norms(Z)
        old = self._nearest.labels[doubt]
        new = self._nearest.settle(doubt, Z, self._norms[doubt], centres)
        weight = None if block.sample_weight is None else block.sample_weight[doubt - first]
        if begins:
            return part.update(Z, new, weight)
        changed = np.flatnonzero(old != new)
        if not len(changed):
            return part
        return part.move(Z[changed], old[changed], new[changed], None if weight is None else weight[changed])
