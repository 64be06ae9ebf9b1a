"""Convex quadratic programs in a box, optionally with a fixed sum, by Mehrotra's predictor-corrector method."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor

from mercer._typing import Array
from mercer.parallel import one_blas_thread

_TO_THE_WALL = 0.995  # of the way to the nearest wall
# Slacks that count as zero: this part of their bound, times their multiplier over the largest multiplier.
_SMALL = 1e-3
# The method ends after this number of steps without progress: only rounding is left.
_PATIENCE = 8

# From (r, missing) to the (dx, dv) with theta dx + G'dv = r and dv = A dx + missing.
Solve = Callable[[Array, Array], tuple[Array, Array]]


class Quadratic(Protocol):
    """A convex quadratic f(x) whose gradient is an affine function of an image v = A x.

    The method stores v together with x, and updates v by the steps. An image computed from x at every step would have
    the rounding of x, which is large if entries of x are large and cancel.
    """

    def image(self, x: Array) -> Array:
        """Return A x."""

    def gradient(self, image: Array) -> Array:
        """Return the gradient at the x whose image is given, of the shape of x."""

    def factor(self, theta: Array) -> Solve:
        """Return the function that solves for a step; raise LinAlgError or ValueError if rounding leaves no factor."""

    def error(self, gap: float, losses: float, image: Array, missing: Array, rho: float) -> float:
        """Return the duality gap as the stopping rule measures it.

        ``gap`` is sum x s + sum u max(-s, 0) for the slopes s, ``losses`` its second sum, ``missing`` is A x - v.
        """


@dataclass(frozen=True)
class InteriorPoint:
    """Where the method ended.

    Attributes
    ----------
    x, image : ndarray
        A point inside the box, and A x up to rounding.
    guess : ndarray
        x with the entries that will end at a bound put there: no better, but a start for active-set methods.
    history : tuple of float
        The error at each point.
    error : float
        The smallest error: that of x.
    """

    x: Array
    image: Array
    guess: Array
    history: tuple[float, ...]
    error: float

    @property
    def iterations(self) -> int:
        """The steps taken."""
        return len(self.history) - 1


def interior_point(
    quadratic: Quadratic, x: Array, upper: Array, *, total: float | None = None, tol: float = 1e-6, max_iter: int = 100
) -> InteriorPoint:
    r"""Minimise a ``Quadratic`` over :math:`0 \le x \le u`, and :math:`\sum x` equal to a total if that is given.

    Each step factors the quadratic plus a diagonal once and solves with that factor two or three times; about 15 steps,
    for any condition number of the quadratic. The method ends at an error of at most ``tol``, or when neither the error
    nor the products of slacks and multipliers decrease.

    Parameters
    ----------
    quadratic : Quadratic
    x : ndarray
        The start, strictly inside the box and with the right sum.
    upper : ndarray that broadcasts against x
        u > 0.
    total : float, optional
    tol : float
    max_iter : int
        Largest number of steps.

    Notes
    -----
    Departures from the textbook: the slacks below the upper bound and the image A x are unknowns of their own, so that
    neither is lost to rounding; primal and dual steps have one length.

    References
    ----------
    S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optimization 2, 1992.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a step that overflows ends the method
        return _iterate(quadratic, _start(quadratic, x, upper, total), upper, total, tol, max_iter)


def _iterate(
    quadratic: Quadratic, point: "_Point", upper: Array, total: float | None, tol: float, max_iter: int
) -> InteriorPoint:
    best, least, nearest, since = point, np.inf, np.inf, 0
    history: list[float] = []
    while True:
        slopes = quadratic.gradient(point.image) - point.rho
        losses = float((upper * np.maximum(-slopes, 0.0)).sum())
        missing = quadratic.image(point.x) - point.image
        gap = float((point.x * slopes).sum()) + losses
        history.append(quadratic.error(gap, losses, point.image, missing, point.rho))
        if history[-1] < least:
            best, least = point, history[-1]
        residual = slopes - point.lower + point.upper
        distance = point.products() + float(np.mean(point.x * np.abs(residual)))
        since = 0 if distance < nearest else since + 1
        nearest = min(nearest, distance)
        if least <= tol or since > _PATIENCE or len(history) > max_iter or not np.isfinite(distance):
            break
        left = None if total is None else total - float(point.x.sum())
        moved = _next(quadratic, point, residual, missing, left)
        if moved is None:
            break
        point = moved
    return InteriorPoint(best.x, best.image, best.at_bounds(upper), tuple(history), least)


