"""The one-class support vector machine on explicit features."""

from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.solvers.box import BoxProblems
from mercer.solvers.coordinate_descent import coordinate_descent
from mercer.solvers.solution import Solution

_MULTIPLIER_STEPS = 100


def one_class(Z: Any, nu: float, *, tol: float = 1e-4, max_iter: int = 1000) -> Solution:
    r"""Minimise :math:`\frac12 \|w\|^2 - \rho + \frac{1}{\nu n} \sum_i \max(0, \rho - \langle w, z_i \rangle)`.

    The dual is :math:`\min \frac12 \|\sum_i \alpha_i z_i\|^2` over :math:`0 \le \alpha_i \le 1 / (\nu n)` and
    :math:`\sum_i \alpha_i = 1`; rho, which is not penalised, is the multiplier of that sum. The method of multipliers
    gives a sequence of problems without it: adding :math:`\frac{\tau}{2} (1 - \sum_i \alpha_i)^2` to the dual makes a
    constant feature :math:`-\sqrt\tau` and targets :math:`\rho + \tau` of an ordinary hinge loss, after which rho moves
    by :math:`\tau (1 - \sum_i \alpha_i)`. The gap is that of the dual variables shifted onto the sum, and of the best
    rho for their weights.

    Parameters
    ----------
    Z : ndarray or CSR array of shape (n, D)
    nu : float in (0, 1]
        Bounds the share of rows with negative scores from above, that of support vectors from below.
    tol : float
        Largest duality gap, relative to the objective.
    max_iter : int
        Epochs at most.

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
    n = Z.shape[0]
    upper = 1.0 / (nu * n)
    mean_square = float(np.sum(np.square(Z.data if hasattr(Z, "indptr") else Z), dtype=np.float64)) / n
    penalty = mean_square if mean_square > 0 else 1.0
    cost, rho = np.full(n, upper), 0.0
    duals: Array = np.full((n, 1), 1.0 / n)
    history: list[float] = []
    gap, epochs = np.inf, 0
    for _ in range(_MULTIPLIER_STEPS):
        problems = BoxProblems.of("hinge", np.full((n, 1), rho + penalty), cost, constant=-np.sqrt(penalty))
        inner = coordinate_descent(
            Z, problems, tol=min(0.1 * tol, 0.1 * gap), max_iter=max(1, max_iter - epochs), duals=duals
        )
        duals, epochs = inner.details["duals"], epochs + inner.iterations
        rho = max(rho + penalty * (1.0 - float(duals.sum())), 0.0)
        weights, best, objective, gap = _certificate(Z, _onto_sum(duals[:, 0], upper), upper)
        history.append(gap)
        if gap <= tol or epochs >= max_iter:
            break
    value = np.append(weights, -best)[None]
    details = {"solver": "dual coordinate descent, multipliers", "objectives": np.array([objective])}
    if gap <= tol:
        return Solution(value, "success", epochs, tuple(history), "", details, gap)
    advice = f"{epochs} epochs left a duality gap of {gap:.1e}, and tol={tol:g} was asked for: raise max_iter or tol."
    return Solution(value, "iteration limit", epochs, tuple(history), advice, details, gap)


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


def _certificate(Z: Any, duals: Array, upper: float) -> tuple[Array, float, float, float]:
    """Return the weights of feasible duals, the best rho for them, its objective, and the relative gap."""
    weights = np.asarray(Z.T @ duals.astype(Z.dtype), dtype=np.float64)
    scores = np.asarray(Z @ weights.astype(Z.dtype), dtype=np.float64)
    ordered = np.sort(scores)
    # The slope by rho is -1 + upper * (rows with lower scores): its sign changes at the (1 / upper)-th score.
    rho = float(ordered[min(int(np.ceil(1.0 / upper - 1e-9)) - 1, len(ordered) - 1)])
    squares = float(weights @ weights)
    objective = 0.5 * squares - rho + upper * float(np.maximum(rho - scores, 0.0).sum())
    gap = objective + 0.5 * squares
    return weights, rho, objective, gap / max(abs(objective), np.finfo(float).tiny)
