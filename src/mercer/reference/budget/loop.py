"""The loop over the rows of a block."""

import numpy as np

from mercer._typing import Array
from mercer.reference.budget import arithmetic
from mercer.reference.budget.merging import merge, slot_exponents
from mercer.reference.budget.newton import newton_row
from mercer.reference.budget.projection import absorb, join_by_projection
from mercer.reference.budget.removal import remove
from mercer.reference.budget.slots import join
from mercer.reference.budget.steps import coefficients, margin
from mercer.reference.types import BudgetRows, BudgetRule, BudgetState


def budget_learn(rule: BudgetRule, rows: BudgetRows, state: BudgetState, table: Array) -> None:
    """Learn the rows of a block in turn, changing ``state`` and writing ``rows.scores``.

    Column c of ``rows.cross`` belongs to slot c, or to row c - (number of slots) of the block; ``state.column`` names
    the column of each slot. ``table`` holds the places of ``merging.first_places``.
    """
    for t in range(len(rows.norms)):
        if rule.update == "newton":
            newton_row(rule, rows, state, t, _values(rule, rows, state, t))
        else:
            _learn(rule, rows, state, t, table)


def _values(rule: BudgetRule, rows: BudgetRows, state: BudgetState, t: int) -> Array:
    """Return the kernel values of row t and the slots."""
    if rule.maintenance == "merge":  # merged rows are in no column
        return np.asarray(arithmetic.exponential(-slot_exponents(rows.gamma, state, rows.X[t])))
    found = rows.cross[t, state.column[: int(state.counts[0])]]
    return np.asarray(arithmetic.exponential(-found) if rows.gamma > 0 else found)


def _learn(rule: BudgetRule, rows: BudgetRows, state: BudgetState, t: int, table: Array) -> None:
    n, values = int(state.counts[0]), _values(rule, rows, state, t)
    rows.scores[t] = arithmetic.inner(values, state.coef[:n])
    y = float(rows.y[t])
    coef = coefficients(rule, rows.scores[t], y, float(rows.norms[t]), float(rows.steps[t]))
    if rule.update in ("perceptron", "margin_perceptron"):
        state.totals[1] += margin(rows.scores[t], y) <= 0
    state.coef[:n] *= rows.shrinks[t]
    if rule.maintenance in ("project", "project_newest"):
        if coef is not None or rule.update == "margin_perceptron":
            join_by_projection(rule, rows, state, t, coef, values)
        return
    if coef is None:
        return
    join(rows, state, t, coef, values)
    if n < rule.budget:
        return
    if rule.maintenance == "merge":
        merge(rows.gamma, state, table)
    elif rule.maintenance in ("absorb", "absorb_nearest"):
        absorb(rule, state, values)
    else:
        remove(rule, state, float(rows.uniforms[t]))
