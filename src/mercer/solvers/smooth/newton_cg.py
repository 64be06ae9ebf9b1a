"""Newton's method for smooth losses of linear scores, its systems solved by conjugate gradients."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

import numpy as np

from mercer._typing import Array, Rows
from mercer.checkpoints import Loop, resumable
from mercer.solvers.scores import linear_scores
from mercer.solvers.smooth.losses import Loss
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.stats import Gradient, Statistic, Totals
from mercer.watching import State, told

# Step lengths that one pass tries if the full step does not lower the objective enough. If none of them does, the next
# pass goes on from the shortest: rows that are far on the right side have no curvature, and the Newton step is then far
# too long.
_STEPS = 0.5 ** np.arange(1, 12)
_SEARCHES = 5
_FLOAT64_EPS = float(np.finfo(np.float64).eps)
_ARMIJO = 1e-4
# Rounding of the objective, in units of eps of the features: a smaller change says nothing.
_NOISE = 16.0


_Statistic = TypeVar("_Statistic", bound=Statistic)


class Reduce(Protocol):
    """A pass: merge ``work(Z, Y, weight)`` of all blocks of rows into a statistic."""

    def __call__(
        self, title: str, work: Callable[[Rows, Array, Array | None], _Statistic], into: _Statistic
    ) -> _Statistic:
        """Return ``into`` with all blocks merged."""


# From the sum of the losses' curvatures to a function that applies the inverse of an approximate Hessian.
Preconditioner = Callable[[float], Callable[[Array], Array]]


def newton_cg(
    loss: Loss,
    reduce: Reduce,
    start: Array,
    *,
    penalty: float,
    intercept_penalty: float = 0.0,
    precondition: Preconditioner | None = None,
    tol: float = 1e-9,
    gap_tol: float = 0.0,
    max_iter: int = 100,
    max_products: int = 200,
    eps: float = float(np.finfo(np.float64).eps),
) -> Solution:
    r"""Minimise :math:`\sum_i w_i \, l(y_i, W^T z_i + b) + \frac{p}{2} \|W\|^2 + \frac{q}{2} \|b\|^2`.

    Each iteration takes a pass over the rows for the objective and its gradient, and one for each product with the
    Hessian: features need not be held. A system is solved only as closely as the gradient has fallen, which keeps the
    convergence superlinear (Dembo and Steihaug, 1983). If the full step does not lower the objective enough, eleven
    shorter steps are tried in one pass, and eleven shorter ones again, down to 2^-55. Columns of separable losses are
    separate problems that share the passes. A column whose start is worse than 0 starts at 0.

    Parameters
    ----------
    loss : Loss
    reduce : function
        ``reduce(title, work, into)`` merges ``work(Z, Y, weight)`` of all blocks of rows into a statistic.
    start : ndarray of shape (D + 1, k)
        Coefficients, the intercepts last.
    penalty, intercept_penalty : float
        p > 0 and q >= 0 above.
    precondition : function, optional
        Given the sum of the losses' curvatures (the mean of the columns), returns the function that applies the
        inverse of an approximation of the Hessian to an array of shape (D + 1, k).
    tol : float
        Stop when the gradient's norm is ``tol`` times that at 0, or rounding leaves nothing to gain.
    gap_tol : float
        Stop after a step if half the squared Newton decrement was at most this part of the objective. If it is not 0,
        a small gradient alone is no success: the gap must be as small, or must still halve with every step.
    max_iter : int
    max_products : int
        Largest number of products with the Hessian per iteration.
    eps : float
        The rounding of the features' type.

    Returns
    -------
    Solution
        ``value`` (D + 1, k); ``history`` is the ratio of the gradients' norms, the largest of the columns. ``gap``
        estimates how far the objective is from its minimum, relative to the objective: the smaller of the bound of
        strong convexity, |g|^2 / 2p (without the intercepts if they are free), and half the squared Newton decrement
        before the last step. ``details["passes"]`` counts the passes. The status is "stalled" if no step along the last
        direction lowers the objective although the gradient promises more than rounding.

    References
    ----------
    R. Dembo and T. Steihaug, "Truncated-Newton algorithms for large-scale unconstrained optimization", 1983.
    S. Keerthi and D. DeCoste, "A modified finite Newton method for fast solution of large scale linear SVMs", 2005.
    """
    problem = _Problem(loss, reduce, (penalty, intercept_penalty), start.shape, eps)
    with resumable("Newton-CG") as loop:
        return _iterated(problem, loop, start, precondition, tol, gap_tol, max_iter, max_products)


def _iterated(
    problem: "_Problem",
    loop: Loop,
    start: Array,
    precondition: Preconditioner | None,
    tol: float,
    gap_tol: float,
    max_iter: int,
    max_products: int,
) -> Solution:
    """Take the Newton steps; ``loop`` records the state before each of them."""
    if loop.state is None:
        value, point, scale = problem.begin(start.astype(np.float64))
        history, gap, left = list[float](), np.inf, np.inf
    else:
        value, scale, history, gap, left = (loop.state[name] for name in ("value", "scale", "history", "gap", "left"))
        point, problem.passes = _Point(*loop.state["point"]), loop.state["passes"]
        history = list(history)  # the record keeps its own
    status = Status.ITERATION_LIMIT
    for iteration in range(len(history), max_iter):
        state = {"value": value, "point": point.parts, "scale": scale, "history": list(history), "gap": gap}
        loop.advance({**state, "left": left, "passes": problem.passes}, at=f"iteration {iteration}")
        ratio = problem.norms(point.gradient) / scale
        history.append(float(ratio.max()))
        if history[-1] <= tol:
            before, left = left, min(gap, problem.bound(point))
            ended = _ended(left, before, gap_tol)
            if ended is not None:
                status = ended
                break
        if told(State("Newton-CG", len(history) - 1, max_iter, gap=history[-1], tol=tol)):
            status = Status.CALLBACK
            break
        inverse = precondition(point.curvature) if precondition else None
        forcing = np.clip(np.sqrt(ratio), tol, 0.5) * problem.norms(point.gradient)
        limit = np.where((ratio > tol) | (gap_tol > 0), forcing, np.inf)
        direction = problem.direction(value, point, limit, inverse, max_products)
        slope = problem.dots(point.gradient, direction)
        gap = float(np.max(-slope / (2 * np.maximum(point.value, np.finfo(float).tiny))))
        value, point, step = problem.step(value, point, direction, slope)
        if step is _Step.FAILED:
            status = Status.STALLED
            break
        if gap <= gap_tol:
            history.append(float((problem.norms(point.gradient) / scale).max()))
        if step is _Step.ROUNDING or gap <= gap_tol:
            status = Status.SUCCESS
            break
    else:
        history.append(float((problem.norms(point.gradient) / scale).max()))
    end = _End(status, history, min(gap, problem.bound(point)), problem.passes)
    return end.solution(value, with_gap=gap_tol > 0, float64=problem.eps <= _FLOAT64_EPS)


def _ended(left: float, before: float, gap_tol: float) -> Status | None:
    """Return how iterations with a small gradient end, given the gaps now and before; None to go on."""
    if gap_tol == 0 or left <= gap_tol:
        return Status.SUCCESS
    return Status.STALLED if left > 0.5 * before else None


@dataclass(frozen=True)
class _End:
    """How the iterations ended, and what they took."""

    status: Status
    history: list[float]
    gap: float
    passes: int

    def solution(self, value: Array, *, with_gap: bool, float64: bool) -> Solution:
        """Return the solution, with advice if it is not a success."""
        solver, n_iter = "newton-cg", len(self.history) - 1
        if self.status is Status.SUCCESS:
            return Solution.converged(
                value, solver, iterations=n_iter, history=self.history, gap=self.gap, passes=self.passes
            )
        left = f"{n_iter} iterations left a gradient of {self.history[-1]:.1e} of that at 0"
        left += f", and a gap of {self.gap:.1e} of the objective" if with_gap else ""
        remedies = [Remedy.MAX_ITER, Remedy.PENALTY]
        if self.status is Status.STALLED:
            remedies = [Remedy.PENALTY, Remedy.SCALE] + ([] if float64 else [Remedy.FLOAT64])
        return Solution.stopped(
            value,
            solver,
            self.status,
            left,
            remedies,
            iterations=n_iter,
            history=self.history,
            gap=self.gap,
            passes=self.passes,
        )


class _Step(Enum):
    """How a step ended: lower, so near the minimum that rounding hides the rest, or with no step that descends."""

    MOVED = 1
    ROUNDING = 2
    FAILED = 3


@dataclass
class _Point:
    """The objective of each problem, (1, m), its gradient, and the sum of the losses' curvatures."""

    value: Array
    gradient: Array
    curvature: float

    @property
    def parts(self) -> tuple[Array, Array, float]:
        """The attributes, for a checkpoint."""
        return self.value, self.gradient, self.curvature


