"""Small support vector problems, solved to machine precision by Newton steps on the coordinates at no bound."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.solvers.support_vectors.svm_dual import BoxProblems

_SOLVER = "projected Newton"
_ITERATIONS = 300
# Number of iterations in which the violation of the optimality conditions must fall to a half. From a start near the
# solution, two or three are enough; if rounding hides which duals are at a bound, no number of iterations is enough.
_PATIENCE = 16
# Step lengths, all tried at once: if rows are linearly dependent, the first bound along a direction may be very near.
_STEPS = 0.5 ** np.arange(45)
# Part of the mean diagonal that is added to Q before the factorisation: repeated rows make Q singular.
_JITTER = 1e-11
# Violation of the optimality conditions, relative to the largest score or target, that counts as rounding.
_ROUNDING = 1e-11


def projected_newton(Q: Array, problems: BoxProblems, k: int, duals: Array) -> Solution:
    r"""Return duals of one problem that are exact to rounding.

    Minimises :math:`\frac12 \beta^T (Q + \mathrm{diag}(r)) \beta - t^T \beta + \epsilon \|\beta\|_1` over the box by
    projected Newton steps. A direction solves the equations of the coordinates that are free or would leave their
    bound; the best of many step lengths, each projected onto the box, is taken.

    Parameters
    ----------
    Q : float64 ndarray of shape (n, n)
        Inner products of the rows, constant feature included.
    problems : BoxProblems
    k : int
        The number of the problem.
    duals : ndarray of shape (n,)
        Where to start.

    Returns
    -------
    Solution
        ``value`` (n,): the lowest duals found. ``history`` is the violation of the optimality conditions, relative to
        the largest score or target.

    Notes
    -----
    Time O(n^3) per iteration.

    References
    ----------
    D. Bertsekas, "Projected Newton methods for optimization problems with simple constraints", SIAM J. Control
    Optim. 20, 1982.
    """
    quadratic = Q + np.diag(problems.ridge)
    target, epsilon = problems.targets[:, k], problems.epsilon
    curvature = np.maximum(np.diag(quadratic), np.finfo(float).tiny)
    sides = np.where(target >= 0, 1.0, -1.0) if problems.one_sided else None
    history: list[float] = []
    with one_blas_thread():
        for _ in range(_ITERATIONS):
            scores = quadratic @ duals
            gradient = scores - target
            orthant = sides if sides is not None else _orthant(duals, gradient, epsilon)
            lower, upper = np.where(orthant > 0, 0.0, -problems.upper), np.where(orthant > 0, problems.upper, 0.0)
            slope = gradient + epsilon * orthant
            single = np.clip(duals - slope / curvature, lower, upper) - duals
            size = max(np.abs(target).max(initial=0.0), np.abs(scores).max(initial=0.0), np.finfo(float).tiny)
            history.append(float(np.abs(single * curvature).max(initial=0.0) / size))
            if history[-1] <= _ROUNDING:
                return Solution.converged(duals, _SOLVER, iterations=len(history) - 1, history=history)
            if len(history) > _PATIENCE and min(history[-_PATIENCE:]) > 0.5 * min(history[:-_PATIENCE]):
                break
            free = ((duals > lower) | (slope < 0)) & ((duals < upper) | (slope > 0)) & (problems.upper > 0)
            direction = _direction(quadratic, slope, free)
            if direction is None:
                break
            tried = np.clip(duals + _STEPS[:, None] * direction, lower, upper)
            tried = np.vstack([tried, duals + single * free.sum() ** -1.0])
            best = _lowest(quadratic, slope, tried - duals)
            if best is None:
                break
            duals = tried[best]
    status = Status.ITERATION_LIMIT if len(history) == _ITERATIONS else Status.STALLED
    left = f"{len(history)} iterations left a violation of {history[-1]:.1e} of the optimality conditions"
    done = len(history)
    return Solution.stopped(duals, _SOLVER, status, left, [Remedy.SCALE, Remedy.COST], iterations=done, history=history)


def _orthant(duals: Array, gradient: Array, epsilon: float) -> Array:
    """Return the sign of each coordinate, or the sign that it would get."""
    away: Array = np.where(gradient > epsilon, -1.0, 1.0)
    return np.where(duals == 0, away, np.sign(duals))


def _direction(quadratic: Array, slope: Array, free: Array) -> Array | None:
    matrix = quadratic[np.ix_(free, free)]
    matrix[np.diag_indices_from(matrix)] += _JITTER * np.trace(matrix) / max(len(matrix), 1)
    direction = np.zeros(len(slope))
    try:
        factor = cho_factor(matrix, lower=True, overwrite_a=True)
    except LinAlgError:
        return None
    direction[free] = -cho_solve(factor, slope[free])
    return direction


def _lowest(quadratic: Array, slope: Array, moves: Array) -> int | None:
    """Return the number of the move with the lowest objective; None if no move lowers the objective.

    Differences are compared, not values: near the solution, the values agree to rounding.
    """
    gains = moves @ slope + 0.5 * np.einsum("ij,ij->i", moves @ quadratic, moves)
    best = int(np.argmin(gains))
    return best if gains[best] < 0 else None
