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
    columns = _Columns(right, precondition or (lambda residual: residual), tol)
    history: list[float] = []
    gains: list[float] = []
    ended = False
    while len(history) < max_iter and not ended:
        gain = columns.step(product)
        if gain is None:
            break
        gains.append(gain)
        history.append(columns.largest_residual)
        if told(State("conjugate gradients", len(history), max_iter, gap=history[-1], tol=tol)):
            found = _with_gains(columns.value, history, gains)
            return found.unfinished(Status.CALLBACK, columns.left_after(history), [Remedy.ALPHA])
        ended = len(gains) > _LAST and sum(gains[-_LAST:]) < gain_tol * sum(gains)
    found = _with_gains(columns.value, history, gains)
    if ended or not columns.unfinished.any():
        return found
    status = Status.STALLED if columns.stalled.any() else Status.ITERATION_LIMIT
    return found.unfinished(status, columns.left_after(history), [Remedy.ALPHA, Remedy.SCALE])


class _Columns:
    """The right-hand sides in work: their solutions so far, residuals and directions."""

    def __init__(self, right: Array, solve: Callable[[Array], Array], tol: float) -> None:
        self.solve = solve
        self.value = np.zeros_like(right)
        self.residual = right.copy()
        towards = solve(self.residual)
        self.direction = towards.copy()
        self.squares, self.decrease = _dots(right, right), _dots(right, towards)
        self.scale = np.where(self.squares > 0, np.sqrt(self.squares), 1.0)
        self.limit = tol * np.sqrt(self.squares)
        self.stalled = np.zeros(len(self.squares), dtype=bool)

    @property
    def unfinished(self) -> Array:
        """Which columns have a residual above the tolerance."""
        return np.asarray(np.sqrt(self.squares) > self.limit)

    @property
    def largest_residual(self) -> float:
        """The largest ||b - A w|| / ||b|| of the columns."""
        return float(np.max(np.sqrt(self.squares) / self.scale))

    def left_after(self, history: list[float]) -> str:
        """Say what so many iterations left."""
        return f"{len(history)} iterations left a residual of {self.largest_residual:.1e}"

    def step(self, product: Callable[[Array], Array]) -> float | None:
        """Take a step in every unfinished column, and return by how much it lowers the objective; None if none can."""
        active = self.unfinished & ~self.stalled
        if not active.any():
            return None
        image = product(self.direction)
        curvature = _dots(self.direction, image)
        self.stalled |= active & ~((curvature > 0) & np.isfinite(curvature))
        active &= ~self.stalled
        if not active.any():
            return None
        # A column that has stopped keeps its direction in the product, and takes no step.
        step = np.where(active, self.decrease / np.where(active, curvature, 1.0), 0.0)
        self.value += step * self.direction
        self.residual -= step * image
        self.squares = np.where(active, _dots(self.residual, self.residual), self.squares)
        towards = self.solve(self.residual)
        new = np.where(active, _dots(self.residual, towards), self.decrease)
        gain = float(np.sum(step * self.decrease)) / 2
        self.direction *= np.where(active, new / np.where(self.decrease > 0, self.decrease, 1.0), 0.0)
        self.direction += towards
        self.decrease = new
        return gain


def _with_gains(value: Array, history: list[float], gains: list[float]) -> Solution:
    return Solution.converged(
        value, "conjugate gradients", iterations=len(history), history=history, gains=[float(gain) for gain in gains]
    )


def _dots(A: Array, B: Array) -> Array:
    dots: Array = np.einsum("ij,ij->j", A, B)
    return dots
