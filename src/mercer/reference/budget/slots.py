"""Slots of support vectors: a row joins in the last slot, and the last slot fills a hole."""

import numpy as np

from mercer._typing import Array
from mercer.reference.budget import arithmetic
from mercer.reference.types import BudgetRows, BudgetState


def join(rows: BudgetRows, state: BudgetState, t: int, coef: Array, values: Array) -> None:
    """Put row t of the block into the next slot, with its kernel values."""
    n = int(state.counts[0])
    state.coef[n], state.norms[n] = coef, rows.norms[t]
    state.born[n], state.column[n] = rows.numbers[t], rows.cross.shape[1] - len(rows.norms) + t
    if len(state.rows):
        state.rows[n] = rows.X[t]
    if len(state.between):
        state.between[n, :n] = state.between[:n, n] = values
        state.between[n, n] = rows.norms[t]
    state.counts[0] = n + 1


def leave(state: BudgetState, slot: int) -> None:
    """Remove a slot: the last one takes its place."""
    last = int(state.counts[0]) - 1
    for values in (state.coef, state.norms, state.born, state.column, state.rows):
        if len(values):
            values[slot] = values[last]
    for square in (state.between, state.inverse, state.reduction):
        if len(square):
            square[slot, : last + 1] = square[last, : last + 1]
            square[: last + 1, slot] = square[: last + 1, last]
    state.counts[0] = last


def lengths(state: BudgetState, n: int) -> Array:
    """Return the sums of squares of the coefficients of the first n slots."""
    return arithmetic.row_sums(np.square(state.coef[:n]))
