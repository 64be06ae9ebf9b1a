"""Hinge and insensitive losses in passes over blocks: dual coordinate descent on one block after the other."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from mercer import core
from mercer._typing import Array
from mercer.config import get_config
from mercer.parallel import for_each_block
from mercer.solvers.solution import Solution
from mercer.solvers.support_vectors.svm_dual import BoxProblems

# Epochs on a block while it is there: making its features again costs about as much as one or two of them.
_EPOCHS_A_BLOCK = 4


def block_descent(
    passes: Callable[[], Iterable[tuple[Any, Array, Array | None]]],
    shape: tuple[int, int],
    n_rows: int,
    *,
    C: float,
    loss: str,
    epsilon: float = 0.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Solution:
    r"""Minimise :math:`\frac12 \|w\|^2 + C \sum_i c_i \ell(t_i, \langle w, z_i \rangle)`, a column of targets each.

    The dual variables of all rows are kept, their features are not: each pass takes the blocks in turn and descends in
    the dual variables of one with those of the others fixed, which converges to the minimum. A pass adds up the gap of
    the rows as it found them; when that is small, or the passes are over, a pass without steps measures the true one.

    Parameters
    ----------
    passes : function
        Each call yields ``(Z, Y, weight)`` of all blocks of rows, in the same order; weight is None where all are 1.
    shape : (n_features, n_targets)
    n_rows : int
    C : float
    loss : one of ``LOSSES``
    epsilon : float
    tol : float
        Largest duality gap, relative to the objective.
    max_iter : int
        Passes at most, looks at the gap not counted.

    Returns
    -------
    Solution
        ``value`` (n_targets, n_features + 1), the intercept, weight of a constant feature, last.

    Notes
    -----
    Memory O(n) for each target, beside a block.

    References
    ----------
    H.-F. Yu, C.-J. Hsieh, K.-W. Chang and C.-J. Lin, "Large linear classification when data cannot fit in memory",
    KDD 2010.
    """
    state = _State(shape, n_rows, C, loss, epsilon)
    history: list[float] = []
    looks, gap = 0, np.inf
    for number in range(1, max_iter + 1):
        history.append(state.descend(passes(), number))
        if history[-1] <= tol or number == max_iter:
            looks += 1
            gap = state.gap(passes())
            if gap <= tol:
                break
    details = {"solver": "block descent", "passes": number + looks}
    if gap <= tol:
        return Solution(state.value, "success", number, tuple(history), "", details, gap)
    advice = (
        f"{max_iter} passes left a duality gap of {gap:.1e} of the objective, and {tol:g} was asked for: raise "
        "max_iter or tol, give more memory (config_context(memory=...)) or fewer features so that they are held, take "
        "the squared loss, or lower C."
    )
    return Solution(state.value, "iteration limit", number, tuple(history), advice, details, gap)


class _State:
    """The dual variables of all rows, and the weights they sum to."""

    def __init__(self, shape: tuple[int, int], n_rows: int, C: float, loss: str, epsilon: float):
        self.C, self.loss, self.epsilon = C, loss, epsilon
        self.duals = np.zeros((n_rows, shape[1]))
        self.value = np.zeros((shape[1], shape[0] + 1))

    def descend(self, blocks: Iterable[tuple[Any, Array, Array | None]], seed: int) -> float:
        """Step in all blocks, and return the largest relative gap as the rows were found."""
        return self._pass(blocks, np.random.RandomState(seed))

    def gap(self, blocks: Iterable[tuple[Any, Array, Array | None]]) -> float:
        """Return the largest duality gap, relative to the objective."""
        return self._pass(blocks, None)

    def _pass(self, blocks: Iterable[tuple[Any, Array, Array | None]], rng: np.random.RandomState | None) -> float:
        gaps, losses, row = np.zeros(len(self.value)), np.zeros(len(self.value)), 0
        for Z, Y, weight in blocks:
            problems, duals = self._problems(Y, weight), self.duals[row : row + len(Y)]
            scores, every = _scores(Z, self.value), slice(0, len(Y))
            gaps += problems.gaps(every, scores, duals).sum(axis=0)
            losses += problems.losses(every, scores).sum(axis=0)
            if rng is not None:
                self._step(Z, problems, duals, rng)
            row += len(Y)
        return self._relative(gaps, losses)

    def _relative(self, gaps: Array, losses: Array) -> float:
        primal = losses + 0.5 * np.einsum("kj,kj->k", self.value, self.value)
        return float(np.max(np.maximum(gaps, 0.0) / np.maximum(primal, np.finfo(float).tiny)))

    def _problems(self, Y: Array, weight: Array | None) -> BoxProblems:
        cost = np.full(len(Y), self.C) if weight is None else self.C * weight
        return BoxProblems.of(self.loss, Y, cost, epsilon=self.epsilon)

    def _step(self, Z: Any, problems: BoxProblems, duals: Array, rng: np.random.RandomState) -> None:
        """Descend in the duals of a block, in the features' precision, and move the weights in float64."""
        squares = Z.multiply(Z).sum(axis=1) if sparse.issparse(Z) else np.einsum("ij,ij->i", Z, Z)
        bounds = np.column_stack([problems.upper, problems.ridge, np.ravel(squares) + 1.0]).astype(Z.dtype)
        orders = [rng.permutation(len(duals)) for _ in range(_EPOCHS_A_BLOCK)]
        moved = np.empty_like(duals)

        def work(columns: slice) -> None:
            size = columns.stop - columns.start
            tables = core.BoxTables(
                np.ascontiguousarray(problems.targets[:, columns], dtype=Z.dtype),
                bounds,
                np.array(duals[:, columns], dtype=Z.dtype, order="C"),
                np.zeros((len(duals), size), dtype=np.uint8),
                _weights(Z, self.value[columns, :-1]),
                self.value[columns, -1].astype(Z.dtype),
                np.array([np.full(size, np.inf), np.zeros(size), np.zeros(size)]),
                problems.one_sided,
                problems.epsilon,
                problems.constant,
            )
            for order in orders:
                core.descend(Z, order, tables)
            moved[:, columns] = tables.duals

        for_each_block(work, _columns(duals.shape[1]))
        change = moved - duals
        self.value[:, :-1] += (Z.T @ change.astype(Z.dtype)).T
        self.value[:, -1] += problems.constant * change.sum(axis=0)
        duals[...] = moved


def _columns(n_problems: int) -> list[slice]:
    """Share the problems among the threads: what one finds does not depend on which others ride along."""
    ends = np.linspace(0, n_problems, min(get_config().threads, n_problems) + 1).round().astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


def _weights(Z: Any, value: Array) -> Array:
    """Return a copy of (K, D) weights in the core's own layout."""
    if not sparse.issparse(Z):
        return np.array(value, dtype=Z.dtype, order="C")
    K = len(value)
    weights = np.zeros((value.shape[1], K if K == 1 else -(-K // 8) * 8), dtype=Z.dtype)
    weights[:, :K] = value.T
    return weights


def _scores(Z: Any, value: Array) -> Array:
    scores: Array = np.asarray(Z @ value[:, :-1].T.astype(Z.dtype), dtype=np.float64) + value[:, -1]
    return scores
