"""Passes of k-means over rows of features."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._typing import Array
from mercer.data import Block
from mercer.engines.local import fold
from mercer.learners.progress import progress
from mercer.learners.rows import FeatureRows
from mercer.parallel import for_each_block, row_blocks
from mercer.reference.clusters import nearest_of, squared_distances, squared_norms
from mercer.solvers import NearestCentres
from mercer.stats import ClusterSums, Farthest

if TYPE_CHECKING:
    from mercer.learners.base import KernelLearner

# Rows whose bounds one thread moves at a time, and rows in doubt that one settles.
_BOUND_ROWS = 16_384
_DOUBT_ROWS = 2048


class Lloyd:
    """Assignment of rows to centres, a pass at a time, with what one pass knows kept for the next.

    Parameters
    ----------
    learner : KernelLearner
        Whose passes, weights and progress these are.
    rows : FeatureRows
    n_clusters : int
    bounded : bool
        Whether to keep bounds of the distances (``NearestCentres``): later passes then look at few rows.
    """

    def __init__(self, learner: "KernelLearner", rows: FeatureRows, n_clusters: int, *, bounded: bool):
        self._learner, self._rows = learner, rows
        self._empty = ClusterSums.of(n_clusters, rows.n_features)
        self._nearest = NearestCentres(rows.n_rows, n_clusters) if bounded else None
        self.sums = self._empty.zero()

    @property
    def labels(self) -> Array | None:
        """The cluster of each row as of the last pass, where bounds are kept."""
        return None if self._nearest is None else self._nearest.labels

    def assign(self, centres: Array, before: Array | None = None) -> int | None:
        """Assign all rows to the nearest centres and bring ``sums`` up to date; ``before`` are the last pass's centres.

        Returns how many rows changed their cluster: None where that is not known.
        """
        if self._nearest is None:
            self.sums = self._reduce("assignment", lambda block: self._plain(block, centres), self._empty.zero())
            return None
        moved = np.zeros(len(centres)) if before is None else np.linalg.norm(centres - before, axis=1)
        if self._rows.holds:
            changes = self._of_held(self._nearest, centres, moved)
        else:
            nearest = self._nearest
            changes = self._reduce(
                "assignment", lambda block: self._of_block(nearest, block, centres, moved), self._empty.zero()
            )
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

    def _of_block(self, nearest: NearestCentres, block: Block, centres: Array, moved: Array) -> ClusterSums:
        """Settle a block's rows in doubt, whose features alone are made."""
        place = slice(block.first_row, block.first_row + block.n_rows)
        doubt = nearest.in_doubt(place, moved)
        if not len(doubt):
            return self._empty
        return nearest.settle(
            place, doubt, self._rows.features(block, doubt), centres, self._learner._block_weight(block)
        )

    def _of_held(self, nearest: NearestCentres, centres: Array, moved: Array) -> ClusterSums:
        """Settle the rows in doubt of all rows: cut by themselves, few of them are few pieces of work."""
        Z, _, weight = self._rows.matrix()
        n_rows = self._rows.n_rows
        places = row_blocks(n_rows, _BOUND_ROWS)
        found: list[Any] = [None] * len(places)

        def look(number: int) -> None:
            found[number] = places[number].start + nearest.in_doubt(places[number], moved)

        title = f"{type(self._learner).__name__}: assignment"
        with progress(title, n_rows, self._learner.verbose) as advance:
            for_each_block(look, range(len(places)))
            doubt = np.concatenate(found)
            advance(n_rows - len(doubt))

            def settle(part: slice) -> ClusterSums:
                changes = nearest.settle(slice(0, n_rows), doubt[part], Z, centres, weight)
                advance(part.stop - part.start)
                return changes

            return fold(settle, row_blocks(len(doubt), _DOUBT_ROWS), self._empty.zero())
