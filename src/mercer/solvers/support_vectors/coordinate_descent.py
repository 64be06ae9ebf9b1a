"""Support vector problems by dual coordinate descent, with a duality gap as the stopping rule."""

import numpy as np

from mercer._typing import Array, Rows
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.solvers.support_vectors.certificate import Certificate
from mercer.solvers.support_vectors.epochs import Epochs
from mercer.solvers.support_vectors.projected_newton import projected_newton
from mercer.solvers.support_vectors.svm_dual import BoxProblems
from mercer.solvers.support_vectors.used_columns import UsedColumns
from mercer.solvers.support_vectors.when_descent_stalls import Patience, inner_steps

# Largest number of rows of float64 problems that are polished to rounding, and the gaps at which polishing is tried.
_POLISHED_ROWS = 512
_POLISH_TOLS = (1e-3, 1e-9)
# Relative gap that counts as rounding: nothing is left to polish.
_ROUNDING = 1e-15


def coordinate_descent(
    Z: Rows,
    problems: BoxProblems,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    duals: Array | None = None,
    random_state: int = 0,
) -> Solution:
    r"""Minimise :math:`\frac12 \|w_k\|^2 + \sum_i L_{ik}(\langle w_k, z_i \rangle)` for each problem k.

    Each epoch visits the rows in a new random order, and a row is read once for all problems of a thread. Rows that
    rest at a bound are left out until the end. A problem is done when the duality gap between the best weights and the
    best duals found, w = 0 included, is at most ``tol`` times the objective of the weights. On dense features
    coordinate descent may converge slowly (a large cost, or features of very different sizes). It then switches to an
    interior-point method for the plain losses and to finite Newton steps for the squared ones, once the projected
    number of epochs exceeds their cost. Float64 problems of at most 512 rows are polished to machine precision.

    Parameters
    ----------
    Z : ndarray or CSR array of shape (n, D), float32 or float64
        Without the constant feature.
    problems : BoxProblems
    tol : float
        Largest relative duality gap.
    max_iter : int
        Largest number of epochs.
    duals : ndarray of shape (n, K), optional
        Where to start; clipped to the box.
    random_state : int
        Seed of the orders.

    Returns
    -------
    Solution
        ``value`` (K, D + 1) with the weight of the constant feature last; ``details["duals"]`` (n, K); ``history`` is
        the largest relative gap over the problems after each epoch, as estimated during the epoch.

    Notes
    -----
    An epoch takes O(n D K) time, O(nnz K) for CSR rows, and less once rows rest. Columns that no CSR row uses cost
    nothing. Memory: Z and a few (n, K) tables. The result does not depend on the number of threads.

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
    used, Z = UsedColumns.of(Z)
    descent = _Descent(Z, problems, max_iter, duals, random_state)
    if not descent.is_small:
        descent.run(tol)
        return used.widened(descent.solution(tol))
    for small in _POLISH_TOLS:
        descent.run(min(tol, small))
        if descent.is_stopped or descent.polish() or descent.inner_steps.any():
            break
    return used.widened(descent.solution(tol))


class _Descent:
    """The epochs, the best point found with its duality gap, and the switch to inner steps if epochs stall."""

    def __init__(self, Z: Rows, problems: BoxProblems, max_iter: int, duals: Array | None, seed: int):
        self._Z, self._problems, self._max_iter = Z, problems, max_iter
        self._certificate = Certificate(Z, problems)
        self._duals = self._certificate.duals.copy()
        if duals is not None:
            self._duals = problems.clipped(duals)
            self._certificate.measure(self._duals)
        self._epochs = Epochs(Z, problems, seed)
        self._patience = Patience.of(Z, problems, max_iter)
        self._guesses: dict[int, Array] = {}
        self.inner_steps = np.zeros(problems.targets.shape[1], dtype=int)

    @property
    def is_small(self) -> bool:
        """Whether the problems are polished to rounding."""
        return bool(self._Z.dtype == np.float64 and self._Z.shape[0] <= _POLISHED_ROWS)

    @property
    def is_stopped(self) -> bool:
        """Whether a callback has asked to stop."""
        return self._epochs.stopped

    def run(self, tol: float) -> None:
        """Descend until every problem has a gap of ``tol`` or stalls; solve those that stall by inner steps."""
        certificate = self._certificate
        while (active := ~certificate.holds(tol) & ~self._epochs.stalled).any() and not self.is_stopped:
            weights = certificate.weights(self._duals)
            self._duals = self._epochs.descend(active, self._duals, weights, tol, self._patience)
            certificate.measure(self._duals)
        left = ~certificate.holds(tol)
        if left.any() and self._patience.epochs < self._max_iter and not self.is_stopped:
            self._step_inside(left, tol)

    def _step_inside(self, chosen: Array, tol: float) -> None:
        """Solve some of the problems by inner steps, on the rows of cost > 0."""
        certificate, rows = self._certificate, self._problems.upper > 0
        certificate.is_precise = True
        Z = self._Z if rows.all() else self._Z[rows]
        duals, value = certificate.duals.copy(), certificate.value.copy()
        for k in np.flatnonzero(chosen).tolist():
            found = inner_steps(Z, self._problems.one(k, rows), self._duals[rows, k], self._inner_tol(tol))
            duals[:, k], self._guesses[k] = 0.0, np.zeros(len(duals))
            duals[rows, k], self._guesses[k][rows] = found.details["duals"], found.details["guess"]
            value[k], self.inner_steps[k] = found.value, found.iterations
        certificate.measure(duals, value, chosen)

    def _inner_tol(self, tol: float) -> float:
        """Return the gap at which inner steps end: rounding, unless their result is polished later."""
        if not self.is_small:
            return 0.1 * tol
        return _ROUNDING if self._problems.is_squared else 0.1 * _POLISH_TOLS[-1]

    def polish(self) -> bool:
        """Replace each solution by one that is exact up to rounding; return whether all solutions are.

        The Newton steps of squared losses are exact already.
        """
        certificate, every = self._certificate, True
        chosen = ~((self.inner_steps > 0) & self._problems.is_squared) & ~certificate.holds(_ROUNDING)
        if not chosen.any():
            return True
        Z = self._Z if isinstance(self._Z, np.ndarray) else self._Z.toarray()
        Q = Z @ Z.T + self._problems.constant**2
        duals = certificate.duals.copy()
        for k in np.flatnonzero(chosen).tolist():
            found = projected_newton(Q, self._problems, k, self._guesses.get(k, self._duals[:, k]))
            duals[:, k] = found.value
            every &= found.success
        certificate.measure(duals, chosen=chosen)
        self._duals = certificate.duals.copy()
        return every

    def solution(self, tol: float) -> Solution:
        """Return the best point found."""
        certificate, histories = self._certificate, self._epochs.histories
        gap = float(np.max(certificate.relative_gaps, initial=0.0))
        longest = max(map(len, histories))
        to_the_end = [gaps + gaps[-1:] * (longest - len(gaps)) for gaps in histories if gaps]
        history = list(map(max, zip(*to_the_end, strict=True)))
        stepped = bool(self.inner_steps.any())
        inner = ", finite Newton" if self._problems.is_squared else ", interior point"
        solver = "dual coordinate descent" + (inner if stepped else "")
        found = {"objectives": certificate.objectives, "duals": certificate.duals}
        if certificate.holds(tol).all():
            return Solution.converged(certificate.value, solver, iterations=longest, history=history, gap=gap, **found)
        remedies = [Remedy.MAX_ITER_OR_TOL, Remedy.COST, Remedy.SCALE]
        status = Status.STALLED if stepped else Status.ITERATION_LIMIT
        return Solution.stopped(
            certificate.value,
            solver,
            Status.CALLBACK if self.is_stopped else status,
            f"{longest} epochs left a duality gap of {gap:.1e} of the objective, and tol={tol:g} was asked for",
            remedies + ([Remedy.FLOAT64] if self._Z.dtype == np.float32 else []),
            iterations=longest,
            history=history,
            gap=gap,
            **found,
        )
