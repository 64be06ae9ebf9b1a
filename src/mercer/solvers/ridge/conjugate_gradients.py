"""Conjugate gradients, all right-hand sides in one product."""

from collections.abc import Callable

import numpy as np

from mercer._typing import Array
from mercer.solvers.solution import Remedy, Solution, Status


def conjugate_gradients(
    product: Callable[[Array], Array], right: Array, *, tol: float = 1e-6, max_iter: int = 500
) -> Solution:
    """Solve A w = b for a symmetric positive definite A known by its products only.

    Each column has its own step lengths, and all columns share the product, which is a pass over the rows if A is made
    of rows. A column stops at ||b - A w|| <= tol ||b||; ``history`` is the largest such ratio. A column along which
    rounding makes A indefinite stops too, at the lowest point it has reached.

    Parameters
    ----------
    product : function of an array of shape (D, m) that returns A times it
    right : ndarray of shape (D, m)
    tol : float
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
    value = np.zeros_like(right)
    residual = right.copy()
    direction = residual.copy()
    squares = _squares(residual)
    limit = tol * np.sqrt(squares)
    scale = np.where(squares > 0, np.sqrt(squares), 1.0)
    stalled = np.zeros(len(squares), dtype=bool)
    history: list[float] = []
    for _ in range(max_iter):
        active = (np.sqrt(squares) > limit) & ~stalled
        if not active.any():
            break
        image = product(direction)
        curvature = np.einsum("ij,ij->j", direction, image)
        stalled |= active & ~((curvature > 0) & np.isfinite(curvature))
        active &= ~stalled
        if not active.any():
            break
        # A column that has stopped keeps its direction in the product, and takes no step.
        step = np.where(active, squares / np.where(active, curvature, 1.0), 0.0)
        value += step * direction
        residual -= step * image
        new = np.where(active, _squares(residual), squares)
        direction = residual + np.where(active, new / np.where(squares > 0, squares, 1.0), 0.0) * direction
        squares = new
        history.append(float(np.max(np.sqrt(squares) / scale)))
    found = Solution.converged(value, "conjugate gradients", iterations=len(history), history=history)
    if not np.any(np.sqrt(squares) > limit):
        return found
    status = Status.STALLED if stalled.any() else Status.ITERATION_LIMIT
    left = f"{len(history)} iterations left a residual of {float(np.max(np.sqrt(squares) / scale)):.1e}"
    return found.unfinished(status, left, [Remedy.ALPHA, Remedy.SCALE])


def _squares(columns: Array) -> Array:
    squares: Array = np.einsum("ij,ij->j", columns, columns)
    return squares
