"""Hinge and insensitive losses in passes over rows: Newton's method on smoothed losses, certified by the true gap."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array, Rows
from mercer.solvers.ridge.conjugate_gradients import conjugate_gradients
from mercer.solvers.scores import linear_scores
from mercer.solvers.smooth.newton_cg import Preconditioner, Reduce
from mercer.solvers.smooth.plain_losses import PlainLoss
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.solvers.support_vectors.incumbent import Incumbent
from mercer.stats import Gradient, Totals
from mercer.watching import State, told

# The first width, in units of the mean loss at 0. At w = 0 the loss of the hinge is 1 in every row: a width of 1 or
# less would leave no row with curvature, and the first step would be lost.
_FIRST_WIDTH = 2.0
# The width shrinks by this factor as soon as half the squared gradient is below this share of what smoothing adds to
# the gap. To solve the smoothed problem further does not lower the gap; to shrink earlier costs many more passes.
_SHRINK, _SHARE = 0.4, 0.3
# Widths, each 0.4 of the one before, at which a warm start is looked at: down to 4e-5 of the first.
_LADDER = 12
# A Newton system is solved to this part of the gradient, by at most so many products. Fixed on purpose: closer
# solutions take more passes in all, because the next width changes the system.
_FORCING, _MOST_PRODUCTS = 0.5, 50
# Step lengths that one pass tries where the full step does not lower the smoothed objective enough.
_STEPS = 0.5 ** np.arange(1, 12)
_ARMIJO = 1e-4
# Rounding of the objective, in units of eps of the features: for a smaller change the gradient decides.
_NOISE = 16.0


def smoothed_newton(
    loss: PlainLoss,
    reduce: Reduce,
    start: Array,
    *,
    C: float,
    precondition: Preconditioner | None = None,
    tol: float = 1e-4,
    max_passes: int = 300,
    eps: float = float(np.finfo(np.float64).eps),
) -> Solution:
    r"""Minimise :math:`\frac12 \|w\|^2 + C \sum_i c_i \max(e_i, 0)` for each column of targets, without a dual per row.

    The loss is replaced by a smooth one of width :math:`\delta` (``PlainLoss``), which Newton-CG minimises, and the
    width shrinks. The dual variables :math:`\beta_i = C c_i \,\mathrm{clip}(e_i / \delta, 0, 1)` are feasible in the
    dual of the plain loss. With g the gradient of the smoothed objective, the duality gap of the *plain* loss is

    .. math:: \tfrac12 \|g\|^2 + \sum_i (C c_i \max(e_i, 0) - \beta_i e_i).

    So every pass that sums a gradient knows the true gap, and no state per row is kept: rows may lie in other
    processes. Each pass knows the gap at two widths, the present one and the next. The intercept is the weight of a
    constant feature and penalised, as in ``block_descent``.

    Parameters
    ----------
    loss : PlainLoss
    reduce : function
        ``reduce(title, work, into)`` merges ``work(Z, Y, weight)`` of all blocks of rows into a statistic.
    start : ndarray of shape (D + 1, k)
        Coefficients, the intercepts last.
    C : float
    precondition : function, optional
        Given the sum of the losses' curvatures (the mean of the columns), returns the function that applies the
        inverse of an approximation of the Hessian to an array of shape (D + 1, k).
    tol : float
        Largest duality gap, relative to the objective.
    max_passes : int
        Largest number of passes over the rows; the last iteration may take a few more.
    eps : float
        The rounding of the features' type.

    Returns
    -------
    Solution
        ``value`` (k, D + 1), the best point seen, 0 included; ``history`` is the largest gap after each iteration;
        ``details["passes"]`` counts the passes.

    References
    ----------
    O. Chapelle, "Training a support vector machine in the primal", Neural Computation 19, 2007.
    Y. Nesterov, "Smooth minimization of non-smooth functions", 2005.
    """
    problem = _Problem(loss, reduce, C, start.shape)
    best = Incumbent(start.shape[1], start.shape[0])
    at: _At | None = problem.begin(start.astype(np.float64), best)
    history: list[float] = []
    status = Status.STALLED
    while at is not None:  # None: no step lowers the smoothed objective
        problem.offer(best, at)
        history.append(float(best.relative_gaps.max()))
        done = best.holds(tol)
        if done.all():
            status = Status.SUCCESS
            break
        if problem.passes >= max_passes:
            status = Status.ITERATION_LIMIT
            break
        if told(State("smoothed Newton-CG", len(history) - 1, gap=history[-1], tol=tol)):
            status = Status.CALLBACK
            break
        steps = np.where(at.point.squares[0] <= 2 * _SHARE * at.point.rests[0], 1, 0)
        at = _step(problem, at.narrowed(steps), ~done, precondition, eps)
    return _ended(best, status, history, problem.passes, tol)


def _ended(best: Incumbent, status: Status, history: list[float], passes: int, tol: float) -> Solution:
    n_iter, gap = len(history) - 1, history[-1]
    found = Solution.converged(
        best.value, "smoothed Newton-CG", iterations=n_iter, history=history, gap=gap, passes=passes
    )
    if status is Status.SUCCESS:
        return found
    left = f"{passes} passes left a duality gap of {gap:.1e} of the objective, and {tol:g} was asked for"
    return found.unfinished(status, left, [Remedy.MAX_ITER_OR_TOL, Remedy.SQUARED_LOSS, Remedy.COST])


def _step(
    problem: "_Problem",
    at: "_At",
    is_open: Array,
    precondition: Preconditioner | None,
    eps: float,
) -> "_At | None":
    """Return where a Newton step of the open columns leads; None where no step lowers the smoothed objective."""
    value, width, point = at.value, at.width, at.point
    gradient = np.where(is_open, point.gradient[0], 0.0)
    direction = conjugate_gradients(
        lambda search: problem.hessian_product(value, width, search),
        -gradient,
        precondition=precondition(float(point.curvature[0].mean())) if precondition else None,
        tol=_FORCING,
        max_iter=_MOST_PRODUCTS,
    ).value
    slope = np.einsum("ij,ij->j", gradient, direction)
    new = _At(value + direction, width, problem.at(value + direction, width))
    enough = ~is_open | new.point.is_below(point, _ARMIJO * slope, _NOISE * eps)
    if enough.all():
        return new
    tried = problem.objectives(value, direction, width)
    good = tried <= point.smooth[0] + _ARMIJO * _STEPS[:, None] * slope
    shorter = np.where(good.any(axis=0), _STEPS[good.argmax(axis=0)], 0.0)
    length = np.where(enough, 1.0, shorter)
    if not length[is_open].any():
        return None
    value = value + length * direction
    return _At(value, width, problem.at(value, width))


@dataclass
class _Point:
    """Sums at some weights. The first axis is the width: the present one, then smaller ones."""

    primal: Array  # (k,) the plain objective
    smooth: Array  # (m, k) the smoothed objectives
    gradient: Array  # (m, D + 1, k)
    rests: Array  # (m, k) what smoothing adds to the gap
    curvature: Array  # (m, k) the sums of the losses' curvatures

    @property
    def squares(self) -> Array:
        """The squared norms of the gradients, (m, k)."""
        squares: Array = np.einsum("aij,aij->aj", self.gradient, self.gradient)
        return squares

    @property
    def gaps(self) -> Array:
        """The duality gaps of the plain loss, with the duals of each width, (m, k)."""
        return np.asarray(self.squares / 2 + self.rests)

    def is_below(self, other: "_Point", decrease: Array, eps: float) -> Array:
        """Return which columns are lower than at another point, by the gradient where rounding hides the objective."""
        lower = self.smooth[0] <= other.smooth[0] + decrease
        same = self.smooth[0] <= other.smooth[0] + eps * np.abs(other.smooth[0])
        return np.asarray(lower | (same & (self.squares[0] < other.squares[0])))

    def narrowed(self, steps: Array) -> "_Point":
        """Return the point with widths that lie some steps further, a number per column."""

        def chosen(parts: Array) -> Array:
            index = np.broadcast_to(steps, parts.shape[1:])[None]
            return np.take_along_axis(parts, index, axis=0)

        parts = (self.smooth, self.gradient, self.rests, self.curvature)
        return _Point(self.primal, *(chosen(part) for part in parts))


@dataclass
class _At:
    """Where the method is: weights (D + 1, k), widths (k,), and the sums there."""

    value: Array
    width: Array
    point: _Point

    def narrowed(self, steps: Array) -> "_At":
        """Return the same weights with smaller widths."""
        return _At(self.value, self.width * _SHRINK**steps, self.point.narrowed(steps))


class _Problem:
    def __init__(self, loss: PlainLoss, reduce: Reduce, C: float, shape: tuple[int, ...]):
        self._loss, self._reduce, self._C = loss, reduce, C
        self._n_features, self._n_outputs = shape[0] - 1, shape[1]
        self.passes = 0

    def begin(self, start: Array, best: Incumbent) -> _At:
        """Return where to begin: at 0 with a large width, at another start with the width of the smallest gap."""
        at_zero, cost = self._losses_at_zero()
        best.offer_zero(at_zero)
        width = np.maximum(_FIRST_WIDTH * at_zero / cost, np.finfo(np.float64).tiny)
        if not start.any():
            return _At(start, width, self.at(start, width))
        first = _At(start, width, self.at(start, width, _LADDER))
        worse = first.point.primal > at_zero
        if worse.any():
            start = np.where(worse, 0.0, start)
            first = _At(start, width, self.at(start, width, _LADDER))
        self.offer(best, first)
        return first.narrowed(np.where(worse, 0, first.point.gaps.argmin(axis=0)))

    def _losses_at_zero(self) -> tuple[Array, float]:
        """Return the losses of w = 0, and the sum of the costs."""

        def work(Z: Rows, Y: Array, weight: Array | None) -> Totals:
            W = self._costs(weight, len(Y))
            losses = (W * np.maximum(self._loss.excess(np.zeros_like(Y), Y), 0.0)).sum(axis=0)
            return Totals(np.append(losses, W.sum()))

        self.passes += 1
        total = self._reduce("losses at 0", work, Totals.of(self._n_outputs + 1)).values
        return total[:-1], float(total[-1])

    def at(self, value: Array, width: Array, n_widths: int = 2) -> _Point:
        """Return the sums at weights and several widths, in one pass."""
        k, loss = self._n_outputs, self._loss
        widths = width * _SHRINK ** np.arange(n_widths)[:, None]

        def work(Z: Rows, Y: Array, weight: Array | None) -> Gradient:
            S = _scores(Z, value)
            W, excess, signs = self._costs(weight, len(Y)), loss.excess(S, Y), loss.signs(S, Y)
            plain = W * np.maximum(excess, 0.0)
            sums, residuals = [plain.sum(axis=0)], []
            for one in widths:
                duals = W * loss.slopes(excess, one)
                residuals.append(-duals * signs)
                terms = (W * loss.smoothed(excess, one), plain - duals * excess, W * loss.bends(excess, one))
                sums += [term.sum(axis=0) for term in terms]
            return Gradient.of(self._n_features, n_widths * k).update(Z, np.hstack(residuals), np.stack(sums))

        self.passes += 1
        total = self._reduce("gradient", work, Gradient.of(self._n_features, n_widths * k))
        ridge = np.einsum("ij,ij->j", value, value) / 2
        columns = np.vstack([total.vector, total.constant])
        gradient = np.stack(np.split(columns, n_widths, axis=1)) + value
        sums = np.asarray(total.loss)
        return _Point(sums[0] + ridge, sums[1::3] + ridge, gradient, np.maximum(sums[2::3], 0.0), sums[3::3])

    def hessian_product(self, value: Array, width: Array, direction: Array) -> Array:
        """Return the Hessian of the smoothed objective times a direction, in one pass."""
        both = np.hstack([value, direction])

        def work(Z: Rows, Y: Array, weight: Array | None) -> Gradient:
            S, V = np.hsplit(_scores(Z, both), 2)
            bends = self._loss.bends(self._loss.excess(S, Y), width)
            return Gradient.of(self._n_features, V.shape[1]).update(Z, self._costs(weight, len(Y)) * bends * V)

        self.passes += 1
        total = self._reduce("Hessian product", work, Gradient.of(self._n_features, self._n_outputs))
        product: Array = np.vstack([total.vector, total.constant]) + direction
        return product

    def objectives(self, value: Array, direction: Array, width: Array) -> Array:
        """Return the smoothed objectives at several step lengths, in one pass: scores are linear in the step."""
        both = np.hstack([value, direction])

        def work(Z: Rows, Y: Array, weight: Array | None) -> Totals:
            S, V = np.hsplit(_scores(Z, both), 2)
            W, loss = self._costs(weight, len(Y)), self._loss
            return Totals(
                np.concatenate([(W * loss.smoothed(loss.excess(S + t * V, Y), width)).sum(axis=0) for t in _STEPS])
            )

        self.passes += 1
        total = self._reduce("line search", work, Totals.of(len(_STEPS) * self._n_outputs)).values
        ends = value + _STEPS[:, None, None] * direction
        objectives: Array = total.reshape(len(_STEPS), -1) + np.einsum("tij,tij->tj", ends, ends) / 2
        return objectives

    @staticmethod
    def offer(best: Incumbent, at: _At) -> None:
        """Offer the weights with the duals of each width."""
        for gaps in at.point.gaps:
            best.offer(at.value.T, at.point.primal, gaps)

    def _costs(self, weight: Array | None, n_rows: int) -> Array:
        return np.full((n_rows, 1), self._C) if weight is None else self._C * weight[:, None]


def _scores(Z: Rows, value: Array) -> Array:
    return linear_scores(Z, value[:-1], value[-1])
