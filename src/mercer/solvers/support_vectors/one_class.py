"""The one-class support vector machine on explicit features."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mercer._typing import Array, Rows
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.solvers.support_vectors.coordinate_descent import coordinate_descent
from mercer.solvers.support_vectors.low_rank_program import LowRankProgram, low_rank_program
from mercer.solvers.support_vectors.svm_dual import BoxProblems
from mercer.solvers.support_vectors.tables import row_squares

_MULTIPLIER_STEPS = 100
# Widest dense features for the interior-point method, whose steps take a matrix of that size.
_WIDEST = 4096
# Rounding of the objective: this number times the squared mean norm of the rows, times the larger of the eps of float64
# (rounding of the dual variables) and the squared eps of the features (rounding of the squared weights).
_NOISE = 16.0


def one_class(Z: Rows, nu: float, *, tol: float = 1e-4, max_iter: int = 1000) -> Solution:
    r"""Minimise :math:`\frac12 \|w\|^2 - \rho + \frac{1}{\nu n} \sum_i \max(0, \rho - \langle w, z_i \rangle)`.

    The dual is :math:`\min \frac12 \|\sum_i \alpha_i z_i\|^2` over :math:`0 \le \alpha_i \le 1 / (\nu n)` and
    :math:`\sum_i \alpha_i = 1`; rho, which is not penalised, is the multiplier of that sum. Dense features take an
    interior-point method, about 15 steps of O(n D^2); sparse and very wide features take the method of multipliers over
    dual coordinate descent. The duality gap is measured after the dual variables are shifted so that their sum is 1,
    with the best rho for their weights. A gap below the rounding of the objective counts as 0: the minimum may be 0, at
    w = 0.

    Parameters
    ----------
    Z : ndarray or CSR array of shape (n, D)
    nu : float in (0, 1]
        An upper bound on the share of rows with negative scores, and a lower bound on the share of support vectors.
    tol : float
        Largest duality gap, relative to the objective.
    max_iter : int
        Largest number of steps, or of epochs.

    Returns
    -------
    Solution
        ``value`` (1, D + 1), -rho last.

    References
    ----------
    B. Schoelkopf, J. Platt, J. Shawe-Taylor, A. Smola and R. Williamson, "Estimating the support of a high-dimensional
    distribution", Neural Computation 13, 2001. H.-Y. Chou, P.-Y. Lin and C.-J. Lin, "Dual coordinate-descent methods
    for linear one-class SVM and SVDD", SDM 2020.
    """
    upper = 1.0 / (nu * Z.shape[0])
    if isinstance(Z, np.ndarray) and Z.shape[1] <= _WIDEST:
        found = _by_interior_point(Z, upper, tol, max_iter)
    else:
        found = _by_multipliers(Z, upper, tol, max_iter)
    best, steps, history, solver = found
    value = np.append(best.weights, -best.rho)[None]
    solution = Solution.converged(
        value,
        solver,
        iterations=steps,
        history=history,
        gap=best.relative_gap,
        objectives=np.array([best.objective]),
    )
    if best.holds(tol):
        return solution
    left = f"{steps} steps left a duality gap of {best.relative_gap:.1e}, and tol={tol:g} was asked for"
    return solution.unfinished(Status.ITERATION_LIMIT, left, [Remedy.MAX_ITER_OR_TOL])


@dataclass(frozen=True)
class _Certificate:
    """Weights, the best rho for them, their objective, and a bound on its distance from the minimum.

    ``noise`` is the rounding of the objective. The minimum may be 0, at w = 0; then no gap is small relative to the
    minimum.
    """

    weights: Array
    rho: float
    objective: float
    gap: float
    noise: float

    @classmethod
    def at_zero(cls, width: int) -> Self:
        """Return the point w = 0, rho = 0; its gap is infinite, because no duals are known yet."""
        return cls(np.zeros(width), 0.0, 0.0, np.inf, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap relative to the objective, 0 if it is rounding."""
        size = max(abs(self.objective), self.noise, np.finfo(float).tiny)
        return 0.0 if self.gap <= self.noise else float(self.gap / size)

    def holds(self, tol: float) -> bool:
        """Whether the gap is at most ``tol`` of the objective, or rounding."""
        return self.relative_gap <= tol


# The best point, the steps taken, the gaps on the way, and the solver.
_Found = tuple[_Certificate, int, tuple[float, ...], str]


