"""A support vector too many is projected: onto all others, onto the incoming row, or onto that and its neighbour."""

import numpy as np

from mercer._typing import Array
from mercer.reference.budget import arithmetic
from mercer.reference.budget.slots import join, leave, lengths
from mercer.reference.budget.steps import direction, margin
from mercer.reference.types import BudgetRows, BudgetRule, BudgetState

# Two directions whose determinant is below this part of its largest value count as one.
DEPENDENT = 1e-10


def join_by_projection(
    rule: BudgetRule, rows: BudgetRows, state: BudgetState, t: int, coef: Array | None, values: Array
) -> None:
    """Let row t join, or project it, with the inverse K^-1 of the slots' Gram matrix kept by rank-one changes.

    Without coefficients the row may still have a margin error, on which Projectron++ takes a step along its projection.
    """
    n = int(state.counts[0])
    image = arithmetic.product(state.inverse[:n, :n], values)
    norm = float(rows.norms[t])
    rest = max(norm - float(arithmetic.inner(values, image)), 0.0)
    if coef is None:
        step = margin_step(rule, rows.scores[t], float(rows.y[t]), norm - rest, rest)
        if step is not None:
            state.coef[:n] += np.outer(image, step)
        return
    full = n == rule.budget
    if rest <= rule.tolerance * rule.tolerance * norm or (full and rule.maintenance == "project_newest"):
        state.coef[:n] += np.outer(image, coef)
        return
    join(rows, state, t, coef, values)
    append_inverse(state.inverse, n, image, rest)
    if full:
        diagonal = np.diagonal(state.inverse)[: n + 1]
        slot = int(np.argmin(lengths(state, n + 1) / diagonal))
        share = state.inverse[slot, : n + 1] / state.inverse[slot, slot]
        state.coef[: n + 1] -= np.outer(share, state.coef[slot].copy())
        downdate_inverse(state.inverse, n + 1, slot)
        leave(state, slot)
    arithmetic.symmetric(state.inverse)


def margin_step(rule: BudgetRule, scores: Array, y: float, norm: float, rest: float) -> Array | None:
    """Return the step of Projectron++ along the projection, of squared length ``norm``, which leaves ``rest``."""
    loss = 1 - margin(scores, y)
    if not 0 < loss < 1 or norm <= 0 or rule.tolerance <= 0:
        return None
    along = direction(scores, y)
    square = norm * float(along @ along)
    safe = loss - np.sqrt(rest) / rule.tolerance
    return along * min(loss / square, 2 * safe / square, 1.0) if safe > 0 else None


def append_inverse(inverse: Array, n: int, image: Array, rest: float) -> None:
    """Border the inverse of n slots: image = K^-1 k, rest = k(x, x) - k^T K^-1 k."""
    border = np.append(image, -1.0)
    inverse[n, : n + 1] = inverse[: n + 1, n] = 0.0
    inverse[: n + 1, : n + 1] += np.outer(border * (1 / rest), border)


def downdate_inverse(inverse: Array, n: int, slot: int) -> None:
    """Turn the inverse of n slots into that of all but one; the row and column of that one are left to ``leave``."""
    column = inverse[slot, :n].copy()
    inverse[:n, :n] += np.outer(column * (-1 / column[slot]), column)


def absorb(rule: BudgetRule, state: BudgetState, values: Array) -> None:
    """Project the slot that loses least onto the last one, or onto the last one and its own nearest neighbour.

    ``values`` are the kernel values of the incoming row, which is in the last slot, and the slots before.
    """
    last = int(state.counts[0]) - 1
    norm = float(state.norms[last])
    if last == 0:
        leave(state, 0)
        return
    if norm <= 0:
        leave(state, last)
        return
    shares = values / norm
    gains = values * shares
    neighbours = np.full(last, -1)
    others = np.zeros(last)
    if rule.maintenance == "absorb_nearest":
        for slot in range(last):
            neighbours[slot] = _nearest(state, slot, last)
            if neighbours[slot] >= 0:
                found = _pair(state, slot, int(neighbours[slot]), values, norm)
                if found is None:
                    neighbours[slot] = -1
                else:
                    shares[slot], others[slot], gains[slot] = found
    losses = lengths(state, last) * np.maximum(state.norms[:last] - gains, 0.0)
    slot = int(np.argmin(losses))
    coef = state.coef[slot].copy()
    state.coef[last] += shares[slot] * coef
    if neighbours[slot] >= 0:
        state.coef[neighbours[slot]] += others[slot] * coef
    leave(state, slot)


def _nearest(state: BudgetState, slot: int, n: int) -> int:
    """Return the other slot below n with the largest squared kernel value over its norm, -1 if there is none."""
    best, found = 0.0, -1
    for other in range(n):
        if other != slot and state.norms[other] > 0:
            value = float(state.between[slot, other])
            closeness = value * value / float(state.norms[other])
            if closeness > best:
                best, found = closeness, other
    return found


def _pair(state: BudgetState, slot: int, other: int, values: Array, norm: float) -> tuple[float, float, float] | None:
    """Return the shares of the incoming row and of a neighbour in the projection of a slot, and its squared length."""
    first, second = float(values[slot]), float(state.between[slot, other])
    cross, diagonal = float(values[other]), float(state.norms[other])
    determinant = norm * diagonal - cross * cross
    if determinant <= DEPENDENT * norm * diagonal:
        return None
    one = (diagonal * first - cross * second) / determinant
    two = (norm * second - cross * first) / determinant
    return one, two, one * first + two * second
