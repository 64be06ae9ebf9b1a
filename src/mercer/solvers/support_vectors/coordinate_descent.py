"""Support vector problems by dual coordinate descent, with a duality gap as the stopping rule."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from mercer import core
from mercer._typing import Array
from mercer.config import get_config
from mercer.parallel import for_each_block, row_blocks
from mercer.solvers.solution import Solution
from mercer.solvers.support_vectors.projected_newton import polished
from mercer.solvers.support_vectors.svm_dual import BoxProblems
from mercer.solvers.support_vectors.when_descent_stalls import Patience, inner_steps

# Multiplications of one call of the core: a fraction of a second, after which an interrupt is seen.
_WORK_A_CALL = 2**28
# Rows and columns of one product: fixed, so that the bits do not depend on the threads.
_CHECK_ROWS = 4096
_SUM_COLUMNS = 512
# Largest float64 problems that are solved to rounding, and the gaps at which that is tried.
_POLISHED_ROWS = 512
_POLISH_TOLS = (1e-3, 1e-9)
# Orders of the rows that are kept, up to so many rows.
_ORDERS, _KEPT_ROWS = 16, 2**18


def coordinate_descent(
    Z: Any,
    problems: BoxProblems,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    duals: Array | None = None,
    random_state: int = 0,
) -> Solution:
    r"""Minimise :math:`\frac12 \|w_k\|^2 + \sum_i L_{ik}(\langle w_k, z_i \rangle)` for each problem k.

    Rows are visited in a new random order each epoch, and a row is read once for all problems of a thread. Rows that
    rest at a bound are left out until the end. A problem is done when its duality gap, computed anew from all its dual
    variables, is at most ``tol`` times its primal objective. On dense features descent may crawl (a large cost, or
    features of very different sizes): it then changes to inner steps as soon as its pace shows these to be quicker,
    those of an interior-point method for plain losses and of finite Newton for squared ones. Float64 problems of at
    most 512 rows are then solved to rounding by projected Newton steps.

    Parameters
    ----------
    Z : ndarray or CSR array of shape (n, D), float32 or float64
        Without the constant feature.
    problems : BoxProblems
    tol : float
        Largest relative duality gap.
    max_iter : int
        Epochs at most.
    duals : ndarray of shape (n, K), optional
        Where to start; clipped to the box.
    random_state : int
        Seed of the orders.

    Returns
    -------
    Solution
        ``value`` (K, D + 1) with the weight of the constant feature last; ``details["duals"]`` (n, K); ``history`` the
        largest relative gap over the problems after each epoch, as estimated on its way.

    Notes
    -----
    Time O(n D K) an epoch and O(nnz K) for CSR rows, less once rows rest; memory a few (n, K) tables beside Z. The
    result does not depend on the number of threads.

    References
    ----------
    C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. Keerthi and S. Sundararajan, "A dual coordinate descent method for
    large-scale linear SVM", ICML 2008. C.-H. Ho and C.-J. Lin, "Large-scale linear support vector regression", 2012.

    Examples
    --------
    >>> import numpy as np
    >>> problems = BoxProblems.of("hinge", np.array([[1.0], [-1.0]]), np.ones(2))
    >>> coordinate_descent(np.array([[1.0], [-1.0]]), problems).value.round(6).tolist()
    [[1.0, 0.0]]
    """
    descent = _Descent(Z, problems, tol, max_iter, duals, random_state)
    if descent.is_small:
        for small in _POLISH_TOLS:
            descent.run(min(tol, small))
            if descent.polish() or descent.inner_steps.any():
                break
    else:
        descent.run(tol)
    return descent.solution()


@dataclass
class _Group:
    """The problems of one thread, side by side in tables of their own: threads then share no cache line."""

    columns: slice
    targets: Array
    duals: Array
    shrunk: Array
    weights: Array
    intercepts: Array
    progress: Array  # thresholds (negative: the problem pauses), gaps, violations
    epochs: Array

    @property
    def paused(self) -> Array:
        """Which problems believe to be done."""
        paused: Array = self.progress[0] < 0
        return paused


class _Descent:
    def __init__(self, Z: Any, problems: BoxProblems, tol: float, max_iter: int, duals: Array | None, seed: int):
        self.Z, self.problems, self.tol, self.max_iter, self.seed = Z, problems, tol, max_iter, seed
        self.n_rows, self.width = int(Z.shape[0]), int(Z.shape[1])
        self.n_problems = problems.targets.shape[1]
        self.inner_steps = np.zeros(self.n_problems, dtype=int)
        self.bounds = np.column_stack([problems.upper, problems.ridge, self._squares()]).astype(Z.dtype)
        self.duals = np.zeros((self.n_rows, self.n_problems)) if duals is None else problems.clipped(duals)
        self.value = self._weights(self.duals) if duals is not None else np.zeros((self.n_problems, self.width + 1))
        self.gaps, self.objectives = np.full(self.n_problems, np.inf), np.zeros(self.n_problems)
        self.guesses = self.duals
        # Weights of problems that Newton steps have ended: a little off those of their duals, and nearer to the best.
        self.primal: dict[int, Array] = {}
        self.patience = Patience.of(Z, problems, max_iter)
        self.crawls = np.zeros(self.n_problems, dtype=bool)
        self.orders: dict[int, Array] = {}
        self.stopped = threading.Event()
        self.histories: list[list[float]] = [[] for _ in range(self.n_problems)]
        self.groups = [self._group(columns) for columns in self._columns()]

    @property
    def is_small(self) -> bool:
        """Whether the problems are solved to rounding."""
        return bool(self.Z.dtype == np.float64 and self.n_rows <= _POLISHED_ROWS)

    def run(self, tol: float) -> None:
        """Descend until every problem is done, or has had its epochs; take inner steps for those that crawl."""
        self._until(tol, np.zeros(self.n_problems, dtype=bool))
        done = self._done(tol)
        if self.patience.epochs < self.max_iter and not done.all():
            self.patience = Patience(self.max_iter)
            self.crawls[:] = False
            self._step_inside(~done, _POLISH_TOLS[-1] if self.is_small else tol)
            self._until(self.tol, self._done(self.tol))

    def _until(self, tol: float, done: Array) -> None:
        """Descend until every problem believes to be done; check them all; go on with those that are not."""
        for group in self.groups:
            self._resume(group, done[group.columns])
        while not all(group.paused.all() for group in self.groups):
            try:
                for_each_block(lambda group: self._descend(group, tol), self.groups)
            except BaseException:
                self.stopped.set()  # the other threads end after the call they are in
                raise
            for group in self.groups:
                self.duals[:, group.columns] = group.duals
            self._measure()
            done = self._done(tol)
            for group in self.groups:
                self._resume(group, done[group.columns])

    def _done(self, tol: float) -> Array:
        """Return which problems have the gap asked for, or have been brought as near as rounding allows."""
        done: Array = self.gaps <= tol * self.objectives
        done[list(self.primal)] = True
        return done

    def _step_inside(self, chosen: Array, tol: float) -> None:
        """Solve some of the problems by inner steps, and keep what they bring nearer."""
        before, rows = self._state(), self.problems.upper > 0
        self.guesses = self.duals.copy()
        Z = self.Z if rows.all() else self.Z[rows]
        for k in np.flatnonzero(chosen).tolist():
            found = inner_steps(Z, self.problems.one(k, rows), self.duals[rows, k], 0.1 * tol)
            self.duals[:, k] = self.guesses[:, k] = 0.0
            self.duals[rows, k], self.guesses[rows, k], self.inner_steps[k] = found.duals, found.guess, found.steps
            if found.weights is not None:
                self.primal[k] = found.weights
        self._keep_nearer(before)

    def _state(self) -> tuple[Array, Array, dict[int, Array]]:
        return self.duals.copy(), self.gaps, self.primal.copy()

    def _keep_nearer(self, before: tuple[Array, Array, dict[int, Array]]) -> None:
        """Measure where the problems stand, put those back whose gap has grown, and give the duals to the groups."""
        self._measure()
        duals, gaps, primal = before
        worse = np.flatnonzero(~(self.gaps <= gaps))
        if len(worse):
            self.duals[:, worse] = duals[:, worse]
            for k in worse.tolist():
                self.primal.pop(k, None)
                if k in primal:
                    self.primal[k] = primal[k]
            self._measure()
        for group in self.groups:
            group.duals[...] = self.duals[:, group.columns]

    @property
    def _product_dtype(self) -> Any:
        """Duals that crawled are large and cancel: their sums then need more than the precision of the features."""
        return np.float64 if self.inner_steps.any() else self.Z.dtype

    def _measure(self) -> None:
        of_duals = self._weights(self.duals)
        self.value = of_duals.copy()
        for k, weights in self.primal.items():
            self.value[k] = weights
        self.gaps, self.objectives = self._gaps(self.value, self.duals)
        self.gaps += 0.5 * np.square(self.value - of_duals).sum(axis=1)

    def polish(self) -> bool:
        """Replace each solution by one that is exact to rounding; return whether all are."""
        Z = self.Z.toarray() if sparse.issparse(self.Z) else self.Z
        Q = Z @ Z.T + self.problems.constant**2
        before, every = self._state(), True
        self.primal = {}
        for k in range(self.n_problems):
            start = self.guesses if self.inner_steps[k] else self.duals
            self.duals[:, k], exact = polished(Q, self.problems, k, start[:, k])
            every &= exact
        self._keep_nearer(before)
        return every

    def solution(self) -> Solution:
        """Return where the descent stands."""
        gap = float(np.max(self.gaps / np.maximum(self.objectives, np.finfo(float).tiny), initial=0.0))
        longest = max(map(len, self.histories))
        history = tuple(max(h[min(i, len(h) - 1)] for h in self.histories if h) for i in range(longest))
        inner = ", finite Newton" if self.problems.is_squared else ", interior point"
        solver = "dual coordinate descent" + (inner if self.inner_steps.any() else "")
        details = {"solver": solver, "objectives": self.objectives, "duals": self.duals}
        if np.all(self.gaps <= self.tol * self.objectives):
            return Solution(self.value, "success", longest, history, "", details, gap)
        way_out = ", or pass float64" if self.Z.dtype == np.float32 else ""
        advice = (
            f"{self.max_iter} epochs left a duality gap of {gap:.1e} of the objective, and tol={self.tol:g} was asked "
            f"for: raise max_iter or tol, lower C, scale the features{way_out}."
        )
        return Solution(self.value, "iteration limit", longest, history, advice, details, gap)

    def _squares(self) -> Array:
        """Return the squared norms of the rows, constant feature included."""
        squares = np.empty(self.n_rows)

        def work(rows: slice) -> None:
            part = self.Z[rows]
            if sparse.issparse(part):
                squares[rows] = np.asarray(part.multiply(part).sum(axis=1)).ravel()
            else:
                squares[rows] = np.einsum("ij,ij->i", part, part)

        for_each_block(work, row_blocks(self.n_rows, _CHECK_ROWS))
        return squares + self.problems.constant**2

    def _weights(self, duals: Array) -> Array:
        """Return the weights that belong to duals, summed in float64."""
        value = np.zeros((self.n_problems, self.width + 1))
        value[:, -1] = self.problems.constant * duals.sum(axis=0)
        blocks = row_blocks(self.n_rows, _CHECK_ROWS)
        factors = duals.astype(self._product_dtype, copy=False)
        if sparse.issparse(self.Z):
            for rows in blocks:
                value[:, :-1] += (self.Z[rows].T @ factors[rows]).T
            return value

        def work(columns: slice) -> None:
            for rows in blocks:
                value[:, columns] += factors[rows].T @ self.Z[rows, columns]

        for_each_block(work, row_blocks(self.width, _SUM_COLUMNS))
        return value

    def _gaps(self, value: Array, duals: Array) -> tuple[Array, Array]:
        """Return the duality gap and the primal objective of each problem."""
        blocks = row_blocks(self.n_rows, _CHECK_ROWS)
        parts = np.empty((len(blocks), 2, self.n_problems))
        weights = value[:, :-1].T.astype(self._product_dtype)
        constant = self.problems.constant * value[:, -1]

        def work(numbered: tuple[int, slice]) -> None:
            number, rows = numbered
            scores = core.scores(self.Z[rows], weights).astype(np.float64) + constant
            parts[number, 0] = self.problems.gaps(rows, scores, duals[rows]).sum(axis=0)
            parts[number, 1] = self.problems.losses(rows, scores).sum(axis=0)

        for_each_block(work, list(enumerate(blocks)))
        gaps, losses = parts.sum(axis=0)
        return np.maximum(gaps, 0.0), losses + 0.5 * np.einsum("kj,kj->k", value, value)

    def _columns(self) -> Iterator[slice]:
        """Share the problems among the threads."""
        n_groups = min(get_config().threads, self.n_problems)
        ends = np.linspace(0, self.n_problems, n_groups + 1).round().astype(int).tolist()
        return (slice(a, b) for a, b in pairwise(ends))

    def _group(self, columns: slice) -> _Group:
        size, dtype = columns.stop - columns.start, self.Z.dtype
        shape = (size, self.width)
        if sparse.issparse(self.Z):
            shape = (self.width, size if size == 1 else -(-size // 8) * 8)  # the core's own layout
        return _Group(
            columns,
            targets=np.ascontiguousarray(self.problems.targets[:, columns], dtype=dtype),
            duals=np.ascontiguousarray(self.duals[:, columns], dtype=dtype),
            shrunk=np.zeros((self.n_rows, size), dtype=np.uint8),
            weights=np.zeros(shape, dtype=dtype),
            intercepts=np.zeros(size, dtype=dtype),
            progress=np.zeros((3, size)),
            epochs=np.zeros(size, dtype=int),
        )

    def _resume(self, group: _Group, done: Array) -> None:
        """Let the problems that are not done go on, from weights rounded once rather than at every step."""
        resumed = ~done & ~self.crawls[group.columns]
        value = self.value[group.columns][resumed]
        if sparse.issparse(self.Z):
            group.weights[:, np.flatnonzero(resumed)] = value[:, :-1].T
        else:
            group.weights[resumed] = value[:, :-1]
        group.intercepts[resumed] = value[:, -1]
        group.shrunk[:, resumed] = 0
        group.progress[0] = np.where(resumed, np.inf, -1.0)

    def _descend(self, group: _Group, tol: float) -> None:
        """Visit all rows epoch by epoch until every problem of the group believes to be done."""
        problems = self.problems
        per_row = self.Z.nnz / self.n_rows if sparse.issparse(self.Z) else self.width
        step = max(1, int(_WORK_A_CALL / ((per_row + 1) * len(group.epochs))))
        tables = core.BoxTables(
            group.targets,
            self.bounds,
            group.duals,
            group.shrunk,
            group.weights,
            group.intercepts,
            group.progress,
            problems.one_sided,
            problems.epsilon,
            problems.constant,
        )
        while not group.paused.all():
            active = ~group.paused
            # All problems that are not paused are in the same epoch, whose order depends on its number alone.
            epoch = int(group.epochs[active][0])
            order = self._order(epoch)
            group.progress[1:] = 0
            for start in range(0, self.n_rows, step):
                if self.stopped.is_set():
                    return
                core.descend(self.Z, order[start : start + step], tables)
            group.epochs[active] += 1
            self._judge(group, active, tol)

    def _order(self, epoch: int) -> Array:
        """Return the order of an epoch: those of few rows come round again.

        Late in a descent to draw one takes as long as to visit the rows that are left.
        """
        kept = self.n_rows <= _KEPT_ROWS
        number = epoch % _ORDERS if kept else epoch
        order = self.orders.get(number)
        if order is None:
            order = np.random.RandomState((self.seed + number) % 2**32).permutation(self.n_rows)
            if kept:
                self.orders[number] = order
        return order

    def _judge(self, group: _Group, active: Array, tol: float) -> None:
        """Set the thresholds of the next epoch, and pause the problems that believe to be done, or crawl.

        Each visited coordinate added its part of the gap as it stood then; one that rests at its bound has none.
        """
        estimate = group.progress[1]
        axis = 0 if sparse.issparse(self.Z) else 1
        squares: Array = np.asarray(np.sum(np.square(group.weights), axis=axis, dtype=np.float64))
        squares = squares[: len(estimate)] + np.square(group.intercepts)
        sums = self.problems.conjugate_sums(group.targets, group.duals)
        primal = np.maximum(estimate - sums - squares / 2, np.finfo(float).tiny)
        for k in np.flatnonzero(active):
            column = group.columns.start + k
            self.histories[column].append(float(estimate[k] / primal[k]))
            self.crawls[column] = self.patience.is_over(self.histories[column], tol)
        stays = active & (estimate > tol * primal) & ~self.crawls[group.columns]
        group.progress[0] = np.where(stays, group.progress[2], -1.0)
