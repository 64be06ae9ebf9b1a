r"""Dual coordinate descent for linear models with a hinge or an insensitive loss, several problems side by side.

Each problem is :math:`\min_w \frac12 \|w\|^2 + \sum_i L_i(\langle w, z_i \rangle)` in its dual variables, w being
:math:`\sum_i \beta_i z_i`:

.. math:: \min_\beta \tfrac12 \Big\|\sum_i \beta_i z_i\Big\|^2
          + \sum_i \tfrac12 r_i \beta_i^2 - t_i \beta_i + \epsilon |\beta_i|

over :math:`0 \le \beta_i \,\mathrm{sign}(t_i) \le u_i` (one-sided, epsilon = 0: classification with labels t) or
:math:`|\beta_i| \le u_i` (two-sided: regression on t). The hinge and the insensitive loss at cost C have u = C and
r = 0, their squares u = infinity and r = 1 / (2 C). The squared norms in ``bounds`` count the constant feature.
"""

from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.reference.border import csr_rows

# Steps go this much farther than to the least value along a coordinate, which still lowers the objective, as any factor
# below 2 does: on digits that saves a fifth of the epochs.
RELAXATION = 1.4


def descend(
    Z: Any,
    order: Array,
    targets: Array,
    bounds: Array,
    duals: Array,
    shrunk: Array,
    weights: Array,
    intercepts: Array,
    progress: Array,
    one_sided: bool,
    epsilon: float,
    constant: float,
) -> None:
    """Minimise over one coordinate after the other: the rows of Z (n, D) in the given order, for each of K problems.

    ``targets``, ``duals`` and ``shrunk`` are (n, K); ``bounds`` (n, 3) holds u, r and the squared norm of each row.
    ``weights`` (K, D) and ``intercepts`` (K,), the weight of a feature of value ``constant``, follow the duals.
    ``progress`` (3, K) holds thresholds, gaps and violations: a coordinate that lies deeper than the threshold in the
    optimal cone of a bound is marked as shrunk, and not visited again; a problem with a negative threshold is left
    alone; to the gaps each visited coordinate adds its part of the duality gap (its Fenchel-Young loss), and the
    largest violation of the optimality conditions is kept.

    References
    ----------
    C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. Keerthi and S. Sundararajan, "A dual coordinate descent method for
    large-scale linear SVM", ICML 2008. C.-H. Ho and C.-J. Lin, "Large-scale linear support vector regression",
    JMLR 13, 2012. O. Mangasarian and D. Musicant, "Successive overrelaxation for support vector machines", IEEE
    Trans. Neural Networks 10, 1999.
    """
    for i in order:
        z = Z[i]
        for k in range(targets.shape[1]):
            if shrunk[i, k] or progress[0, k] < 0:
                continue
            score = float(z @ weights[k]) + constant * intercepts[k]
            moved = _step(i, k, score, targets, bounds, duals, shrunk, progress, one_sided, epsilon)
            if moved:
                weights[k] += moved * z
                intercepts[k] += moved * constant


def descend_csr(
    data: Array,
    indices: Array,
    indptr: Array,
    order: Array,
    targets: Array,
    bounds: Array,
    duals: Array,
    shrunk: Array,
    weights: Array,
    intercepts: Array,
    progress: Array,
    one_sided: bool,
    epsilon: float,
    constant: float,
) -> None:
    """Do as ``descend`` on CSR rows; ``weights`` is (D, K), with K beyond 1 rounded up to a multiple of 8."""
    Z = csr_rows(data, indices, indptr, weights.shape[0]).toarray()
    side = np.ascontiguousarray(weights.T[: targets.shape[1]])
    descend(Z, order, targets, bounds, duals, shrunk, side, intercepts, progress, one_sided, epsilon, constant)
    weights[:, : targets.shape[1]] = side.T


def _step(
    i: int,
    k: int,
    score: float,
    targets: Array,
    bounds: Array,
    duals: Array,
    shrunk: Array,
    progress: Array,
    one_sided: bool,
    epsilon: float,
) -> float:
    """Take one step in a coordinate, book what was found, and return by how much the dual moved."""
    target, dual = float(targets[i, k]), float(duals[i, k])
    upper, ridge, squares = (float(value) for value in bounds[i])
    if upper <= 0:  # a row of weight 0
        shrunk[i, k] = 1
        return 0.0
    lower = -upper
    if one_sided:
        lower, upper = (0.0, upper) if target >= 0 else (-upper, 0.0)
    gradient = score + ridge * dual - target
    violation, inside = _optimality(dual, gradient, (lower, upper), one_sided, epsilon)
    excess = max((target - score) * (1 if target >= 0 else -1) if one_sided else abs(target - score) - epsilon, 0.0)
    loss = excess**2 / (2 * ridge) if ridge > 0 else (max(upper, -lower) * excess if excess else 0.0)
    progress[1, k] += loss + dual * (score - target + ridge * dual / 2) + epsilon * abs(dual)
    progress[2, k] = max(progress[2, k], violation)
    if inside > progress[0, k]:
        shrunk[i, k] = 1
        return 0.0
    # Of a row of zeros the step ends at a bound.
    relaxed = _relaxed(dual, gradient, max(squares + ridge, 1e-300), epsilon)
    before = duals[i, k]
    duals[i, k] = np.clip(relaxed, lower, upper)
    return float(duals[i, k] - before)


def _optimality(
    dual: float, gradient: float, box: tuple[float, float], one_sided: bool, epsilon: float
) -> tuple[float, float]:
    """Return how far a coordinate is from optimal, and how deep in the optimal cone of a bound it lies."""
    lower, upper = box
    up, down = gradient + epsilon, gradient - epsilon  # the slopes to the right and to the left of 0
    if dual >= upper and (one_sided or dual != 0):
        slope = up if dual > 0 else down
        return max(slope, 0.0), -slope
    if dual <= lower and (one_sided or dual != 0):
        slope = down if dual < 0 else up
        return max(-slope, 0.0), slope
    if dual == 0:
        return max(abs(gradient) - epsilon, 0.0), epsilon - abs(gradient)
    return abs(up if dual > 0 else down), -1.0


def _relaxed(dual: float, gradient: float, curvature: float, epsilon: float) -> float:
    """Return where a step ends that goes beyond the least value along a coordinate, but not beyond the kink at 0."""
    free = curvature * dual - gradient
    least = float(np.sign(free)) * max(abs(free) - epsilon, 0.0) / curvature
    moved = dual + RELAXATION * (least - dual)
    return moved if moved * least > 0 else 0.0
