"""Epochs of dual coordinate descent: one epoch visits all rows once, in random order.

A thread reads each row once for all of its problems.
"""

import threading
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer import core
from mercer._typing import Array, Rows
from mercer.parallel import for_each_block, row_blocks
from mercer.solvers.support_vectors.svm_dual import BoxProblems
from mercer.solvers.support_vectors.tables import row_squares, shares, weight_table
from mercer.solvers.support_vectors.when_descent_stalls import Patience
from mercer.watching import State, told

# Multiplications per call of the core: a fraction of a second, after which an interrupt is noticed.
_WORK_PER_CALL = 2**28
_BLOCK_ROWS = 4096
# Number of row orders that are kept, and the largest number of rows for which orders are kept.
_ORDERS, _KEPT_ROWS = 16, 2**18


@dataclass
class _Group:
    """The problems of one thread. Every thread has separate tables, so that threads share no cache line."""

    columns: slice
    targets: Array
    duals: Array
    shrunk: Array
    weights: Array
    intercepts: Array
    progress: Array  # thresholds (negative: the problem pauses), gaps, violations
    epochs: Array


class Epochs:
    """Epochs for K problems on the same rows, shared among the threads; the bits do not depend on their number.

    Attributes
    ----------
    histories : list of list of float
        The relative gap of each problem after each of its epochs, as estimated during the epoch.
    stalled : ndarray of bool of shape (K,)
        The problems that have used up the patience.
    """

    def __init__(self, Z: Rows, problems: BoxProblems, seed: int):
        self._Z, self._problems, self._seed = Z, problems, seed
        self._n_rows = int(Z.shape[0])
        squares = self._squares() + problems.constant**2
        self._bounds = np.column_stack([problems.upper, problems.ridge, squares]).astype(Z.dtype)
        self._orders: dict[int, Array] = {}
        self._interrupted = threading.Event()
        self.stopped = False
        n_problems = problems.targets.shape[1]
        self.histories: list[list[float]] = [[] for _ in range(n_problems)]
        self.stalled = np.zeros(n_problems, dtype=bool)
        self._groups = [self._group(columns) for columns in shares(n_problems)]

    def descend(self, active: Array, duals: Array, weights: Array, tol: float, patience: Patience) -> Array:
        """Descend until each active problem has an estimated gap of ``tol``, or stalls; return the duals.

        Parameters
        ----------
        active : ndarray of bool of shape (K,)
        duals : ndarray of shape (n, K)
        weights : ndarray of shape (K, D + 1)
            The weights that belong to the duals, rounded once instead of at every step.
        tol : float
        patience : Patience
        """
        for group in self._groups:
            group.duals[...] = duals[:, group.columns]
            self._resume(group, active[group.columns], weights[group.columns])
        try:
            for_each_block(lambda group: self._descend(group, tol, patience), self._groups)
        except BaseException:
            self._interrupted.set()  # the other threads end after the call they are in
            raise
        moved = duals.copy()
        for group in self._groups:
            moved[:, group.columns] = group.duals
        return moved

    def _squares(self) -> Array:
        squares = np.empty(self._n_rows)

        def work(rows: slice) -> None:
            squares[rows] = row_squares(self._Z[rows])

        for_each_block(work, row_blocks(self._n_rows, _BLOCK_ROWS))
        return squares

    def _group(self, columns: slice) -> _Group:
        size, dtype = columns.stop - columns.start, self._Z.dtype
        return _Group(
            columns,
            targets=np.ascontiguousarray(self._problems.targets[:, columns], dtype=dtype),
            duals=np.zeros((self._n_rows, size), dtype=dtype),
            shrunk=np.zeros((self._n_rows, size), dtype=np.uint8),
            weights=weight_table(self._Z, np.zeros((size, self._Z.shape[1]))),
            intercepts=np.zeros(size, dtype=dtype),
            progress=np.zeros((3, size)),
            epochs=np.zeros(size, dtype=int),
        )

    def _resume(self, group: _Group, active: Array, weights: Array) -> None:
        value = weights[active]
        if sparse.issparse(self._Z):
            group.weights[:, np.flatnonzero(active)] = value[:, :-1].T
        else:
            group.weights[active] = value[:, :-1]
        group.intercepts[active] = value[:, -1]
        group.shrunk[:, active] = 0
        group.progress[0] = np.where(active, np.inf, -1.0)

    def _descend(self, group: _Group, tol: float, patience: Patience) -> None:
        """Visit all rows, epoch by epoch, until every problem of the group pauses."""
        problems = self._problems
        per_row = self._Z.shape[1] if isinstance(self._Z, np.ndarray) else self._Z.nnz / self._n_rows
        step = max(1, int(_WORK_PER_CALL / ((per_row + 1) * len(group.epochs))))
        tables = core.BoxTables(
            group.targets,
            self._bounds,
            group.duals,
            group.shrunk,
            group.weights,
            group.intercepts,
            group.progress,
            problems.one_sided,
            problems.epsilon,
            problems.constant,
        )
        while (active := ~(group.progress[0] < 0)).any() and not self.stopped:
            # All problems that are not paused are in the same epoch, whose order depends on its number alone.
            order = self._order(int(group.epochs[active][0]))
            group.progress[1:] = 0
            for start in range(0, self._n_rows, step):
                if self._interrupted.is_set():
                    return
                core.descend(self._Z, order[start : start + step], tables)
            group.epochs[active] += 1
            gap = self._judge(group, active, tol, patience)
            state = State("dual coordinate descent", int(group.epochs.max()), patience.epochs, gap=gap, tol=tol)
            self.stopped |= told(state)

    def _order(self, epoch: int) -> Array:
        """Return the order of the rows in an epoch; if the rows are few, 16 orders take turns.

        Late in a descent, to draw a new order takes as long as to visit the remaining rows.
        """
        kept = self._n_rows <= _KEPT_ROWS
        number = epoch % _ORDERS if kept else epoch
        order = self._orders.get(number)
        if order is None:
            order = np.random.RandomState((self._seed + number) % 2**32).permutation(self._n_rows)
            if kept:
                self._orders[number] = order
        return order

    def _judge(self, group: _Group, active: Array, tol: float, patience: Patience) -> float:
        """Set the thresholds of the next epoch, and pause the problems whose estimated gap is small, or that stall.

        Returns the largest relative gap of the active problems.

        Each visited coordinate has added its part of the gap, measured at the visit; a coordinate that rests at its
        bound has no gap.
        """
        estimate = group.progress[1]
        axis = 0 if sparse.issparse(self._Z) else 1
        squares: Array = np.asarray(np.sum(np.square(group.weights), axis=axis, dtype=np.float64))
        squares = squares[: len(estimate)] + np.square(group.intercepts)
        sums = self._problems.conjugate_sums(group.targets, group.duals)
        primal = np.maximum(estimate - sums - squares / 2, np.finfo(float).tiny)
        gaps: list[float] = (estimate / primal)[active].tolist()
        for k, gap in zip(np.flatnonzero(active), gaps, strict=True):
            column = group.columns.start + k
            self.histories[column].append(gap)
            self.stalled[column] = patience.is_over(self.histories[column], tol)
        stays = active & (estimate > tol * primal) & ~self.stalled[group.columns]
        group.progress[0] = np.where(stays, group.progress[2], -1.0)
        return max(gaps)
