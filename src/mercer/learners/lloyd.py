"""Passes of k-means over rows of features."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._typing import Array
from mercer.data import Block
from mercer.engines.local import fold
from mercer.learners.progress import progress
from mercer.learners.rows import FeatureRows
from mercer.linalg import nearest_of, squared_distances, squared_norms
from mercer.parallel import row_blocks
from mercer.solvers import NearestCentres
from mercer.stats import ClusterSums, Farthest

if TYPE_CHECKING:
    from mercer.learners.base import KernelLearner

# Held rows are looked at in so many pieces, of so many rows: enough to share the work, as few as hand-overs ask for.
_PIECES, _LEAST_ROWS, _MOST_ROWS = 8, 4096, 16_384


class Lloyd:
    """Assignment of rows to centres, a pass at a time, with what one pass knows kept for the next.

    Parameters
    ----------
    learner : KernelLearner
        Whose passes, weights and progress these are.
    rows : FeatureRows
    n_clusters : int
    nearest : NearestCentres, optional
        What to keep of the rows: later passes then look at the features of few.
    """

    def __init__(self, learner: "KernelLearner", rows: FeatureRows, n_clusters: int, nearest: NearestCentres | None):
        self._learner, self._rows = learner, rows
        self._empty = ClusterSums.of(n_clusters, rows.n_features)
        self._nearest = nearest
        self.sums = self._empty.zero()

    @property
    def labels(self) -> Array | None:
        """The cluster of each row as of the last pass, where it is kept."""
        return None if self._nearest is None else self._nearest.labels

    def assign(self, centres: Array, before: Array | None = None) -> int | None:
        """Assign all rows to the nearest centres and bring ``sums`` up to date; ``before`` are the last pass's centres.

        Returns how many rows changed their cluster: None where that is not known.
        """
        if self._nearest is None:
            self.sums = self._reduce("assignment", lambda block: self._plain(block, centres), self._empty.zero())
            return None
        nearest, ready = self._nearest, self._nearest.prepare(centres, before)
        if before is None:
            changes = self._rows.hold_and_reduce(
                "first assignment", lambda block: self._begin(nearest, ready, block), self._empty.zero()
            )
        elif self._rows.holds:
            changes = self._of_held(lambda block: self._step(nearest, ready, block))
        else:
            changes = self._reduce("assignment", lambda block: self._step(nearest, ready, block), self._empty.zero())
        self.sums.merge(changes)
        return None if before is None else changes.moves

    def farthest(self, centres: Array, n_rows: int) -> Farthest:
        """Return the rows that are farthest from their centres, in a pass of its own."""
        empty = Farthest.of(n_rows, centres.shape[1])

        def work(block: Block) -> Farthest:
            Z = self._rows.features(block)
            labels, distances = nearest_of(squared_distances(Z, squared_norms(Z), centres))
            return empty.zero().update(Z, distances.astype(np.float64), labels, self._learner._block_weight(block))

        return self._reduce("farthest rows", work, empty)  # type: ignore[no-any-return]

    def _reduce(self, title: str, work: Any, into: Any) -> Any:
        return self._learner._reduce(title, work, self._rows.blocks, into)

    def _plain(self, block: Block, centres: Array) -> ClusterSums:
        Z = self._rows.features(block)
        labels, _ = nearest_of(squared_distances(Z, squared_norms(Z), centres))
        return self._empty.zero().update(Z, labels, self._learner._block_weight(block))

    def _begin(self, nearest: NearestCentres, centres: Any, block: Block) -> ClusterSums:
        """Assign the rows of a block of features for the first time, or again where a first pass was broken off."""
        nearest.labels[_place(block)] = -1
        return nearest.begin(_place(block), block.X, centres, self._learner._block_weight(block))

    def _step(self, nearest: NearestCentres, centres: Any, block: Block) -> ClusterSums:
        """Assign the rows of a block anew; features that are not held are made of rows in doubt alone."""
        doubt, candidates = nearest.in_doubt(_place(block), centres)
        if not len(doubt):
            return self._empty
        Z = block.X if self._rows.holds else self._rows.features(block, doubt)
        return nearest.settle(_place(block), doubt, candidates, Z, centres, self._learner._block_weight(block))

    def _of_held(self, step: Callable[[Block], ClusterSums]) -> ClusterSums:
        """Take a step over features that are held, without the readers' checks."""
        Z, _, weight = self._rows.matrix()
        title = f"{type(self._learner).__name__}: assignment"
        with progress(title, self._rows.n_rows, self._learner.verbose) as advance:

            def watched(part: slice) -> ClusterSums:
                changes = step(Block(Z[part], None, None if weight is None else weight[part], part.start))
                advance(part.stop - part.start)
                return changes

            n_rows = self._rows.n_rows
            size = min(max(_LEAST_ROWS, -(-n_rows // _PIECES)), _MOST_ROWS)
            return fold(watched, row_blocks(n_rows, size), self._empty.zero())


def _place(block: Block) -> slice:
    return slice(block.first_row, block.first_row + block.n_rows)
