"""A support vector too many is removed: the least, the oldest, one at random, by shrinking, by unbiased removal."""

from math import sqrt

import numpy as np

from mercer._typing import Array
from mercer.reference.budget import arithmetic
from mercer.reference.budget.slots import leave, lengths
from mercer.reference.types import BudgetRule, BudgetState

# Part of the mistakes that the self-tuned Forgetron lets removals undo (Dekel, Shalev-Shwartz and Singer, 2008).
FORGETRON_SHARE = 15 / 32
# The largest coefficient that a gradient step gives a row: reweighted coefficients are clipped there.
LARGEST_STEP = 1.0


def remove(rule: BudgetRule, state: BudgetState, uniform: float) -> None:
    """Remove one of the slots, the last of which holds the incoming row."""
    n = int(state.counts[0])
    if rule.maintenance == "remove":
        leave(state, int(np.argmin(lengths(state, n) * state.norms[:n])))
    elif rule.maintenance == "oldest":
        leave(state, int(np.argmin(state.born[:n])))
    elif rule.maintenance == "random":
        leave(state, min(int(uniform * (n - 1)), n - 2) if n > 1 else 0)
    elif rule.maintenance == "shrink":
        _shrink(state)
    else:
        _by_chance(rule, state, uniform)


def _shrink(state: BudgetState) -> None:
    r"""Shrink all coefficients as little as allowed and remove the oldest: the self-tuned Forgetron.

    With the coefficient :math:`\sigma` of the oldest row and its margin :math:`\mu`, removal after a shrink by
    :math:`\varphi` costs :math:`\Psi = \varphi^2 \sigma^2 k + 2 \varphi \sigma - 2 \varphi^2 \sigma \mu`. The sum of
    all :math:`\Psi` stays below 15/32 of the mistakes.
    """
    n = int(state.counts[0])
    oldest = int(np.argmin(state.born[:n]))
    coef = state.coef[oldest]
    size = float(np.abs(coef).max())
    if size > 0:
        scores = arithmetic.inner(state.between[:n, oldest], state.coef[:n])
        margin = float(arithmetic.inner(coef, scores)) / size
        square = float(arithmetic.inner(coef, coef)) * float(state.norms[oldest]) - 2 * size * margin
        spent, mistakes = state.totals
        factor = largest_factor(square, 2 * size, float(spent - FORGETRON_SHARE * mistakes))
        state.totals[0] += square * factor * factor + 2 * size * factor
        state.coef[:n] *= factor
    leave(state, oldest)


def largest_factor(square: float, linear: float, constant: float) -> float:
    """Return the largest factor in [0, 1] with square x^2 + linear x + constant <= 0, for linear > 0 >= constant."""
    if square + linear + constant <= 0:
        return 1.0
    if square == 0:
        return max(0.0, -constant / linear)
    root = sqrt(max(0.0, linear * linear - 4 * square * constant))
    return min(1.0, max(0.0, -2 * constant / (linear + root)))


def _by_chance(rule: BudgetRule, state: BudgetState, uniform: float) -> None:
    """Remove a slot by chance and divide the other coefficients by their chance to stay: the mean does not change."""
    n = int(state.counts[0]) - 1
    if n == 0:
        leave(state, 0)
        return
    if rule.maintenance == "stochastic":
        stays = np.full(n, 1 - 1 / n)
        slot = min(int(uniform * n), n - 1)
    else:
        stays = chances_to_stay(np.sqrt(lengths(state, n) * state.norms[:n]))
        slot = chosen(1 - stays, uniform)
    for i in range(n):
        if i != slot:
            state.coef[i] = np.clip(state.coef[i] / stays[i], -LARGEST_STEP, LARGEST_STEP)
    leave(state, slot)


def chances_to_stay(sizes: Array) -> Array:
    """Return min(1, c size) with c such that one is expected to leave; a size of 0 leaves for certain."""
    n = len(sizes)
    if not sizes.all():
        stays = np.ones(n)
        stays[int(np.argmin(sizes))] = 0.0
        return stays
    capped = np.zeros(n, dtype=bool)
    while True:
        factor = (n - 1 - np.count_nonzero(capped)) / arithmetic.total(sizes[~capped])
        more = ~capped & (factor * sizes > 1)
        if not more.any():
            return np.where(capped, 1.0, factor * sizes)
        capped |= more


def chosen(chances: Array, uniform: float) -> int:
    """Return the first place at which the sum of the chances exceeds ``uniform`` of their total."""
    total, sums = float(arithmetic.total(chances)), 0.0
    last = 0
    for i, chance in enumerate(chances):
        if chance <= 0:
            continue
        last, sums = i, sums + float(chance)
        if sums > uniform * total:
            break
    return last
