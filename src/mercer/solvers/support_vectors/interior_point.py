"""Quadratic programs of low rank in a box, with or without a sum, by a primal-dual interior-point method."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer._typing import Array
from mercer.parallel import one_blas_thread
from mercer.solvers.support_vectors.dense_rows import Design

_TO_THE_WALL = 0.995  # of the way to the nearest wall
# Slacks that count as none, relative to their bound, beside the largest multiplier.
_SMALL = 1e-3
# Steps without a smaller gap after which rounding is all that is left.
_PATIENCE = 8


@dataclass(frozen=True)
class LowRankProgram:
    r"""Minimise :math:`\frac12 \|\sum_i \beta_i z_i\|^2 + \sum_{si} c_{si} x_{si}` over :math:`0 \le x_{si} \le u_i`.

    Here :math:`\beta_i = \sum_s \sigma_{si} x_{si}`: one side s where beta has one sign, and two, with signs +1 and -1,
    where it has either.

    Attributes
    ----------
    Z : ndarray of shape (n, D)
    signs, linear : ndarray of shape (n_sides, n)
        sigma and c.
    upper : ndarray of shape (n,)
        u > 0.
    constant : float
        A feature of each z beside those of Z.
    total : float, optional
        The sum of all x, in (0, sum of u); where there are no two sides.
    """

    Z: Array
    signs: Array
    linear: Array
    upper: Array
    constant: float = 0.0
    total: float | None = None

    @property
    def design(self) -> Design:
        """The rows with their constant feature."""
        return Design(self.Z, self.constant)

    def gap(self, x: Array, squares: float, slopes: Array, rho: float) -> float:
        """Return the duality gap at x, relative to the primal objective; ``slopes`` are its gradient less rho."""
        losses = float((self.upper * np.maximum(-slopes, 0.0)).sum())
        primal = 0.5 * squares + losses - rho * (self.total or 0.0)
        return (float((x * slopes).sum()) + losses) / max(abs(primal), np.finfo(float).tiny)


def low_rank_program(program: LowRankProgram, *, tol: float = 1e-6, max_iter: int = 100) -> tuple[Array, Array, int]:
    r"""Solve a ``LowRankProgram`` by Mehrotra's predictor and corrector.

    The equations of a step are solved for the change of :math:`w = \sum_i \beta_i z_i`, with the D x D matrix
    :math:`I + Z^T \Theta^{-1} Z` for a diagonal Theta, so that a step costs O(n D^2) time and O(D^2) memory. It ends
    where the duality gap is at most ``tol`` of the primal objective, or no longer falls for rounding.

    Returns
    -------
    beta : ndarray of shape (n,)
        Inside the box.
    guess : ndarray of shape (n,)
        beta with those that will end at a bound put there: no better, but a start for methods that go by bounds.
    iterations : int

    References
    ----------
    M. Ferris and T. Munson, "Interior-point methods for massive support vector machines", SIAM J. Optim. 13, 2002.
    """
    program = replace(program, Z=program.design.within_span().Z)
    share = 0.5 if program.total is None else program.total / float(program.upper.sum())
    if share >= 1:
        return program.upper, program.upper, 0
    point = _start(program, share)
    best, least, nearest, iterations, since = point, np.inf, np.inf, 0, 0
    while True:
        weights = program.design.weights((program.signs * point.x).sum(axis=0))
        slopes = program.signs * program.design.scores(weights) + program.linear
        gap = program.gap(point.x, float(weights @ weights), slopes - point.rho, point.rho)
        residual = slopes - point.rho - point.lower + point.upper
        missing = 0.0 if program.total is None else program.total - float(point.x.sum())
        if gap < least:
            best, least = point, gap
        since += 1
        distance = point.products() + float(np.mean(point.x * np.abs(residual)))
        if distance < nearest:
            nearest, since = distance, 0
        if gap <= tol or since > _PATIENCE or iterations == max_iter:
            break
        moved = _next(program, point, residual, missing)
        if moved is None:
            break
        point, iterations = moved, iterations + 1
    beta, guess = ((program.signs * x).sum(axis=0) for x in (best.x, best.at_bounds(program.upper)))
    return beta, guess, iterations


@dataclass(frozen=True)
class _Point:
    """The unknowns: x, the room above it, the multiplier rho of its sum, and those of x >= 0 and x <= u.

    The room is kept beside x: near its bound it would be lost in rounding.
    """

    x: Array
    room: Array
    rho: float
    lower: Array
    upper: Array

    def products(self) -> float:
        """Return the mean product of slacks and multipliers, which is 0 at the solution."""
        return float((self.lower * self.x).sum() + (self.upper * self.room).sum()) / (2 * self.x.size)

    def longest(self, move: "_Point") -> float:
        """Return the longest step up to 1 that keeps slacks and multipliers positive."""
        longest = 1.0
        for value, change in (
            (self.x, move.x),
            (self.room, move.room),
            (self.lower, move.lower),
            (self.upper, move.upper),
        ):
            falling = change < 0
            if falling.any():
                longest = min(longest, float(np.min(value[falling] / -change[falling])))
        return longest

    def at_bounds(self, bound: Array) -> Array:
        """Return x with those at the bounds that will end there: their slack is small beside the multiplier."""
        scale = _SMALL * bound / max(float(self.lower.max()), float(self.upper.max()), np.finfo(float).tiny)
        x: Array = np.where(self.x < scale * self.lower, 0.0, self.x)
        return np.where(self.room < scale * self.upper, bound, x)

    def after(self, length: float, move: "_Point") -> "_Point":
        """Return the point a step away."""
        return _Point(
            self.x + length * move.x,
            self.room + length * move.room,
            self.rho + length * move.rho,
            self.lower + length * move.lower,
            self.upper + length * move.upper,
        )


def _start(program: LowRankProgram, share: float) -> _Point:
    x = np.broadcast_to(share * program.upper, program.signs.shape)
    weights = program.design.weights((program.signs * x).sum(axis=0))
    slopes = program.signs * program.design.scores(weights) + program.linear
    rho = 0.0 if program.total is None else float(slopes.mean())
    size = max(float(np.abs(slopes).mean()), np.finfo(float).tiny)
    return _Point(x, program.upper - x, rho, np.full(x.shape, size), np.full(x.shape, size))


def _next(program: LowRankProgram, point: _Point, residual: Array, missing: float) -> _Point | None:
    x, room, lower, upper = point.x, point.room, point.lower, point.upper
    theta = lower / x + upper / room
    try:
        solve = _solver(program, theta)
    except LinAlgError:
        return None
    ones = None if program.total is None else solve(np.ones_like(theta))

    def move(centre: float, second_lower: Array | float = 0.0, second_upper: Array | float = 0.0) -> _Point:
        push_lower = (centre - second_lower) / x - lower
        push_upper = (centre - second_upper) / room - upper
        step, rho = solve(push_lower - push_upper - residual), 0.0
        if ones is not None:
            rho = (missing - float(step.sum())) / float(ones.sum())
            step = step + rho * ones
        return _Point(step, -step, rho, push_lower - lower / x * step, push_upper + upper / room * step)

    affine = move(0.0)
    products = point.products()
    ahead = point.after(point.longest(affine), affine).products()
    corrected = move(products * (ahead / products) ** 3, affine.lower * affine.x, affine.upper * affine.room)
    return point.after(_TO_THE_WALL * point.longest(corrected), corrected)


def _solver(program: LowRankProgram, theta: Array) -> Callable[[Array], Array]:
    """Return the function from r to the x of theta x + sigma <z, w> = r, where w = sum of sigma x z."""
    signs, design = program.signs, program.design
    with one_blas_thread():
        factor = cho_factor(design.shifted_gram(np.sqrt((1 / theta).sum(axis=0))), lower=True, overwrite_a=True)

    def solve(r: Array) -> Array:
        scaled = r / theta
        weights = cho_solve(factor, design.weights((signs * scaled).sum(axis=0)))
        step: Array = scaled - signs * design.scores(weights) / theta
        return step

    return solve
