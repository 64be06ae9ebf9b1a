"""Kernel recursive least squares on a budget, with forgetting: KRLS-T (Van Vaerenbergh et al., 2012)."""

import numpy as np

from mercer._typing import Array
from mercer.reference.budget.projection import append_inverse, downdate_inverse
from mercer.reference.budget.slots import join, leave
from mercer.reference.budget.steps import targets
from mercer.reference.types import BudgetRows, BudgetRule, BudgetState


def newton_row(rule: BudgetRule, rows: BudgetRows, state: BudgetState, t: int, values: Array) -> None:
    """Learn row t: the posterior of the function's values at the slots, given one more noisy value.

    The slots hold the mean mu and the covariance S of these values, and K^-1 of their Gram matrix K.
    """
    n = int(state.counts[0])
    image = state.inverse[:n, :n] @ values
    rows.scores[t] = image @ state.mean[:n]
    decay = float(rows.shrinks[t])
    if decay < 1:
        state.covariance[:n, :n] = decay * state.covariance[:n, :n] + (1 - decay) * state.between[:n, :n]
        state.mean[:n] *= np.sqrt(decay)
    norm = float(rows.norms[t])
    rest = max(norm - float(values @ image), 0.0)
    gain = state.covariance[:n, :n] @ image
    mean = image @ state.mean[:n]
    variance = rest + max(float(image @ gain), 0.0)
    error = (targets(float(rows.y[t]), len(mean)) - mean) / (rule.ridge + variance)
    state.covariance[:n, :n] -= np.outer(gain / (rule.ridge + variance), gain)
    state.mean[:n] += np.outer(gain, error)
    if rest <= rule.tolerance**2 * norm:
        return
    join(rows, state, t, np.zeros(len(mean)), values)
    shrunk = rule.ridge / (rule.ridge + variance)
    state.covariance[n, :n] = state.covariance[:n, n] = gain * shrunk
    state.covariance[n, n], state.mean[n] = variance * shrunk, mean + variance * error
    append_inverse(state.inverse, n, image, rest)
    if n + 1 > rule.budget:
        slot = _least(rule, state, n + 1)
        downdate_inverse(state.inverse, n + 1, slot)
        leave(state, slot)


def _least(rule: BudgetRule, state: BudgetState, n: int) -> int:
    """Return the slot whose removal changes the mean at it least, or the oldest."""
    if rule.maintenance == "oldest":
        return int(np.argmin(state.born[:n]))
    changes = (state.inverse[:n, :n] @ state.mean[:n]) / np.diagonal(state.inverse)[:n, np.newaxis]
    return int(np.argmin(np.square(changes).sum(axis=1)))


def set_coefficients(state: BudgetState) -> None:
    """Set the coefficients of f = sum_i c_i k(x_i, .), that is c = K^-1 mu."""
    n = int(state.counts[0])
    state.coef[:n] = state.inverse[:n, :n] @ state.mean[:n]
