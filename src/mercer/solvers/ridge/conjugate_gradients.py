"""Conjugate gradients, all right-hand sides in one product."""

from collections.abc import Callable

import numpy as np

from mercer._typing import Array
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.watching import State, told

# Products whose gain together decides whether more are worth their time: single steps may gain little by chance.
_LAST = 4


def conjugate_gradients(
    product: Callable[[Array], Array],
    right: Array,
    *,
    precondition: Callable[[Array], Array] | None = None,
    tol: float = 1e-6,
    gain_tol: float = 0.0,
    max_iter: int = 500,
) -> Solution:
    """Solve A w = b for a symmetric positive definite A known by its products only.

    Each column has its own step lengths, and all columns share the product, which is a pass over the rows if A is made
    of rows. A column stops at ||b - A w|| <= tol ||b||; ``history`` is the largest such ratio. A column along which
    rounding makes A indefinite stops too, at the lowest point it has reached.

    A step lowers w^T A w / 2 - b^T w, summed over the columns, by a known amount. If ``gain_tol`` is not 0, the solver
    also stops once the last 4 products together have lowered it by less than this part of what all have. A callback of
    ``config_context`` may stop the solver after each product.

    Parameters
    ----------
    product : function of an array of shape (D, m) that returns A times it
    right : ndarray of shape (D, m)
    precondition : function of an array of shape (D, m), optional
        Applies a symmetric positive definite approximation of the inverse of A, up to a factor.
    tol : float
    gain_tol : float
    max_iter : int
        Largest number of products.

    References
    ----------
    M. Hestenes and E. Stiefel, "Methods of conjugate gradients for solving linear systems", 1952.

    >>> import numpy as np
    >>> solution = conjugate_gradients(lambda v: 2 * v, np.ones((3, 1)))
    >>> solution.value.ravel().tolist(), solution.iterations
    ([0.5, 0.5, 0.5], 1)
    """
    solve = precondition or (lambda columns: columns)
    value = np.zeros_like(right)
    residual = right.copy()
    towards = solve(residual)
    direction = towards.copy()
    squares, decrease = _dots(residual, residual), _dots(residual, towards)
    limit = tol * np.sqrt(squares)
    scale = np.where(squares > 0, np.sqrt(squares), 1.0)
    stalled = np.zeros(len(squares), dtype=bool)
    history: list[float] = []
    gains: list[float] = []
    ended = False
    for _ in range(max_iter):
        active = (np.sqrt(squares) > limit) & ~stalled
        if not active.any():
            break
        image = product(direction)
        curvature = _dots(direction, image)
        stalled |= active & ~((curvature > 0) & np.isfinite(curvature))
        active &= ~stalled
        if not active.any():
            break
        # A column that has stopped keeps its direction in the product, and takes no step.
        step = np.where(active, decrease / np.where(active, curvature, 1.0), 0.0)
        value += step * direction
        residual -= step * image
        squares = np.where(active, _dots(residual, residual), squares)
        towards = solve(residual)
        new = np.where(active, _dots(residual, towards), decrease)
        gains.append(float(np.sum(step * decrease)) / 2)
        direction *= np.where(active, new / np.where(decrease > 0, decrease, 1.0), 0.0)
        direction += towards
        decrease = new
        history.append(float(np.max(np.sqrt(squares) / scale)))
        left = f"{len(history)} iterations left a residual of {history[-1]:.1e}"
        if told(State("conjugate gradients", len(history), max_iter, gap=history[-1], tol=tol)):
            return _with_gains(value, history, gains).unfinished(Status.CALLBACK, left, [Remedy.ALPHA])
        ended = len(gains) > _LAST and sum(gains[-_LAST:]) < gain_tol * sum(gains)
        if ended:
            break
    found = _with_gains(value, history, gains)
    if ended or not np.any(np.sqrt(squares) > limit):
        return found
    status = Status.STALLED if stalled.any() else Status.ITERATION_LIMIT
    left = f"{len(history)} iterations left a residual of {float(np.max(np.sqrt(squares) / scale)):.1e}"
    return found.unfinished(status, left, [Remedy.ALPHA, Remedy.SCALE])


def _with_gains(value: Array, history: list[float], gains: list[float]) -> Solution:
    return Solution.converged(
        value, "conjugate gradients", iterations=len(history), history=history, gains=[float(gain) for gain in gains]
    )


def _dots(A: Array, B: Array) -> Array:
    dots: Array = np.einsum("ij,ij->j", A, B)
    return dots