class _Problem:
    def __init__(self, loss: Loss, reduce: Reduce, penalties: tuple[float, float], shape: tuple[int, ...], eps: float):
        self._loss, self._reduce = loss, reduce
        self._n_features, self._n_outputs = shape[0] - 1, shape[1]
        self._ridge = np.full((shape[0], 1), penalties[0])
        self._ridge[-1] = penalties[1]
        self.eps = eps
        self.passes = 0

    def dots(self, A: Array, B: Array) -> Array:
        """Return the inner products of each problem, (1, m): one per column, or one in all."""
        products: Array = np.einsum("ij,ij->j", A, B)[None, :]
        return products if self._loss.separable else products.sum(axis=1, keepdims=True)

    def norms(self, A: Array) -> Array:
        """Return the norms of each problem, (1, m)."""
        norms: Array = np.sqrt(self.dots(A, A))
        return norms

    def bound(self, point: _Point) -> float:
        """Return the largest distance to the minimum that strong convexity allows, relative to the objective."""
        free = np.where(self._ridge > 0, 0.5 / np.where(self._ridge > 0, self._ridge, 1.0), 0.0)
        distance = self.dots(point.gradient, free * point.gradient)
        return float(np.max(distance / np.maximum(point.value, np.finfo(float).tiny)))

    def begin(self, start: Array) -> tuple[Array, _Point, Array]:
        """Return the better of a start and 0 for each problem, the point there, and the gradients' norms at 0."""
        value, point = start, self.at(start)
        zero = point if not start.any() else self.at(np.zeros_like(start))
        worse = ~(point.value <= zero.value)
        if worse.any():
            value = np.where(worse, 0.0, start)
            point = zero if worse.all() else self.at(value)
        scale = self.norms(zero.gradient)
        return value, point, np.where(scale > 0, scale, 1.0)

    def at(self, value: Array) -> _Point:
        """Return the objective and its gradient, in one pass."""

        def work(Z: Rows, Y: Array, weight: Array | None) -> Gradient:
            S = _scores(Z, value)
            W = 1.0 if weight is None else weight[:, None]
            losses = (W * self._loss.values(S, Y)).sum(axis=0)
            curvature = (W * self._loss.curvatures(S, Y)).sum() / S.shape[1]
            return self._empty().update(Z, W * self._loss.derivatives(S, Y), losses, curvature)

        self.passes += 1
        total = self._reduce("gradient", work, self._empty())
        objective = np.atleast_2d(total.loss) + self.dots(value, self._ridge * value) / 2
        gradient = np.vstack([total.vector, total.constant]) + self._ridge * value
        return _Point(objective, gradient, float(total.curvature))

    def direction(
        self, value: Array, point: _Point, limit: Array, inverse: Callable[[Array], Array] | None, most: int
    ) -> Array:
        """Return the Newton direction, by conjugate gradients down to residuals of ``limit``."""
        with resumable("Newton direction") as loop:
            return self._direction(value, point, limit, inverse or (lambda right: right), most, loop)

    def _direction(
        self, value: Array, point: _Point, limit: Array, solve: Callable[[Array], Array], most: int, loop: Loop
    ) -> Array:
        if loop.state is None:
            step, residual = np.zeros_like(value), -point.gradient
            search = solve(residual)
            decrease, begun = self.dots(residual, search), 0
        else:
            step, residual, search, decrease, begun, self.passes = loop.state["state"]
        for number in range(begun, most):
            loop.advance({"state": (step, residual, search, decrease, number, self.passes)}, at=f"product {number}")
            active = self.norms(residual) > limit
            if not active.any():
                break
            image = self._hessian_product(value, search)
            bend = self.dots(search, image)
            length = np.where(active & (bend > 0), decrease / np.where(bend > 0, bend, 1.0), 0.0)
            step = step + length * search
            residual = residual - length * image
            towards = solve(residual)
            new = self.dots(residual, towards)
            # A column that has arrived keeps its search direction in the product, and takes no step.
            ratio = np.where(active, new / np.where(decrease > 0, decrease, 1.0), 0.0)
            decrease = np.where(active, new, decrease)
            search = np.where(active, towards + ratio * search, search)
        return step

    def step(self, value: Array, point: _Point, direction: Array, slope: Array) -> tuple[Array, _Point, _Step]:
        """Return the next value, its point, and how the step ended."""
        noise = _NOISE * self.eps * np.abs(point.value)
        new = value + direction
        there = self.at(new)
        enough = there.value <= point.value + _ARMIJO * slope + noise
        if enough.all():
            stuck = (-slope <= noise) & (self.norms(there.gradient) > 0.5 * self.norms(point.gradient))
            lower = self.norms(there.gradient).sum() < self.norms(point.gradient).sum()
            if not stuck.all():
                return new, there, _Step.MOVED
            return (new, there, _Step.ROUNDING) if lower else (value, point, _Step.ROUNDING)
        length = self._lengths(value, point, direction, slope, noise, enough)
        if not length.any():
            return value, point, _Step.ROUNDING if (-slope <= noise).all() else _Step.FAILED
        new = value + length * direction
        return new, self.at(new), _Step.MOVED

    def _lengths(
        self, value: Array, point: _Point, direction: Array, slope: Array, noise: Array, enough: Array
    ) -> Array:
        """Return for each problem the first step length that lowers the objective enough; 0 if none does."""
        length = np.where(enough, 1.0, 0.0)
        scale = 1.0
        for _ in range(_SEARCHES):
            steps = scale * _STEPS
            tried = self._objectives(value, direction, steps)
            good = tried <= point.value + _ARMIJO * steps[:, None] * slope + noise
            good &= -steps[:, None] * slope > noise  # a step so short that rounding hides its descent is none
            first = np.where(good.any(axis=0), steps[good.argmax(axis=0)], 0.0)[None, :]
            length = np.where(length > 0, length, first)
            if (length > 0).all():
                break
            scale = float(steps[-1])
        return length

    def _hessian_product(self, value: Array, direction: Array) -> Array:
        both = np.hstack([value, direction])

        def work(Z: Rows, Y: Array, weight: Array | None) -> Gradient:
            S, V = np.hsplit(_scores(Z, both), 2)
            W = 1.0 if weight is None else weight[:, None]
            return self._empty().update(Z, W * self._loss.products(S, Y, V))

        self.passes += 1
        total = self._reduce("Hessian product", work, self._empty())
        product: Array = np.vstack([total.vector, total.constant]) + self._ridge * direction
        return product

    def _objectives(self, value: Array, direction: Array, steps: Array) -> Array:
        """Return the objectives at several step lengths, in one pass: scores are linear in the step."""
        both = np.hstack([value, direction])
        n_problems = self._n_outputs if self._loss.separable else 1

        def work(Z: Rows, Y: Array, weight: Array | None) -> Totals:
            S, V = np.hsplit(_scores(Z, both), 2)
            W = 1.0 if weight is None else weight[:, None]
            return Totals(np.concatenate([(W * self._loss.values(S + t * V, Y)).sum(axis=0) for t in steps]))

        self.passes += 1
        total = self._reduce("line search", work, Totals.of(len(steps) * n_problems)).values
        ridges = [self.dots(value + t * direction, self._ridge * (value + t * direction)) / 2 for t in steps]
        objectives: Array = total.reshape(len(steps), n_problems) + np.vstack(ridges)
        return objectives

    def _empty(self) -> Gradient:
        return Gradient.of(self._n_features, self._n_outputs)


def _scores(Z: Rows, value: Array) -> Array:
    return linear_scores(Z, value[:-1], value[-1])
