"""Newton's method for smooth losses of linear scores, its systems solved by conjugate gradients."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mercer import core
from mercer._typing import Array
from mercer.solvers.smooth.losses import Loss
from mercer.solvers.solution import Solution
from mercer.stats import Gradient, Totals

# Steps tried, all in one pass, where the full one does not lower the objective enough.
_STEPS = 0.5 ** np.arange(1, 12)
_ARMIJO = 1e-4
# Rounding of the objective, in units of eps of the features, below which a change of it says nothing.
_NOISE = 16.0


class Reduce(Protocol):
    """A pass: merge ``work(Z, Y, weight)`` of all blocks of rows into a statistic."""

    def __call__(self, title: str, work: Callable[[Any, Array, Array | None], Any], into: Any) -> Any:
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
    convergence superlinear (Dembo and Steihaug, 1983). Where the full step does not lower the objective enough, eleven
    shorter ones are tried in one pass. Columns of separable losses are problems of their own that share the passes.

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
        Stop where the gradient's norm is ``tol`` times that at 0, or rounding leaves nothing to gain.
    gap_tol : float
        Stop after a step whose Newton decrement, half its square, was at most this part of the objective.
    max_iter : int
    max_products : int
        Products with the Hessian in an iteration, at most.
    eps : float
        The rounding of the features' type: changes of the objective below it say nothing.

    Returns
    -------
    Solution
        Of value (D + 1, k); ``history`` is the ratio of the gradients' norms, the largest of the columns;
        ``details["gap"]`` estimates how far the objective is from its minimum, relative to it, by the smaller of
        the bound of strong convexity (the intercepts left out where they are free), |g|^2 / 2p, and half the squared
        Newton decrement before the last step; ``details["passes"]`` counts the passes.

    References
    ----------
    R. Dembo and T. Steihaug, "Truncated-Newton algorithms for large-scale unconstrained optimization", 1983.
    S. Keerthi and D. DeCoste, "A modified finite Newton method for fast solution of large scale linear SVMs", 2005.
    """
    problem = _Problem(loss, reduce, (penalty, intercept_penalty), start.shape, eps)
    value = start.astype(np.float64)
    point = problem.at(value)
    scale = problem.norms((point if not start.any() else problem.at(np.zeros_like(value))).gradient)
    scale = np.where(scale > 0, scale, 1.0)
    history: list[float] = []
    gap, status = np.inf, "iteration limit"
    for _ in range(max_iter):
        ratio = problem.norms(point.gradient) / scale
        history.append(float(ratio.max()))
        if history[-1] <= tol:
            status = "success"
            break
        inverse = precondition(point.curvature) if precondition else None
        forcing = np.clip(np.sqrt(ratio), tol, 0.5) * problem.norms(point.gradient)
        direction = problem.direction(value, point, np.where(ratio > tol, forcing, np.inf), inverse, max_products)
        slope = problem.dots(point.gradient, direction)
        gap = float(np.max(-slope / (2 * np.maximum(point.value, np.finfo(float).tiny))))
        value, point, moved = problem.step(value, point, direction, slope)
        if gap <= gap_tol:
            history.append(float((problem.norms(point.gradient) / scale).max()))
        if not moved or gap <= gap_tol:
            status = "success"
            break
    else:
        history.append(float((problem.norms(point.gradient) / scale).max()))
    details = {"solver": "newton-cg", "gap": min(gap, problem.bound(point)), "passes": problem.passes}
    return Solution(value, status, len(history) - 1, tuple(history), _advice(status, history), details)


def _advice(status: str, history: list[float]) -> str:
    if status == "success":
        return ""
    n_iter, ratio = len(history) - 1, history[-1]
    return f"{n_iter} iterations left a gradient of {ratio:.1e} of that at 0: raise max_iter or the penalty."


@dataclass
class _Point:
    """The objective of each problem, (1, m), its gradient, and the sum of the losses' curvatures."""

    value: Array
    gradient: Array
    curvature: float


