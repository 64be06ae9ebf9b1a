"""Newton's method for smooth losses of linear scores, its systems solved by conjugate gradients."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

import numpy as np

from mercer._typing import Array, Rows
from mercer.checkpoints import Loop, LoopState, resumable
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
# The part of the tolerance down to which the system of a last step is solved.
_BELOW = 0.25
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
    separate problems that share the passes. A column whose start is worse than 0 starts at 0, which the first pass
    tells.

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
        return _iterated(problem, _Rules(precondition, tol, gap_tol, max_iter, max_products), loop, start)


@dataclass(frozen=True)
class _Rules:
    """What the iterations are given: how systems are solved, and when to stop."""

    precondition: Preconditioner | None
    tol: float
    gap_tol: float
    max_iter: int
    max_products: int


def _iterated(problem: "_Problem", rules: _Rules, loop: Loop, start: Array) -> Solution:
    """Take the Newton steps; ``loop`` records the state before each of them."""
    iterate = _Iterate(problem, rules, start, loop.state)
    for iteration in range(len(iterate.history), rules.max_iter):
        loop.advance(iterate.kept, at=f"iteration {iteration}")
        status = iterate.look() or iterate.step()
        if status is not None:
            return iterate.solution(status)
    iterate.measure()
    return iterate.solution(Status.ITERATION_LIMIT)


class _Iterate:
    """The point that the steps have reached, and what is known of its distance from the minimum."""

    def __init__(self, problem: "_Problem", rules: _Rules, start: Array, kept: LoopState | None):
        self._problem, self._rules = problem, rules
        if kept is None:
            self._value, self._point, self._scale = problem.begin(start.astype(np.float64))
            self.history, self._gap, self._left = list[float](), np.inf, np.inf
        else:
            self._value, self._scale, self._gap, self._left = (kept[name] for name in ("value", "scale", "gap", "left"))
            self._point, problem.passes = _Point(*kept["point"]), kept["passes"]
            self.history = list(kept["history"])  # the record keeps its own

    @property
    def kept(self) -> LoopState:
        """What another process needs in order to go on."""
        state = {"value": self._value, "point": self._point.parts, "scale": self._scale, "gap": self._gap}
        return {**state, "left": self._left, "history": list(self.history), "passes": self._problem.passes}

    @property
    def _ratio(self) -> Array:
        """The norms of the gradients, relative to those at 0."""
        return self._problem.norms(self._point.gradient) / self._scale

    def measure(self) -> None:
        """Note the largest ratio of the gradients' norms."""
        self.history.append(float(self._ratio.max()))

    def look(self) -> Status | None:
        """Measure the gradient, and return how the iterations end here; None to go on."""
        self.measure()
        rules, largest = self._rules, self.history[-1]
        if largest <= rules.tol:
            before, self._left = self._left, min(self._gap, self._problem.bound(self._point))
            ended = _ended(self._left, before, rules.gap_tol)
            if ended is not None:
                return ended
        stops = told(State("Newton-CG", len(self.history) - 1, rules.max_iter, gap=largest, tol=rules.tol))
        return Status.CALLBACK if stops else None

    def step(self) -> Status | None:
        """Take a Newton step, and return how the iterations end after it; None to go on."""
        problem, rules, point, ratio = self._problem, self._rules, self._point, self._ratio
        inverse = rules.precondition(point.curvature) if rules.precondition else None
        forcing = np.clip(np.sqrt(ratio), rules.tol, 0.5) * problem.norms(point.gradient)
        if rules.gap_tol == 0:  # a gradient well below the tolerance would take products for nothing
            forcing = np.maximum(forcing, _BELOW * rules.tol * self._scale)
        limit = np.where((ratio > rules.tol) | (rules.gap_tol > 0), forcing, np.inf)
        direction = problem.direction(self._value, point, limit, inverse, rules.max_products)
        slope = problem.dots(point.gradient, direction)
        self._gap = float(np.max(-slope / (2 * np.maximum(point.value, np.finfo(float).tiny))))
        self._value, self._point, step = problem.step(self._value, point, direction, slope)
        if step is _Step.FAILED:
            return Status.STALLED
        if self._gap <= rules.gap_tol:
            self.measure()
            return Status.SUCCESS
        return Status.SUCCESS if step is _Step.ROUNDING else None

    def solution(self, status: Status) -> Solution:
        """Return the point, with what is known of it, and advice if it is not a success."""
        problem, value, history, solver = self._problem, self._value, self.history, "newton-cg"
        gap, n_iter, passes = min(self._gap, problem.bound(self._point)), len(history) - 1, problem.passes
        if status is Status.SUCCESS:
            return Solution.converged(value, solver, iterations=n_iter, history=history, gap=gap, passes=passes)
        left = f"{n_iter} iterations left a gradient of {history[-1]:.1e} of that at 0"
        left += f", and a gap of {gap:.1e} of the objective" if self._rules.gap_tol > 0 else ""
        remedies = [Remedy.MAX_ITER, Remedy.PENALTY]
        if status is Status.STALLED:
            remedies = [Remedy.PENALTY, Remedy.SCALE] + ([] if problem.eps <= _FLOAT64_EPS else [Remedy.FLOAT64])
        return Solution.stopped(
            value, solver, status, left, remedies, iterations=n_iter, history=history, gap=gap, passes=passes
        )