def robust_factor(matrix: Array) -> tuple[Array, bool]:
    """Factor a symmetric matrix; if rounding has left negative eigenvalues, add a shift of their size.

    The matrix is overwritten. Raises LinAlgError if its entries are not finite.
    """
    shift = float(np.finfo(np.float64).eps * np.trace(matrix))
    if not np.isfinite(shift):
        raise LinAlgError("not finite")
    with one_blas_thread():
        while True:
            try:
                return cho_factor(matrix, lower=True, check_finite=False)  # type: ignore[no-any-return]
            except LinAlgError:
                matrix[np.diag_indices_from(matrix)] += shift
                shift *= 10


@dataclass(frozen=True)
class _Point:
    """The unknowns: x, its image, the slack u - x, the multiplier rho of the sum, and those of x >= 0 and x <= u."""

    x: Array
    image: Array
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
        pairs = ((self.x, move.x), (self.room, move.room), (self.lower, move.lower), (self.upper, move.upper))
        for value, change in pairs:
            falling = change < 0
            if falling.any():
                longest = min(longest, float(np.min(value[falling] / -change[falling])))
        return longest

    def at_bounds(self, bound: Array) -> Array:
        """Return x with the entries at the bounds that will end there: their slack is small next to the multiplier."""
        scale = _SMALL * bound / max(float(self.lower.max()), float(self.upper.max()), np.finfo(float).tiny)
        x: Array = np.where(self.x < scale * self.lower, 0.0, self.x)
        return np.where(self.room < scale * self.upper, bound, x)

    def after(self, length: float, move: "_Point") -> "_Point":
        """Return the point after a step of some length."""
        return _Point(
            self.x + length * move.x,
            self.image + length * move.image,
            self.room + length * move.room,
            self.rho + length * move.rho,
            self.lower + length * move.lower,
            self.upper + length * move.upper,
        )


def _start(quadratic: Quadratic, x: Array, upper: Array, total: float | None) -> _Point:
    image = quadratic.image(x)
    slopes = quadratic.gradient(image)
    rho = 0.0 if total is None else float(slopes.mean())
    size = max(float(np.abs(slopes).mean()), np.finfo(float).tiny)
    return _Point(x, image, upper - x, rho, np.full(x.shape, size), np.full(x.shape, size))


def _next(quadratic: Quadratic, point: _Point, residual: Array, missing: Array, left: float | None) -> _Point | None:
    """Return the point after a step, or None if rounding leaves no factor; ``left`` is total - sum of x."""
    x, room, lower, upper = point.x, point.room, point.lower, point.upper
    theta = lower / x + upper / room
    try:
        solve = quadratic.factor(theta)
    except (LinAlgError, ValueError):
        return None
    ones = None if left is None else solve(np.ones_like(theta), np.zeros_like(missing))

    def move(centre: float, second_lower: Array | float = 0.0, second_upper: Array | float = 0.0) -> _Point:
        push_lower = (centre - second_lower) / x - lower
        push_upper = (centre - second_upper) / room - upper
        step, image = solve(push_lower - push_upper - residual, missing)
        rho = 0.0
        if ones is not None and left is not None:
            rho = (left - float(step.sum())) / float(ones[0].sum())
            step, image = step + rho * ones[0], image + rho * ones[1]
        return _Point(step, image, -step, rho, push_lower - lower / x * step, push_upper + upper / room * step)

    affine = move(0.0)
    products = point.products()
    ahead = point.after(point.longest(affine), affine).products()
    corrected = move(products * (ahead / products) ** 3, affine.lower * affine.x, affine.upper * affine.room)
    return point.after(_TO_THE_WALL * point.longest(corrected), corrected)