class _Problem:
    def __init__(self, loss: Loss, reduce: Reduce, penalties: tuple[float, float], shape: tuple[int, ...], eps: float):
        self._loss, self._reduce = loss, reduce
        self._n_features, self._n_outputs = shape[0] - 1, shape[1]
        self._ridge = np.full((shape[0], 1), penalties[0])
        self._ridge[-1] = penalties[1]
        self._eps = eps
        self.passes = 0

    def dots(self, A: Array, B: Array) -> Array:
        """Return the inner products of each problem, (1, m): one a column, or one in all."""
        products: Array = np.einsum("ij,ij->j", A, B)[None, :]
        return products if self._loss.separable else products.sum(axis=1, keepdims=True)

    def norms(self, A: Array) -> Array:
        norms: Array = np.sqrt(self.dots(A, A))
        return norms

    def bound(self, point: _Point) -> float:
        """Return the largest distance to the minimum that strong convexity allows, relative to the objective."""
        free = np.where(self._ridge > 0, 0.5 / np.where(self._ridge > 0, self._ridge, 1.0), 0.0)
        distance = self.dots(point.gradient, free * point.gradient)
        return float(np.max(distance / np.maximum(point.value, np.finfo(float).tiny)))

    def at(self, value: Array) -> _Point:
        """Return the objective and its gradient, in one pass."""

        def work(Z: Any, Y: Array, weight: Array | None) -> Gradient:
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
        solve = inverse or (lambda right: right)
        step = np.zeros_like(value)
        residual = -point.gradient
        towards = solve(residual)
        search = towards
        decrease = self.dots(residual, towards)
        for _ in range(most):
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

    def step(self, value: Array, point: _Point, direction: Array, slope: Array) -> tuple[Array, _Point, bool]:
        """Return the next value, its point, and whether anything was gained."""
        noise = _NOISE * self._eps * np.abs(point.value)
        new = value + direction
        there = self.at(new)
        enough = there.value <= point.value + _ARMIJO * slope + noise
        if enough.all():
            stuck = (-slope <= noise) & (self.norms(there.gradient) > 0.5 * self.norms(point.gradient))
            lower = self.norms(there.gradient).sum() < self.norms(point.gradient).sum()
            return (new, there, not stuck.all()) if lower or not stuck.all() else (value, point, False)
        tried = self._objectives(value, direction)
        good = tried <= point.value + _ARMIJO * _STEPS[:, None] * slope + noise
        first = np.where(good.any(axis=0), _STEPS[good.argmax(axis=0)], 0.0)[None, :]
        length = np.where(enough, 1.0, first)
        if not length.any():
            return value, point, False
        new = value + length * direction
        return new, self.at(new), True

    def _hessian_product(self, value: Array, direction: Array) -> Array:
        both = np.hstack([value, direction])

        def work(Z: Any, Y: Array, weight: Array | None) -> Gradient:
            S, V = np.hsplit(_scores(Z, both), 2)
            W = 1.0 if weight is None else weight[:, None]
            return self._empty().update(Z, W * self._loss.products(S, Y, V))

        self.passes += 1
        total = self._reduce("Hessian product", work, self._empty())
        product: Array = np.vstack([total.vector, total.constant]) + self._ridge * direction
        return product

    def _objectives(self, value: Array, direction: Array) -> Array:
        """Return the objectives at all shorter steps, in one pass: scores are linear in the step."""
        both = np.hstack([value, direction])
        n_problems = self._n_outputs if self._loss.separable else 1

        def work(Z: Any, Y: Array, weight: Array | None) -> Totals:
            S, V = np.hsplit(_scores(Z, both), 2)
            W = 1.0 if weight is None else weight[:, None]
            return Totals(np.concatenate([(W * self._loss.values(S + t * V, Y)).sum(axis=0) for t in _STEPS]))

        self.passes += 1
        total = self._reduce("line search", work, Totals.of(len(_STEPS) * n_problems)).values
        ridges = [self.dots(value + t * direction, self._ridge * (value + t * direction)) / 2 for t in _STEPS]
        objectives: Array = total.reshape(len(_STEPS), n_problems) + np.vstack(ridges)
        return objectives

    def _empty(self) -> Gradient:
        return Gradient.of(self._n_features, self._n_outputs)


def _scores(Z: Any, value: Array) -> Array:
    """Return Z W + b in float64, by a product in Z's precision."""
    scores: Array = core.scores(Z, value[:-1].astype(Z.dtype, copy=False)).astype(np.float64) + value[-1]
    return scores
