"""k-means on rows of features: Lloyd's iteration, and mini-batches."""

from collections.abc import Callable

import numpy as np

from mercer._typing import Array
from mercer.checkpoints import LoopState, resumable
from mercer.data import Block
from mercer.engines.base import S
from mercer.fitting.feature_rows import FeatureRows
from mercer.linalg import nearest_of, squared_distances, squared_norms
from mercer.solvers import NearestCentres, Remedy, Solution, Status
from mercer.solvers.clustering.nearest import PreparedCentres
from mercer.stats import ClusterSums, Farthest
from mercer.watching import State, told

# Held rows are split into 8 pieces of 4096 to 16,384 rows, one task each.
_PIECES, _LEAST_ROWS, _MOST_ROWS = 8, 4096, 16_384


class Assignment:
    """Assignment of rows to their nearest centres, pass by pass; what one pass finds is kept for the next.

    Parameters
    ----------
    rows : FeatureRows
    n_clusters : int
    nearest : NearestCentres, optional
        What to keep of each row, so that later passes compute the distances of few rows. Needs shared memory.

    Attributes
    ----------
    rows : FeatureRows
    sums : ClusterSums
        Of the last assignment.
    """

    def __init__(self, rows: FeatureRows, n_clusters: int, nearest: NearestCentres | None = None):
        self.rows, self._nearest = rows, nearest
        self._empty = ClusterSums.of(n_clusters, rows.n_features)
        self.sums = self._empty.zero()

    @property
    def labels(self) -> Array | None:
        """The cluster of each row as of the last pass, where it is kept."""
        return None if self._nearest is None else self._nearest.labels

    @property
    def is_in_place(self) -> bool:
        """Whether passes change arrays that the next pass reads."""
        return self._nearest is not None

    @property
    def kept(self) -> LoopState:
        """What later passes read of earlier ones, for a checkpoint."""
        nearest = None if self._nearest is None else self._nearest.kept
        return {"sums": self.sums, "nearest": nearest, "holds": self.rows.holds}

    def restore(self, state: LoopState) -> None:
        """Take over what ``kept`` returned in another process."""
        self.sums = state["sums"]
        if self._nearest is not None:
            self._nearest.restore(state["nearest"])
        if state["holds"]:
            self.rows.hold()

    def assign(self, centres: Array, before: Array | None = None) -> int | None:
        """Assign all rows to the nearest centres and update ``sums``; ``before`` are the centres of the last pass.

        Returns how many rows changed their cluster, or None where that is not known.
        """
        if self._nearest is None:
            self.sums = self._reduce("assignment", lambda block: self._plain(block, centres), self._empty.zero())
            return None
        nearest, ready = self._nearest, self._nearest.prepare(centres, before)
        if before is None:
            changes = self.rows.hold_and_reduce(
                "first assignment", lambda block: _begin(nearest, ready, block), self._empty.zero()
            )
        else:
            changes = self._steps(lambda block: self._step(nearest, ready, block))
        self.sums.merge(changes)
        return None if before is None else changes.moves

    def means(self, centres: Array) -> Array:
        """Return the mean of each cluster; an empty cluster begins again at the row farthest from its centre."""
        empty = self.sums.empty()
        if not len(empty):
            return self.sums.centres(centres)
        far = self.farthest(centres, len(empty))
        rounding = 8 * float(np.finfo(self.rows.dtype).eps) * np.sqrt(centres.shape[1])
        apart = far.distances > rounding * np.square(far.rows).sum(axis=1)  # the others are at their centres
        n_new = int(np.count_nonzero(apart))
        sums = self.sums.zero().merge(self.sums)
        sums.move(far.rows[:n_new], far.labels[:n_new], empty[:n_new], far.weight[:n_new])
        return sums.centres(centres)

    def farthest(self, centres: Array, n_rows: int) -> Farthest:
        """Return the rows that are farthest from their centres, in a pass over all rows."""
        empty = Farthest.of(n_rows, centres.shape[1])

        def work(block: Block) -> Farthest:
            Z = self.rows.features(block)
            labels, distances = nearest_of(squared_distances(Z, squared_norms(Z), centres))
            return empty.zero().update(Z, distances.astype(np.float64), labels, self.rows.weight(block))

        return self._reduce("farthest rows", work, empty)

    def _reduce(self, title: str, work: Callable[[Block], S], into: S) -> S:
        return self.rows.passes.reduce(title, work, self.rows.blocks, into)

    def _plain(self, block: Block, centres: Array) -> ClusterSums:
        Z = self.rows.features(block)
        labels, _ = nearest_of(squared_distances(Z, squared_norms(Z), centres))
        return self._empty.zero().update(Z, labels, self.rows.weight(block))

    def _step(self, nearest: NearestCentres, centres: PreparedCentres, block: Block) -> ClusterSums:
        """Assign the rows of a block again; where features are not held, only those of the rows in doubt are made."""
        place = _place(block)
        doubt, candidates = nearest.in_doubt(place, centres)
        if not len(doubt):
            return self._empty.zero()
        Z = block.X if self.rows.holds else self.rows.features(block, doubt)
        return nearest.settle(place, doubt, candidates, Z, centres, self.rows.weight(block))

    def _steps(self, step: Callable[[Block], ClusterSums]) -> ClusterSums:
        """Take a step over all rows; held features are cut into few long pieces."""
        rows = self.rows
        blocks = rows.blocks
        if rows.holds:
            size = min(max(_LEAST_ROWS, -(-rows.n_rows // _PIECES)), _MOST_ROWS)
            blocks = blocks.recut(size, rows.passes.owner)
        return rows.passes.reduce("assignment", step, blocks, self._empty.zero(), writes=True)


def lloyd(assignment: Assignment, centres: Array, *, tol: float, max_iter: int) -> Solution:
    """Move the centres to the means of their clusters, pass by pass, until they settle.

    Parameters
    ----------
    assignment : Assignment
        Of no pass yet.
    centres : ndarray of shape (n_clusters, n_features)
        To start from.
    tol : float
        Stop if the sum of the squared moves of the centres is at most this share of the mean variance of the features.
    max_iter : int
        Most passes.

    Returns
    -------
    solution : Solution
        The centres; ``history`` is the inertia after each pass.
    """
    with resumable("Lloyd", in_place=assignment.is_in_place) as loop:
        if loop.state is None:
            assignment.assign(centres)
            before, changed, iteration = centres, None, 0
            limit, history = tol * assignment.sums.variance(), [assignment.sums.inertia(centres)]
        else:
            centres, before, changed, iteration, limit, history = loop.state["state"]
            assignment.restore(loop.state)
        while True:
            state = (centres, before, changed, iteration, limit, list(history))
            loop.advance({"state": state, **assignment.kept}, at=f"pass {iteration + 1}")
            moves = float(np.sum((centres - before) ** 2))
            if iteration > 0 and (changed == 0 or moves <= limit):
                return Solution.converged(centres, "Lloyd", iterations=iteration, history=history)
            if iteration > 0 and told(State("Lloyd", iteration, max_iter, gap=moves, tol=float(limit))):
                return _not_settled(centres, "Lloyd", iteration, history, Status.CALLBACK)
            if iteration == max_iter:
                return _not_settled(centres, "Lloyd", max_iter, history)
            before, centres = centres, assignment.means(centres)
            changed = assignment.assign(centres, before)
            history.append(assignment.sums.inertia(centres))
            iteration += 1


def mini_batches(assignment: Assignment, centres: Array, *, batch_size: int, tol: float, max_iter: int) -> Solution:
    """Move each centre after every batch to the mean of all rows that it was ever the nearest centre of.

    Parameters are those of ``lloyd``; the batches come in the order of the rows. The last pass assigns all rows to the
    centres found.
    """
    rows = assignment.rows
    rows.hold()
    batches = rows.blocks.recut(batch_size, rows.passes.owner)
    with resumable("mini-batches") as loop:
        state = loop.state or {"state": (centres, np.zeros(len(centres)), 0.0, False, 0)}
        centres, weight, limit, settled, n_passes = state["state"]
        while n_passes < max_iter and not settled:
            loop.advance({"state": (centres, weight, limit, settled, n_passes)}, at=f"pass {n_passes + 1}")
            n_passes += 1
            before, seen = centres, ClusterSums.of(*centres.shape)
            for Z, row_weight in rows.passes.map("mini-batches", lambda b: (rows.features(b), rows.weight(b)), batches):
                labels, _ = nearest_of(squared_distances(Z, squared_norms(Z), centres))
                sums = ClusterSums.of(*centres.shape).update(Z, labels, row_weight)
                weight = weight + sums.weight
                step = np.where(weight > 0, weight, 1.0)[:, None]
                centres = centres + (sums.sums - sums.weight[:, None] * centres) / step
                seen.merge(sums)
            limit = limit or tol * seen.variance()
            settled = bool(np.sum((centres - before) ** 2) <= limit)
    assignment.assign(centres)
    history = [assignment.sums.inertia(centres)]
    if settled:
        return Solution.converged(centres, "mini-batch", iterations=n_passes, history=history)
    return _not_settled(centres, "mini-batch", n_passes, history)


def _not_settled(
    centres: Array, solver: str, n_passes: int, history: list[float], status: Status = Status.ITERATION_LIMIT
) -> Solution:
    left, remedies = f"{n_passes} passes did not settle the centres", [Remedy.MAX_ITER_OR_TOL]
    return Solution.stopped(centres, solver, status, left, remedies, iterations=n_passes, history=history)


def _begin(nearest: NearestCentres, centres: PreparedCentres, block: Block) -> ClusterSums:
    """Assign the rows of a block of features for the first time, or again after an interrupted first pass."""
    nearest.labels[_place(block)] = -1
    return nearest.begin(_place(block), block.X, centres, block.sample_weight)


def _place(block: Block) -> slice:
    return slice(block.first_row, block.first_row + block.n_rows)
