"""Smooth convex problems over a box: Newton steps, each a quadratic problem solved by an interior-point method."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from mercer._typing import Array
from mercer.checkpoints import Loop, resumable
from mercer.parallel import one_blas_thread
from mercer.solvers.box.interior_point import Solve, interior_point, robust_factor
from mercer.solvers.solution import Remedy, Solution, Status

_SUFFICIENT = 1e-4  # of the decrease that the gradient promises
# Gap of a quadratic, relative to its gap at 0, that counts as solved if rounding keeps it from falling.
_ROUNDING = 1e-6


class Expansion(NamedTuple):
    """Values (k,), gradients (D, k) and Hessians (k, D, D) of k functions, the j-th at column j of w."""

    values: Array
    gradients: Array
    hessians: Array


def box_gap(gradient: Array, w: Array, bound: float) -> float:
    """Return g.w + b |g|_1, a bound on how far a convex function at w is above its minimum in the box."""
    return float(gradient @ w + bound * np.abs(gradient).sum())


def box_quadratic(
    hessian: Array, linear: Array, bound: float, *, gap: float = 0.0, tol: float = 1e-12, max_iter: int = 60
) -> Solution:
    r"""Minimise :math:`\frac12 w^T H w - h^T w` over :math:`|w_i| \le b` by a primal-dual interior-point method.

    Each iteration takes one Cholesky factorisation of H plus a diagonal; about 15 iterations, for any condition number
    of H. The method ends when ``box_gap`` is at most ``gap`` or ``tol`` times its value at 0, or if rounding keeps
    ``box_gap`` from falling.

    Parameters
    ----------
    hessian : ndarray of shape (D, D), positive semi-definite
    linear : ndarray of shape (D,)
    bound : float
        b > 0.

    >>> import numpy as np
    >>> box_quadratic(np.eye(2), np.array([3.0, 0.5]), 1.0).value.round(9).tolist()
    [1.0, 0.5]
    """
    H, h = bound**2 * hessian, bound * linear  # of x = w / b, in a box of 1
    solver, first = "interior point", float(np.abs(h).sum())
    if first == 0:
        return Solution.converged(np.zeros(len(h)), solver, gap=0.0)
    limit = max(gap, tol * first)
    with one_blas_thread():
        found = interior_point(_Dense(H, h), np.ones(len(h)), np.full(len(h), 2.0), tol=limit, max_iter=max_iter - 1)
    value, left = bound * np.clip(found.image, -1.0, 1.0), found.error
    solution = Solution.converged(value, solver, iterations=len(found.history), history=found.history, gap=left / first)
    if left <= max(limit, _ROUNDING * first):
        return solution
    status = Status.ITERATION_LIMIT if len(found.history) >= max_iter else Status.STALLED
    undone = f"{len(found.history)} steps left a gap of {left:.1e}"
    return solution.unfinished(status, undone, [Remedy.SCALE, Remedy.BOUND])


@dataclass(frozen=True)
class _Dense:
    """The quadratic x'Hx/2 - h'x for x = y - 1 in a box of 1; the unknown is y, and its image is x."""

    H: Array
    h: Array

    def image(self, x: Array) -> Array:
        """Return y - 1."""
        return x - 1.0

    def gradient(self, image: Array) -> Array:
        """Return H x - h."""
        gradient: Array = self.H @ image - self.h
        return gradient

    def factor(self, theta: Array) -> Solve:
        """Return the solver of (H + theta) dx = r; y - 1 and x differ only by rounding."""
        shifted = self.H.copy()
        shifted[np.diag_indices_from(shifted)] += theta
        factor = robust_factor(shifted)

        def solve(r: Array, missing: Array) -> tuple[Array, Array]:
            step: Array = cho_solve(factor, r, check_finite=False)
            return step, step

        return solve

    def error(self, gap: float, losses: float, image: Array, missing: Array, rho: float) -> float:
        """Return the gap itself."""
        return gap


def box_newton(
    expand: Callable[[Array], Expansion], start: Array, bound: float, *, tol: float = 1e-8, max_iter: int = 50
) -> Solution:
    """Minimise k convex functions, the j-th of column j of w (D, k), over the box |w_ij| <= bound.

    A step goes towards the minimum of the quadratic expansion within the box. The step is halved until the function
    decreases by a fraction of what its gradient predicts. A column is done when its gap, g.w + b |g|_1, is at most
    ``tol`` times its value at the start. The gap bounds the distance of the function from its minimum.

    Parameters
    ----------
    expand : function of w that returns an ``Expansion``; usually one pass over the rows
    start : ndarray of shape (D, k), inside the box
    bound : float

    >>> import numpy as np
    >>> def expand(w):  # (w - 2)^2 / 2
    ...     return Expansion((w[0] - 2) ** 2 / 2, w - 2, np.ones((1, 1, 1)))
    >>> box_newton(expand, np.zeros((1, 1)), 1.0).value.round(6).tolist()
    [[1.0]]
    """
    with resumable("Newton steps in a box") as loop:
        w, history = _steps(expand, loop, start, bound, tol, max_iter)
    solution = Solution.converged(w, "box Newton", iterations=len(history), history=history, gap=history[-1])
    if solution.history[-1] <= tol:
        return solution
    status = Status.ITERATION_LIMIT if len(history) == max_iter else Status.STALLED
    left = f"{len(history)} steps left a gap of {history[-1]:.1e} of the loss at the start"
    return solution.unfinished(status, left, [Remedy.BOUND])


def _steps(
    expand: Callable[[Array], Expansion], loop: Loop, start: Array, bound: float, tol: float, max_iter: int
) -> tuple[Array, list[float]]:
    """Take the Newton steps, and return the last w and the gap before each; ``loop`` records the state before each."""
    if loop.state is None:
        w, here, history = start, expand(start), list[float]()
        scale = np.maximum(np.abs(here.values), np.finfo(np.float64).tiny)
    else:
        w, scale, history = loop.state["w"], loop.state["scale"], list(loop.state["history"])
        here = Expansion(*loop.state["here"])
    while len(history) < max_iter:
        state = {"w": w, "scale": scale, "history": tuple(history), "here": tuple(here)}
        loop.advance(state, at=f"step {len(history) + 1}")
        gaps = np.array([box_gap(here.gradients[:, j], w[:, j], bound) for j in range(w.shape[1])])
        history.append(float(np.max(gaps / scale)))
        active = gaps > tol * scale
        if not active.any():
            break
        w, here, moved = _descend(expand, w, _moves(w, here, gaps, active, scale, bound), here, bound)
        if not moved:
            break
    return w, history


def _moves(w: Array, here: Expansion, gaps: Array, active: Array, scale: Array, bound: float) -> Array:
    """Return the way from w to the minimum of the quadratic expansion within the box, for each active column."""
    moves = np.zeros_like(w)
    for j in np.flatnonzero(active):
        H, column = here.hessians[j], w[:, j]
        # Near the minimum, the gap falls as the square root of the distance from the minimum. So the quadratic is
        # solved to the square of the gap: otherwise the steps stall.
        gap = 0.01 * gaps[j] * min(1.0, gaps[j] / scale[j])
        goal = box_quadratic(H, H @ column - here.gradients[:, j], bound, gap=gap)
        moves[:, j] = goal.value - column
    return moves


def _descend(
    expand: Callable[[Array], Expansion], w: Array, moves: Array, here: Expansion, bound: float
) -> tuple[Array, Expansion, bool]:
    """Move each column by the longest tried step that lowers its function; return whether any column has moved."""
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
