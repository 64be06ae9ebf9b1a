"""Quadratic programs of low rank with one sum and a box, by a primal-dual interior-point method."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mercer._typing import Array
from mercer.parallel import one_blas_thread, row_blocks

_TO_THE_WALL = 0.995  # of the way to the nearest wall
_BLOCK_ROWS = 4096


def low_rank_program(Z: Array, total: float, *, tol: float = 1e-6, max_iter: int = 100) -> tuple[Array, int]:
    r"""Minimise :math:`\frac12 \|Z^T \beta\|^2` over :math:`0 \le \beta_i \le 1`, :math:`\sum_i \beta_i = s`.

    Mehrotra's predictor and corrector. The equations of a step, :math:`(\Theta + Z Z^T) x = r` with a diagonal Theta,
    are solved through the D x D matrix :math:`I + Z^T \Theta^{-1} Z`, so that a step costs O(n D^2). It ends where the
    mean product of slacks and multipliers is ``tol`` of the mean score, or no longer falls for rounding.

    Parameters
    ----------
    Z : ndarray of shape (n, D)
    total : float
        The sum s, in (0, n].

    Returns
    -------
    beta : ndarray of shape (n,)
        Inside the box, its sum right to rounding.
    iterations : int

    References
    ----------
    M. Ferris and T. Munson, "Interior-point methods for massive support vector machines", SIAM J. Optim. 13, 2002.
    """
    n = Z.shape[0]
    if total >= n:
        return np.ones(n), 0
    beta = np.full(n, total / n)
    scores = _scores(Z, beta)
    size = float(np.abs(scores).mean())
    if size == 0:  # the mean row is 0, and so is the objective
        return beta, 0
    point = _Point(beta, float(scores.mean()), np.full(n, size), np.full(n, size))
    best, least, iterations = beta, np.inf, 0
    with one_blas_thread():
        while iterations < max_iter:
            residual = scores - point.rho - point.lower + point.upper
            distance = point.products() + float(np.abs(residual).mean())
            if distance < least:
                best, least = point.beta, distance
            if point.products() <= tol * size or distance > 1e6 * least:
                break
            point = _next(Z, total, point, residual)
            scores = _scores(Z, point.beta)
            iterations += 1
    return best, iterations


@dataclass(frozen=True)
class _Point:
    """The unknowns: beta, the multiplier rho of its sum, and those of beta >= 0 and beta <= 1."""

    beta: Array
    rho: float
    lower: Array
    upper: Array

    def products(self) -> float:
        """Return the mean product of slacks and multipliers, which is 0 at the solution."""
        return float(self.lower @ self.beta + self.upper @ (1 - self.beta)) / (2 * len(self.beta))

    def longest(self, move: "_Point") -> float:
        """Return the longest step up to 1 that keeps slacks and multipliers positive."""
        longest = 1.0
        for value, change in (
            (self.beta, move.beta),
            (1 - self.beta, -move.beta),
            (self.lower, move.lower),
            (self.upper, move.upper),
        ):
            falling = change < 0
            if falling.any():
                longest = min(longest, float(np.min(value[falling] / -change[falling])))
        return longest

    def after(self, length: float, move: "_Point") -> "_Point":
        """Return the point a step away."""
        return _Point(
            self.beta + length * move.beta,
            self.rho + length * move.rho,
            self.lower + length * move.lower,
            self.upper + length * move.upper,
        )


def _next(Z: Array, total: float, point: _Point, residual: Array) -> _Point:
    beta, room, lower, upper = point.beta, 1 - point.beta, point.lower, point.upper
    solve = _solver(Z, lower / beta + upper / room)
    ones, missing = solve(np.ones(len(beta))), total - float(beta.sum())

    def move(centre: float, second_lower: Any = 0.0, second_upper: Any = 0.0) -> _Point:
        push_lower = (centre - second_lower) / beta - lower
        push_upper = (centre - second_upper) / room - upper
        particular = solve(-residual + push_lower - push_upper)
        rho = (missing - float(particular.sum())) / float(ones.sum())
        step = particular + rho * ones
        return _Point(step, rho, push_lower - lower / beta * step, push_upper + upper / room * step)

    affine = move(0.0)
    products = point.products()
    ahead = point.after(point.longest(affine), affine).products()
    corrected = move(products * (ahead / products) ** 3, affine.lower * affine.beta, -affine.upper * affine.beta)
    return point.after(_TO_THE_WALL * point.longest(corrected), corrected)


def _scores(Z: Array, beta: Array) -> Array:
    weights = np.zeros(Z.shape[1])
    for rows in row_blocks(len(Z), _BLOCK_ROWS):
        weights += Z[rows].T @ beta[rows].astype(Z.dtype)
    return np.asarray(Z @ weights.astype(Z.dtype), dtype=np.float64)


def _solver(Z: Array, theta: Array) -> Any:
    """Return the function r -> (diag(theta) + Z Z^T)^-1 r, by Woodbury's identity."""
    small = np.eye(Z.shape[1])
    for rows in row_blocks(len(Z), _BLOCK_ROWS):
        part = Z[rows] * np.sqrt(1 / theta[rows, None]).astype(Z.dtype)
        small += part.T @ part
    factor = cho_factor(small, lower=True, overwrite_a=True)

    def solve(r: Array) -> Array:
        scaled = r / theta
        inner = cho_solve(factor, np.asarray(Z.T @ scaled.astype(Z.dtype), dtype=np.float64))
        result: Array = scaled - np.asarray(Z @ inner.astype(Z.dtype), dtype=np.float64) / theta
        return result

    return solve
