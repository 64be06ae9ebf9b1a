"""Conjugate gradients for a family of shifted systems, with the matrix products of one system only."""

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

    The Krylov space is the same for every alpha. So one product per iteration serves all alphas and columns, and the
    residual of every alpha is a multiple of the residual of the smallest alpha. Larger alphas converge sooner.

    Parameters
    ----------
    product : function of an array of shape (D, m) that returns A times it
    right : ndarray of shape (D, m)
    alphas : ndarray
    tol : float
        An alpha has converged if ||B - (A + alpha I) X|| <= tol ||B|| in each column.
    max_iter : int
        Largest number of products. The result says which alphas have converged.
    enough : function, optional
        Called with the solutions each time another alpha has converged. Returns True to stop there.

    References
    ----------
    B. Jegerlehner, "Krylov space solvers for shifted linear systems", 1996.

    >>> import numpy as np
    >>> found = shifted_conjugate_gradients(lambda v: 0 * v, np.ones((2, 1)), np.array([1.0, 2.0]))
    >>> found.values.ravel().tolist(), found.converged.tolist()
    ([1.0, 1.0, 0.5, 0.5], [True, True])
    """
    base = float(alphas.min())
    norms = np.sqrt(_squares(right))
    live = norms > 0
    found = ShiftedSolutions(np.zeros((len(alphas), *right.shape)), np.zeros(len(alphas), dtype=bool), 0)
    family = _Family(right, (alphas - base)[:, None])
    residual, direction = right.copy(), right.copy()
    squares = _squares(residual)
    for _ in range(max_iter):
        image = product(direction) + base * direction
        bend = np.einsum("ij,ij->j", direction, image)
        step = np.where(live & (bend > 0), squares / np.where(bend > 0, bend, 1.0), 0.0)
        moving = step > 0
        residual -= step * image
        new = _squares(residual)
        growth = np.where(moving, new / np.where(squares > 0, squares, 1.0), 0.0)
        direction = residual + growth * direction
        family.advance(found, step, growth, residual)
        squares = new
        found.iterations += 1
        arrived = np.all(family.scale * np.sqrt(squares) <= tol * norms, axis=1) & ~found.converged
        if arrived.any():
            found.converged |= arrived
            if found.converged.all() or (enough is not None and enough(found)):
                break
        if not moving.any():
            break
    return found


class _Family:
    """The systems of all alphas next to the system of the smallest one, which is the base.

    Attributes
    ----------
    scale : ndarray of shape (n_alphas, m)
        The ratio of each residual to the residual of the base.
    """

    def __init__(self, right: Array, shifts: Array):
        self._shifts = shifts
        self._directions = np.repeat(right[None], len(shifts), axis=0)
        shape = (len(shifts), right.shape[1])
        self.scale, self._scale_before = np.ones(shape), np.ones(shape)
        self._step_before, self._growth_before = np.ones(shape[1]), np.zeros(shape[1])

    def advance(self, found: ShiftedSolutions, step: Array, growth: Array, residual: Array) -> None:
        """Move all solutions and directions by one step of the base; ``residual`` is the base's after this step."""
        scale, before, moving = self.scale, self._scale_before, step > 0
        # The ratios follow a three-term recurrence.
        bottom = step * self._growth_before * (before - scale) + before * self._step_before * (1 + self._shifts * step)
        next_scale = np.where(moving, scale * before * self._step_before / np.where(moving, bottom, 1.0), scale)
        share = next_scale / scale
        # The solution of an alpha that has converged stays: its ratio would underflow in time.
        on = ~found.converged[:, None] & moving
        found.values += np.where(on, step * share, 0.0)[:, None, :] * self._directions
        self._directions *= np.where(on, growth * share**2, 1.0)[:, None, :]
        self._directions += np.where(on, next_scale, 0.0)[:, None, :] * residual
        self._scale_before, self.scale = np.where(on, scale, before), np.where(on, next_scale, scale)
        self._step_before, self._growth_before = np.where(moving, step, self._step_before), growth


def _squares(columns: Array) -> Array:
    squares: Array = np.einsum("ij,ij->j", columns, columns)
    return squares
