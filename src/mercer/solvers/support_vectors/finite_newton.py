"""Support vector problems of squared losses by Newton steps on the rows that have a loss."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import brentq

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.support_vectors.dense_rows import Design
from mercer.solvers.support_vectors.svm_dual import BoxProblems

_FARTHEST = 2.0**20  # in Newton steps: no minimum along a direction is as far


def finite_newton(
    design: Design, problem: BoxProblems, start: Array, *, tol: float = 1e-6, max_iter: int = 500
) -> tuple[Array, Array, int]:
    r"""Minimise :math:`\frac12 \|w\|^2 + \sum_i \ell_i(\langle w, z_i \rangle)^2 / 2 r_i`.

    The objective is quadratic where the same rows have a loss, with the Hessian :math:`I + \sum_i z_i z_i^T / r_i`
    over these: once they are found a step ends at the solution, however badly the features are scaled. The duality gap
    at w and the duals that belong to it is half the squared norm of the gradient; it ends where that is at most
    ``tol`` of the objective, or rounding leaves nothing to gain.

    Parameters
    ----------
    design : Design
    problem : BoxProblems
        One problem, of a squared loss, on the same rows, all of cost > 0.
    start : ndarray of shape (n,)
        Duals whose weights to start from.

    Returns
    -------
    weights : ndarray of shape (D + 1,)
    duals : ndarray of shape (n,)
    iterations : int

    Notes
    -----
    Time n_s D^2 / 2 + D^3 / 6 multiplications a step, with n_s the rows that have a loss; about ten steps. The products
    of a Hessian are taken in the precision of the features, and in float64 where that leads no further; all else is
    float64.

    References
    ----------
    O. Mangasarian, "A finite Newton method for classification", Optimization Methods and Software 17, 2002.
    S. Keerthi and D. DeCoste, "A modified finite Newton method for fast solution of large scale linear SVMs", JMLR 6,
    2005.
    """
    weights = design.weights(start)
    point = _at(design, problem, weights, design.scores(weights))
    iterations = 0
    for dtype in dict.fromkeys([design.Z.dtype, np.dtype(np.float64)]):
        while point.gap > tol * point.objective and iterations < max_iter:
            after, iterations = _step(design, problem, point, dtype), iterations + 1
            if after is None:
                break
            point = after
    return point.weights, point.duals, iterations


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
        """The duality gap of the weights and the duals: each loss and its conjugate meet in them."""
        return 0.5 * float(self.gradient @ self.gradient)


def _at(design: Design, problem: BoxProblems, weights: Array, scores: Array) -> _Point:
    duals = problem.duals_at(scores[:, None])[:, 0]
    losses = problem.losses(slice(None), scores[:, None])
    objective = 0.5 * float(weights @ weights) + float(losses.sum())
    return _Point(weights, scores, duals, weights - design.weights(duals), objective)


def _step(design: Design, problem: BoxProblems, point: _Point, dtype: Any) -> _Point | None:
    """Return the lowest point along Newton's direction, or None where rounding hides it."""
    roots = np.where(point.duals != 0, problem.ridge**-0.5, 0.0)
    try:
        with one_blas_thread():
            factor = cho_factor(design.shifted_gram(roots, dtype), lower=True, overwrite_a=True)
    except (LinAlgError, ValueError):  # lost to rounding, or to overflow
        return None
    move = -cho_solve(factor, point.gradient)
    change = design.scores(move)

    def slope(length: float) -> float:
        duals = problem.duals_at((point.scores + length * change)[:, None])[:, 0]
        return float((point.weights + length * move) @ move - duals @ change)

    farthest = 1.0
    while slope(farthest) < 0 and farthest < _FARTHEST:
        farthest *= 2
    if not slope(0.0) < 0 <= slope(farthest):
        return None
    length = brentq(slope, 0.0, farthest, xtol=1e-15, rtol=1e-9)
    after = _at(design, problem, point.weights + length * move, point.scores + length * change)
    return after if after.objective < point.objective else None