def _ended(left: float, before: float, gap_tol: float) -> Status | None:
    """Return how iterations with a small gradient end, given the gaps now and before; None to go on."""
    if gap_tol == 0 or left <= gap_tol:
        return Status.SUCCESS
    return Status.STALLED if left > 0.5 * before else None


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
        self._n_problems = shape[1] if loss.separable else 1
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
        value, (point, *others) = start, self.points(start, *([np.zeros_like(start)] if start.any() else []))
        zero = others[0] if others else point
        worse = ~(point.value <= zero.value)
        if worse.any():
            value = np.where(worse, 0.0, start)
            point = zero if worse.all() else self.at(value)
        scale = self.norms(zero.gradient)
        return value, point, np.where(scale > 0, scale, 1.0)

    def at(self, value: Array) -> _Point:
        """Return the objective and its gradient, in one pass."""
        return self.points(value)[0]

    def points(self, *values: Array) -> list[_Point]:
        """Return the objective and its gradient at each of some values, in one pass."""
        n_values, all_values = len(values), np.hstack(values)

        def work(Z: Rows, Y: Array, weight: Array | None) -> Gradient:
            W = 1.0 if weight is None else weight[:, None]
            scores = np.hsplit(_scores(Z, all_values), n_values)
            losses = np.concatenate([(W * self._loss.values(S, Y)).sum(axis=0) for S in scores])
            curvatures = np.array([(W * self._loss.curvatures(S, Y)).sum() / S.shape[1] for S in scores])
            return self._empty(n_values).update(
                Z, np.hstack([W * self._loss.derivatives(S, Y) for S in scores]), losses, curvatures
            )

        self.passes += 1
        total = self._reduce("gradient", work, self._empty(n_values))
        losses = np.split(np.broadcast_to(total.loss, n_values * self._n_problems), n_values)
        gradients = np.hsplit(np.vstack([total.vector, total.constant]), n_values)
        curvatures = np.broadcast_to(total.curvature, n_values).tolist()
        return [self._point(*parts) for parts in zip(values, losses, gradients, curvatures, strict=True)]

    def _point(self, value: Array, loss: Array, gradient: Array, curvature: float) -> _Point:
        objective = loss[None, :] + self.dots(value, self._ridge * value) / 2
        return _Point(objective, gradient + self._ridge * value, curvature)

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
        n_problems = self._n_problems

        def work(Z: Rows, Y: Array, weight: Array | None) -> Totals:
            S, V = np.hsplit(_scores(Z, both), 2)
            W = 1.0 if weight is None else weight[:, None]
            return Totals(np.concatenate([(W * self._loss.values(S + t * V, Y)).sum(axis=0) for t in steps]))

        self.passes += 1
        total = self._reduce("line search", work, Totals.of(len(steps) * n_problems)).values
        ridges = [self.dots(value + t * direction, self._ridge * (value + t * direction)) / 2 for t in steps]
        objectives: Array = total.reshape(len(steps), n_problems) + np.vstack(ridges)
        return objectives

    def _empty(self, n_values: int = 1) -> Gradient:
        return Gradient.of(self._n_features, n_values * self._n_outputs)


def _scores(Z: Rows, value: Array) -> Array:
    return linear_scores(Z, value[:-1], value[-1])
