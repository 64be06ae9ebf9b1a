"""Conjugate gradients, all right-hand sides in one product."""

from collections.abc import Callable

import numpy as np

from mercer._typing import Array
from mercer.solvers.solution import Solution


def conjugate_gradients(
    product: Callable[[Array], Array], right: Array, *, tol: float = 1e-6, max_iter: int = 500
) -> Solution:
    """Solve A w = b for a symmetric positive definite A known by its products only.

    Each column has its own step lengths; all share the product, which is a pass over the rows when A is made of them.
    A column stops at ||b - A w|| <= tol ||b||; ``history`` is the largest such ratio.

    Parameters
    ----------
    product : function of an array of shape (D, m) that returns A times it
    right : ndarray of shape (D, m)
    tol : float
    max_iter : int
        Products at most.

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
    history: list[float] = []
    for _ in range(max_iter):
        active = np.sqrt(squares) > limit
        if not active.any():
            break
        image = product(direction)
        curvature = np.einsum("ij,ij->j", direction, image)
        # A column that has converged keeps its direction in the product, and takes no step.
        step = np.where(active, squares / np.where(active, curvature, 1.0), 0.0)
        value += step * direction
        residual -= step * image
        new = np.where(active, _squares(residual), squares)
        direction = residual + np.where(active, new / np.where(squares > 0, squares, 1.0), 0.0) * direction
        squares = new
        history.append(float(np.max(np.sqrt(squares) / scale)))
    details = {"solver": "conjugate gradients"}
    if np.any(np.sqrt(squares) > limit):
        advice = f"{max_iter} iterations left a residual of {history[-1]:.1e}: raise alpha, or scale the features."
        return Solution(value, "iteration limit", len(history), tuple(history), advice, details)
    return Solution(value, iterations=len(history), history=tuple(history), details=details)


def _squares(columns: Array) -> Array:
    squares: Array = np.einsum("ij,ij->j", columns, columns)
    return squares
