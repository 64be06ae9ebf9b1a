"""Hinge and insensitive losses in passes over blocks: dual coordinate descent on one block after the other."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np

from mercer import core
from mercer._typing import Array, Rows
from mercer.checkpoints import Loop, LoopState, resumable
from mercer.parallel import for_each_block
from mercer.solvers.scores import linear_scores
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.solvers.support_vectors.incumbent import Incumbent
from mercer.solvers.support_vectors.svm_dual import LOSSES, BoxProblems, check_loss
from mercer.solvers.support_vectors.tables import row_squares, shares, weight_table

TAKES = frozenset(LOSSES)
# Epochs per visit of a block: to compute the features of a block again costs as much as one or two epochs.
_EPOCHS_PER_BLOCK = 4


class Passes(Protocol):
    """Each call yields ``(Z, Y, weight)`` of all blocks of rows, in the same order; weight is None where all are 1.

    A fit that another process has begun asks for the blocks from a row on, where the object has ``after(row)``.
    """

    def __call__(self) -> Iterable[tuple[Rows, Array, Array | None]]:
        """Return the blocks of a pass."""


def block_descent(
    passes: Passes,
    shape: tuple[int, int],
    n_rows: int,
    *,
    C: float,
    loss: str,
    epsilon: float = 0.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Solution:
    r"""Minimise :math:`\frac12 \|w\|^2 + C \sum_i c_i \ell(t_i, \langle w, z_i \rangle)` for each column of targets.

    The dual variables of all rows are kept, their features are not. Each pass takes the blocks in turn and descends in
    the dual variables of one block while those of the others are fixed. This converges to the minimum. A pass adds up
    the gap of each row before its steps. If this sum is small, or the passes are used up, a pass without steps measures
    the true gap. The weights with the lowest objective so far are kept, w = 0 included.

    Parameters
    ----------
    passes : Passes
        A function whose calls yield ``(Z, Y, weight)`` of all blocks of rows.
    shape : (n_features, n_targets)
    n_rows : int
    C : float
    loss : one of ``TAKES``
    epsilon : float
    tol : float
        Largest duality gap, relative to the objective.
    max_iter : int
        Largest number of passes, without those that measure the gap.

    Returns
    -------
    Solution
        ``value`` (n_targets, n_features + 1), the intercept, weight of a constant feature, last.

    Notes
    -----
    Memory O(n) per target, plus one block.

    References
    ----------
    H.-F. Yu, C.-J. Hsieh, K.-W. Chang and C.-J. Lin, "Large linear classification when data cannot fit in memory",
    KDD 2010.
    """
    check_loss("block_descent", loss, TAKES)
    state = _State(shape, n_rows, C, loss, epsilon)
    with resumable("block descent", in_place=True) as loop:
        state.restore(loop.state)
        while True:
            if not state.measures:
                state.descend(passes, loop)
            if state.measures or state.history[-1] <= tol or len(state.history) == max_iter:
                state.measure(passes, loop)
            gap, number = state.gap, len(state.history)
            if gap <= tol or number == max_iter:
                break
    found = Solution.converged(
        state.best.value,
        "block descent",
        iterations=number,
        history=state.history,
        gap=gap,
        passes=number + state.looks,
    )
    if gap <= tol:
        return found
    left = f"{max_iter} passes left a duality gap of {gap:.1e} of the objective, and {tol:g} was asked for"
    remedies = [Remedy.MAX_ITER_OR_TOL, Remedy.MEMORY, Remedy.SQUARED_LOSS, Remedy.COST]
    return found.unfinished(Status.ITERATION_LIMIT, left, remedies)


def _blocks_from(passes: Passes, row: int, n_rows: int) -> Iterator[tuple[Rows, Array, Array | None]]:
    """Yield the blocks from a row on, which is the first one of a block."""
    after = getattr(passes, "after", None)
    if row == n_rows:
        return
    if row and after is not None:
        yield from after(row)
        return
    first = 0
    for block in passes():
        if first >= row:
            yield block
        first += len(block[1])


class _State:
    """The dual variables of all rows, the weights they sum to, and how far the current pass is."""

    # What a checkpoint holds, besides the best point.
    _NAMES = ("duals", "value", "history", "looks", "gap", "measures", "row", "sums", "rng")

    def __init__(self, shape: tuple[int, int], n_rows: int, C: float, loss: str, epsilon: float):
        self.C, self.loss, self.epsilon = C, loss, epsilon
        self.duals = np.zeros((n_rows, shape[1]))
        self.value = np.zeros((shape[1], shape[0] + 1))
        self.best = Incumbent(*self.value.shape)
        self.history: list[float] = []
        self.looks, self.gap = 0, np.inf
        # Of the current pass: whether it takes no steps, the rows that are done, their gaps, losses and losses at
        # w = 0, and the generator of the orders.
        self.measures, self.row, self.sums = False, 0, np.zeros((3, shape[1]))
        self.rng: np.random.RandomState | None = None

    @property
    def kept(self) -> LoopState:
        """What the next block depends on, for a checkpoint."""
        best = (self.best.value, self.best.objectives, self.best.gaps)
        return {**{name: getattr(self, name) for name in self._NAMES}, "best": best}

    def restore(self, kept: LoopState | None) -> None:
        """Take over what ``kept`` returned in another process, if there was one."""
        if kept is not None:
            for name in self._NAMES:
                setattr(self, name, kept[name])
            self.best.value, self.best.objectives, self.best.gaps = kept["best"]

    def descend(self, passes: Passes, loop: Loop) -> None:
        """Step in all blocks, and note the largest relative gap, summed before the steps of each block."""
        if self.rng is None:
            self.rng = np.random.RandomState(len(self.history) + 1)
        gaps, losses, _ = self._pass(passes, loop)
        primal = losses + 0.5 * np.einsum("kj,kj->k", self.value, self.value)
        self.history.append(float(np.max(gaps / np.maximum(primal, np.finfo(float).tiny))))
        self.rng = None

    def measure(self, passes: Passes, loop: Loop) -> None:
        """Measure the current weights and w = 0 in a pass without steps, and keep the best point."""
        if not self.measures:
            self.measures, self.looks = True, self.looks + 1
        gaps, losses, at_zero = self._pass(passes, loop)
        self.best.offer_zero(at_zero)
        self.best.offer(self.value, losses + 0.5 * np.einsum("kj,kj->k", self.value, self.value), gaps)
        self.measures, self.gap = False, float(self.best.relative_gaps.max())

    def _pass(self, passes: Passes, loop: Loop) -> tuple[Array, Array, Array]:
        """Return the gaps, the losses and the losses at w = 0 of each problem; take steps if there is a generator."""
        for Z, Y, weight in _blocks_from(passes, self.row, len(self.duals)):
            problems, duals = self._problems(Y, weight), self.duals[self.row : self.row + len(Y)]
            scores, every = linear_scores(Z, self.value[:, :-1].T, self.value[:, -1]), slice(0, len(Y))
            self.sums[0] += problems.gaps(every, scores, duals).sum(axis=0)
            self.sums[1] += problems.losses(every, scores).sum(axis=0)
            if self.rng is not None:
                self._step(Z, problems, duals, self.rng)
            else:
                self.sums[2] += problems.losses(every, np.zeros_like(scores)).sum(axis=0)
            self.row += len(Y)
            number = len(self.history) + (not self.measures)
            loop.advance(self.kept, at=f"pass {number}, row {self.row:,}")
        gaps, losses, at_zero = self.sums
        self.row, self.sums = 0, np.zeros_like(self.sums)
        return np.maximum(gaps, 0.0), losses, at_zero

    def _problems(self, Y: Array, weight: Array | None) -> BoxProblems:
        cost = np.full(len(Y), self.C) if weight is None else self.C * weight
        return BoxProblems.of(self.loss, Y, cost, epsilon=self.epsilon)

    def _step(self, Z: Rows, problems: BoxProblems, duals: Array, rng: np.random.RandomState) -> None:
        """Descend in the duals of a block, in the precision of the features, and update the weights in float64."""
        bounds = np.column_stack([problems.upper, problems.ridge, row_squares(Z) + 1.0]).astype(Z.dtype)
        orders = [rng.permutation(len(duals)) for _ in range(_EPOCHS_PER_BLOCK)]
        moved = np.empty_like(duals)

        def work(columns: slice) -> None:
            size = columns.stop - columns.start
            tables = core.BoxTables(
                np.ascontiguousarray(problems.targets[:, columns], dtype=Z.dtype),
                bounds,
                np.array(duals[:, columns], dtype=Z.dtype, order="C"),
                np.zeros((len(duals), size), dtype=np.uint8),
                weight_table(Z, self.value[columns, :-1]),
                self.value[columns, -1].astype(Z.dtype),
                np.array([np.full(size, np.inf), np.zeros(size), np.zeros(size)]),
                problems.one_sided,
                problems.epsilon,
                problems.constant,
            )
            for order in orders:
                core.descend(Z, order, tables)
            moved[:, columns] = tables.duals

        for_each_block(work, shares(duals.shape[1]))
        change = moved - duals
        self.value[:, :-1] += (Z.T @ change.astype(Z.dtype)).T
        self.value[:, -1] += problems.constant * change.sum(axis=0)
        duals[...] = moved
