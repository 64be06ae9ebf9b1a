"""Conjugate gradients for a family of shifted systems, in the products of one of them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._typing import Array


@dataclass
class ShiftedSolutions:
    """The solutions X of (A + alpha I) X = B for each alpha, (n_alphas, D, m), and which have converged."""

    values: Array
    converged: Array
    iterations: int


def shifted_conjugate_gradients(
    product: Callable[[Array], Array],
    right: Array,
    alphas: Array,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    enough: Callable[[ShiftedSolutions], bool] | None = None,
) -> ShiftedSolutions:
    """Solve (A + alpha I) X = B for a positive semi-definite A known by its products, and every alpha > 0.

    All the Krylov spaces are those of the smallest alpha: one product an iteration serves every alpha and column, and
    the residuals of the others are multiples of its own. The larger alpha, the sooner it converges.

    Parameters
    ----------
    product : function of an array of shape (D, m) that returns A times it
    right : ndarray of shape (D, m)
    alphas : ndarray
    tol : float
        An alpha has converged where ||B - (A + alpha I) X|| <= tol ||B|| in each column.
    max_iter : int
        Products at most; what has not converged by then is said in the result.
    enough : function, optional
        Looks at the solutions each time another alpha has converged, and may stop before all have.

    References
    ----------
    B. Jegerlehner, "Krylov space solvers for shifted linear systems", 1996.

    >>> import numpy as np
    >>> found = shifted_conjugate_gradients(lambda v: 0 * v, np.ones((2, 1)), np.array([1.0, 2.0]))
    >>> found.values.ravel().tolist(), found.converged.tolist()
    ([1.0, 1.0, 0.5, 0.5], [True, True])
    """
    base = float(alphas.min())
    shifts = (alphas - base)[:, None]
    norms = np.sqrt(_squares(right))
    live = norms > 0
    n_alphas, n_columns = len(alphas), right.shape[1]
    found = ShiftedSolutions(np.zeros((n_alphas, *right.shape)), np.zeros(n_alphas, dtype=bool), 0)
    residual, direction = right.copy(), right.copy()
    directions = np.repeat(right[None], n_alphas, axis=0)
    squares = _squares(residual)
    scale, scale_before = np.ones((n_alphas, n_columns)), np.ones((n_alphas, n_columns))
    step_before, growth_before = np.ones(n_columns), np.zeros(n_columns)
    for _ in range(max_iter):
        image = product(direction) + base * direction
        bend = np.einsum("ij,ij->j", direction, image)
        step = np.where(live & (bend > 0), squares / np.where(bend > 0, bend, 1.0), 0.0)
        moving = step > 0
        # The ratio of each shifted residual to the base's, by a three-term recurrence.
        bottom = step * growth_before * (scale_before - scale) + scale_before * step_before * (1 + shifts * step)
        next_scale = np.where(moving, scale * scale_before * step_before / np.where(moving, bottom, 1.0), scale)
        share = next_scale / scale
        # An alpha that has converged stays where it is: its ratio would underflow in time.
        on = ~found.converged[:, None] & moving
        found.values += np.where(on, step * share, 0.0)[:, None, :] * directions
        residual -= step * image
        new = _squares(residual)
        growth = np.where(moving, new / np.where(squares > 0, squares, 1.0), 0.0)
        direction = residual + growth * direction
        directions *= np.where(on, growth * share**2, 1.0)[:, None, :]
        directions += np.where(on, next_scale, 0.0)[:, None, :] * residual
        scale_before, scale = np.where(on, scale, scale_before), np.where(on, next_scale, scale)
        squares, step_before, growth_before = new, np.where(moving, step, step_before), growth
        found.iterations += 1
        arrived = np.all(scale * np.sqrt(squares) <= tol * norms, axis=1) & ~found.converged
        if arrived.any():
            found.converged |= arrived
            if found.converged.all() or (enough is not None and enough(found)):
                break
        if not moving.any():
            break
    return found


def _squares(columns: Array) -> Array:
    squares: Array = np.einsum("ij,ij->j", columns, columns)
    return squares
