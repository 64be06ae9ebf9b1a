"""Smooth convex problems over a box: Newton steps, each a quadratic problem solved by an interior-point method."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.solution import Solution

_TO_THE_WALL = 0.995
_SUFFICIENT = 1e-4  # of the decrease that the gradient promises


class Expansion(NamedTuple):
    """Values (k,), gradients (D, k) and Hessians (k, D, D) of k functions, each at its own column."""

    values: Array
    gradients: Array
    hessians: Array


def box_gap(gradient: Array, w: Array, bound: float) -> float:
    """Return g.w + b |g|_1, the most that a convex function can still fall within the box from w."""
    return float(gradient @ w + bound * np.abs(gradient).sum())


def box_quadratic(
    hessian: Array, linear: Array, bound: float, *, gap: float = 0.0, tol: float = 1e-12, max_iter: int = 60
) -> Solution:
    r"""Minimise :math:`\frac12 w^T H w - h^T w` over :math:`|w_i| \le b` by a primal-dual interior-point method.

    Mehrotra's predictor and corrector, a Cholesky factorisation of H plus a diagonal an iteration, about 15 of them
    whatever the condition of H. It ends where ``box_gap`` is at most ``gap``, or ``tol`` of its first value, or does
    not fall any more for rounding.

    Parameters
    ----------
    hessian : ndarray of shape (D, D), positive semi-definite
    linear : ndarray of shape (D,)
    bound : float
        b > 0.

    References
    ----------
    S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optimization 2, 1992.

    >>> import numpy as np
    >>> box_quadratic(np.eye(2), np.array([3.0, 0.5]), 1.0).value.round(9).tolist()
    [1.0, 0.5]
    """
    H, h = bound**2 * hessian, bound * linear  # of x = w / b, in a box of 1
    x = np.zeros(len(h))
    size = float(np.abs(h).max(initial=0.0))
    if size == 0:
        return Solution(x, details={"solver": "interior point"})
    upper, lower = np.full(len(h), size), np.full(len(h), size)  # multipliers of x <= 1 and x >= -1
    history: list[float] = []
    best, best_gap, stalled = x, np.inf, 0
    limit = max(gap, tol * float(np.abs(h).sum()))
    with one_blas_thread():
        for _ in range(max_iter):
            gradient = H @ x - h
            history.append(box_gap(gradient, x, 1.0))
            stalled = 0 if history[-1] < best_gap else stalled + 1
            if history[-1] < best_gap:
                best, best_gap = x, history[-1]
            if best_gap <= limit or stalled > 3:
                break
            x, upper, lower = _interior_step(H, gradient, x, upper, lower)
    details = {"solver": "interior point"}
    done: dict[str, Any] = {"iterations": len(history), "history": tuple(history), "details": details}
    if best_gap > max(limit, 1e-6 * history[0]):
        advice = f"{len(history)} steps left a gap of {best_gap:.1e}. Scale the features, or lower the bound."
        return Solution(bound * best, "iteration limit", advice=advice, **done)
    return Solution(bound * best, **done)


def _interior_step(H: Array, gradient: Array, x: Array, upper: Array, lower: Array) -> tuple[Array, Array, Array]:
    above, below = 1 - x, 1 + x
    shifted = H.copy()
    shifted[np.diag_indices_from(shifted)] += upper / above + lower / below
    factor = _factor(shifted)
    residual = gradient + upper - lower

    def direction(centre: float, second_above: Array, second_below: Array) -> tuple[Array, Array, Array]:
        push_above, push_below = (centre - second_above) / above - upper, (centre - second_below) / below - lower
        dx = cho_solve(factor, -residual - push_above + push_below, check_finite=False)
        return dx, push_above + upper / above * dx, push_below - lower / below * dx

    zero = np.zeros_like(x)
    mean = float(upper @ above + lower @ below) / (2 * len(x))
    dx, du, dl = direction(0.0, zero, zero)
    a = _step(above, below, upper, lower, dx, du, dl)
    ahead = float((upper + a * du) @ (above - a * dx) + (lower + a * dl) @ (below + a * dx)) / (2 * len(x))
    dx, du, dl = direction(mean * (ahead / mean) ** 3, -du * dx, dl * dx)
    a = _TO_THE_WALL * _step(above, below, upper, lower, dx, du, dl)
    return x + a * dx, upper + a * du, lower + a * dl


def _factor(matrix: Array) -> tuple[Array, bool]:
    """Factor a matrix that rounding may have left with negative eigenvalues; a shift of their size makes up for it."""
    shift = np.finfo(np.float64).eps * np.trace(matrix)
    while True:
        try:
            return cho_factor(matrix, lower=True, check_finite=False)  # type: ignore[no-any-return]
        except LinAlgError:
            matrix[np.diag_indices_from(matrix)] += shift
            shift *= 10


def _step(*values_and_moves: Array) -> float:
    """Return the longest step up to 1 that keeps the slacks and the multipliers positive."""
    above, below, upper, lower, dx, du, dl = values_and_moves
    longest = 1.0
    for value, move in ((above, -dx), (below, dx), (upper, du), (lower, dl)):
        falling = move < 0
        if falling.any():
            longest = min(longest, float(np.min(value[falling] / -move[falling])))
    return longest


def box_newton(
    expand: Callable[[Array], Expansion], start: Array, bound: float, *, tol: float = 1e-8, max_iter: int = 50
) -> Solution:
    """Minimise k convex functions, each of its own column of w (D, k), over the box |w_ij| <= bound.

    A step goes towards the least point of the quadratic expansion within the box, halved until the function falls by a
    share of what the gradient promises. A column is done when its gap, g.w + b |g|_1, which bounds how far it is above
    its minimum, is at most ``tol`` times its value at w = 0 (or at the start, if that is larger).

    Parameters
    ----------
    expand : function of w that returns an ``Expansion``; a pass over the rows where there are rows behind it
    start : ndarray of shape (D, k), inside the box
    bound : float

    >>> import numpy as np
    >>> def expand(w):  # (w - 2)^2 / 2
    ...     return Expansion((w[0] - 2) ** 2 / 2, w - 2, np.ones((1, 1, 1)))
    >>> box_newton(expand, np.zeros((1, 1)), 1.0).value.round(6).tolist()
    [[1.0]]
    """
    w, here = start, expand(start)
    scale = np.maximum(np.abs(here.values), np.finfo(np.float64).tiny)
    history: list[float] = []
    for _ in range(max_iter):
        gaps = np.array([box_gap(here.gradients[:, j], w[:, j], bound) for j in range(w.shape[1])])
        history.append(float(np.max(gaps / scale)))
        active = gaps > tol * scale
        if not active.any():
            break
        moves = np.zeros_like(w)
        for j in np.flatnonzero(active):
            H, column = here.hessians[j], w[:, j]
            # A point that near its minimum has a gap like the root of its distance: only a step solved to the gap's
            # square goes on falling.
            gap = 0.01 * gaps[j] * min(1.0, gaps[j] / scale[j])
            goal = box_quadratic(H, H @ column - here.gradients[:, j], bound, gap=gap)
            moves[:, j] = goal.value - column
        w, here, moved = _descend(expand, w, moves, here, bound)
        if not moved:
            break
    details = {"solver": "box Newton"}
    if history[-1] > tol:
        advice = f"{len(history)} steps left a gap of {history[-1]:.1e} of the loss at 0: lower the bound."
        return Solution(w, "iteration limit", len(history), tuple(history), advice, details)
    return Solution(w, iterations=len(history), history=tuple(history), details=details)


def _descend(
    expand: Callable[[Array], Expansion], w: Array, moves: Array, here: Expansion, bound: float
) -> tuple[Array, Expansion, bool]:
    """Move every column as far as its function falls; return whether any has moved."""
    promised = np.einsum("ij,ij->j", here.gradients, moves)
    lengths = np.where(promised < 0, 1.0, 0.0)
    # Rounding of the values may hide the last decreases.
    slack = 8 * np.finfo(np.float64).eps * np.abs(here.values)
    for _ in range(30):
        trial = np.clip(w + lengths * moves, -bound, bound)
        there = expand(trial)
        fails = (lengths > 0) & ~(there.values <= here.values + _SUFFICIENT * lengths * promised + slack)
        if not fails.any():
            return trial, there, bool(lengths.any())
        lengths[fails] /= 2
    return w, here, False
