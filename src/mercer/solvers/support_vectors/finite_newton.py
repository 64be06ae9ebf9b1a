"""Support vector problems of squared losses by Newton steps on the rows that have a loss."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import brentq

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.solvers.support_vectors.dense_rows import Design
from mercer.solvers.support_vectors.svm_dual import BoxProblems

_FARTHEST = 2.0**20  # in Newton steps: no minimum along a direction is as far
# Slope after a full step, relative to the slope before it, that counts as 0: the rows with a loss were the right ones.
_EXACT = 1e-9


# From the square roots of the rows' curvatures to the function that solves with the Hessian.
_Factor = Callable[[Array], Callable[[Array], Array]]


def finite_newton(
    design: Design, problem: BoxProblems, start: Array, *, tol: float = 1e-6, max_iter: int = 500
) -> Solution:
    r"""Minimise :math:`\frac12 \|w\|^2 + \sum_i \ell_i(\langle w, z_i \rangle)^2 / 2 r_i`.

    As long as the same rows have a loss, the objective is quadratic; its Hessian is :math:`I + \sum_i z_i z_i^T / r_i`
    over these rows. Once the rows with a loss are found, one step ends at the solution, for any scale of features. The
    duality gap at w and the duals that belong to w is half the squared norm of the gradient. The method ends when the
    gap is at most ``tol`` times the objective, or when rounding prevents further progress.

    Parameters
    ----------
    design : Design
    problem : BoxProblems
        One problem, of a squared loss, on the same rows, all of cost > 0.
    start : ndarray of shape (n,)
        Duals; the method starts from their weights.

    Returns
    -------
    Solution
        ``value`` (D + 1,); ``details["duals"]`` (n,), and the same as ``details["guess"]``.

    Notes
    -----
    A step takes n_s D^2 / 2 + D^3 / 6 multiplications, with n_s the number of rows that have a loss; about ten steps.
    The products of a Hessian are computed in the precision of the features first. If these steps stop making progress,
    the products are computed in float64, and then the Hessian is factored by the QR decomposition of its rows, which
    keeps twice the digits. All other arithmetic is float64.

    References
    ----------
    O. Mangasarian, "A finite Newton method for classification", Optimization Methods and Software 17, 2002.
    S. Keerthi and D. DeCoste, "A modified finite Newton method for fast solution of large scale linear SVMs", JMLR 6,
    2005.
    """
    weights = design.weights(start)
    point = _at(design, problem, weights, design.scores(weights))
    history = [point.gap / max(point.objective, np.finfo(float).tiny)]
    for factor in _factors(design):
        while history[-1] > tol and len(history) <= max_iter:
            after = _step(design, problem, point, factor)
            if after is None:
                break
            point = after
            history.append(point.gap / max(point.objective, np.finfo(float).tiny))
    steps, gap = len(history) - 1, history[-1]
    found = Solution.converged(
        point.weights, "finite Newton", iterations=steps, history=history, gap=gap, duals=point.duals, guess=point.duals
    )
    if gap <= tol:
        return found
    status = Status.ITERATION_LIMIT if steps >= max_iter else Status.STALLED
    left = f"{steps} steps left a duality gap of {gap:.1e} of the objective"
    return found.unfinished(status, left, [Remedy.SCALE, Remedy.COST])


def _factors(design: Design) -> list[_Factor]:
    """Return the ways to factor a Hessian, the fastest first and the most accurate last."""

    def by_products(dtype: np.dtype[np.generic]) -> _Factor:
        def factor(roots: Array) -> Callable[[Array], Array]:
            with one_blas_thread():
                found = cho_factor(design.shifted_gram(roots, dtype), lower=True, overwrite_a=True)
            return lambda right: np.asarray(cho_solve(found, right))

        return factor

    def by_rows(roots: Array) -> Callable[[Array], Array]:
        found = (design.shifted_triangle(roots), False)
        return lambda right: np.asarray(cho_solve(found, right))

    return [*(by_products(dtype) for dtype in dict.fromkeys([design.Z.dtype, np.dtype(np.float64)])), by_rows]


@dataclass(frozen=True)
class _Point:
    """Weights, the scores and the duals that belong to them, and the gradient of the objective."""

    weights: Array
    scores: Array
    duals: Array
    gradient: Array
    objective: float

    @property
    def gap(self) -> float:
        """The duality gap of the weights and the duals: each loss and its conjugate are equal there."""
        return 0.5 * float(self.gradient @ self.gradient)


def _at(design: Design, problem: BoxProblems, weights: Array, scores: Array) -> _Point:
    duals = problem.duals_at(scores[:, None])[:, 0]
    losses = problem.losses(slice(None), scores[:, None])
    objective = 0.5 * float(weights @ weights) + float(losses.sum())
    return _Point(weights, scores, duals, weights - design.weights(duals), objective)


def _step(design: Design, problem: BoxProblems, point: _Point, factor: _Factor) -> _Point | None:
    """Return the lowest point along Newton's direction, or None if rounding hides it."""
    roots = np.where(point.duals != 0, problem.ridge**-0.5, 0.0)
    try:
        move = -factor(roots)(point.gradient)
    except (LinAlgError, ValueError):  # lost to rounding, or to overflow
        return None
    change = design.scores(move)

    def slope(length: float) -> float:
        duals = problem.duals_at((point.scores + length * change)[:, None])[:, 0]
        return float((point.weights + length * move) @ move - duals @ change)

    length = _lowest(slope)
    if length is None:
        return None
    after = _at(design, problem, point.weights + length * move, point.scores + length * change)
    # Near the solution the objectives agree to rounding, and the gradients do not yet.
    level = point.objective * (1 + 4 * np.finfo(float).eps)
    nearer = after.objective < point.objective or (after.objective <= level and after.gap < 0.5 * point.gap)
    return after if nearer else None


def _lowest(slope: Callable[[float], float]) -> float | None:
    """Return where the slope along a direction is 0, in Newton steps; None if it is never 0."""
    first, farthest = slope(0.0), 1.0
    if first < 0 and abs(slope(1.0)) <= _EXACT * abs(first):
        return 1.0
    while slope(farthest) < 0 and farthest < _FARTHEST:
        farthest *= 2
    if not first < 0 <= slope(farthest):
        return None
    return float(brentq(slope, 0.0, farthest, xtol=1e-15, rtol=1e-9))