def _by_interior_point(Z: Array, upper: float, tol: float, max_iter: int) -> _Found:
    history: list[float] = []
    best = _Certificate.at_zero(Z.shape[1])
    steps = 0
    sides = (1, Z.shape[0])
    program = LowRankProgram(Z, np.ones(sides), np.zeros(sides), np.ones(Z.shape[0]), total=1.0 / upper)
    for part in (1e-1, 1e-3, 1e-5):  # the gap before the duals are shifted onto the sum is another one
        found = low_rank_program(program, tol=part * tol, max_iter=max_iter)
        steps, duals = steps + found.iterations, found.details["duals"]
        best = _better(best, _certificate(Z, _onto_sum(upper * duals, upper), upper))
        history.append(best.relative_gap)
        if best.holds(tol):
            break
    return best, steps, tuple(history), "interior point"


def _by_multipliers(Z: Rows, upper: float, tol: float, max_iter: int) -> _Found:
    r"""Use the method of multipliers: :math:`\frac{\tau}{2} (1 - \sum_i \alpha_i)^2` replaces the fixed sum.

    With this term, each step is an ordinary hinge problem with a constant feature :math:`-\sqrt\tau` and targets
    :math:`\rho + \tau`. After each step, rho moves by :math:`\tau (1 - \sum_i \alpha_i)`.
    """
    n = Z.shape[0]
    mean_square = float(np.sum(np.square(Z.data if hasattr(Z, "indptr") else Z), dtype=np.float64)) / n
    penalty = mean_square if mean_square > 0 else 1.0
    cost, rho = np.full(n, upper), 0.0
    duals: Array = np.full((n, 1), 1.0 / n)
    history: list[float] = []
    best = _Certificate.at_zero(Z.shape[1])
    gap, epochs = np.inf, 0
    for _ in range(_MULTIPLIER_STEPS):
        problems = BoxProblems.of("hinge", np.full((n, 1), rho + penalty), cost, constant=-np.sqrt(penalty))
        inner = coordinate_descent(
            Z, problems, tol=min(0.1 * tol, 0.1 * gap), max_iter=max(1, max_iter - epochs), duals=duals
        )
        duals, epochs = inner.details["duals"], epochs + inner.iterations
        rho = max(rho + penalty * (1.0 - float(duals.sum())), 0.0)
        best = _better(best, _certificate(Z, _onto_sum(duals[:, 0], upper), upper))
        gap = best.relative_gap
        history.append(gap)
        if best.holds(tol) or epochs >= max_iter:
            break
    return best, epochs, tuple(history), "dual coordinate descent, multipliers"


def _better(best: _Certificate, other: _Certificate) -> _Certificate:
    """Return the point with the lower objective, with its gap to the better of the two duals."""
    lower, higher = (other, best) if other.objective <= best.objective else (best, other)
    gap = lower.objective - (higher.objective - higher.gap)
    return replace(lower, gap=max(min(lower.gap, gap), 0.0), noise=other.noise)


def _onto_sum(duals: Array, upper: float) -> Array:
    """Return the nearest point of the box [0, upper]^n with sum 1, by bisection on the shift."""
    low, high = -1.0 - float(duals.max(initial=0.0)), 1.0 + upper
    for _ in range(200):
        shift = (low + high) / 2
        total = float(np.clip(duals + shift, 0.0, upper).sum())
        low, high = (shift, high) if total < 1 else (low, shift)
        if high - low <= np.finfo(float).eps * upper:
            break
    shifted: Array = np.clip(duals + high, 0.0, upper)
    shifted /= shifted.sum()
    return shifted


def _certificate(Z: Rows, duals: Array, upper: float) -> _Certificate:
    """Return the weights of feasible duals with the best rho for them, and the gap to the duals."""
    weights = np.asarray(Z.T @ duals.astype(Z.dtype), dtype=np.float64)
    scores = np.asarray(Z @ weights.astype(Z.dtype), dtype=np.float64)
    ordered = np.sort(scores)
    # The slope by rho is -1 + upper * (rows with lower scores): its sign changes at the (1 / upper)-th score.
    rho = float(ordered[min(int(np.ceil(1.0 / upper - 1e-9)) - 1, len(ordered) - 1)])
    squares = float(weights @ weights)
    objective = 0.5 * squares - rho + upper * float(np.maximum(rho - scores, 0.0).sum())
    size = float(duals @ np.sqrt(row_squares(Z).astype(np.float64))) ** 2  # of what cancels in the weights
    noise = _NOISE * size * max(float(np.finfo(np.float64).eps), float(np.finfo(Z.dtype).eps) ** 2)
    return _Certificate(weights, rho, objective, max(objective + 0.5 * squares, 0.0), noise)
