"""Kernel recursive least squares on a budget, with forgetting: KRLS-T (Van Vaerenbergh et al., 2012)."""

import numpy as np

from mercer._typing import Array
from mercer.reference.budget.projection import append_inverse, downdate_inverse
from mercer.reference.budget.slots import join, leave
from mercer.reference.budget.steps import targets
from mercer.reference.types import BudgetRows, BudgetRule, BudgetState


def newton_row(rule: BudgetRule, rows: BudgetRows, state: BudgetState, t: int, values: Array) -> None:
    r"""Learn row t: the posterior of the function, a Gaussian process, given one more noisy value.

    The mean at x is :math:`k^T c` and the variance :math:`k(x, x) - k^T R k` for the kernel values k of x and the
    slots. The published form holds the mean :math:`\mu = K c` and covariance :math:`S = K - K R K` of the values at the
    slots. In terms of c and R (Csato and Opper, 2002), forgetting, :math:`S \to \lambda S + (1 - \lambda) K` and
    :math:`\mu \to \sqrt{\lambda} \mu`, multiplies R by :math:`\lambda` and c by its root.
    """
    n = int(state.counts[0])
    decay = float(rows.shrinks[t])
    rows.scores[t] = values @ state.coef[:n]
    if decay < 1:
        state.reduction[:n, :n] *= decay
        state.coef[:n] *= np.sqrt(decay)
    image, known = state.inverse[:n, :n] @ values, state.reduction[:n, :n] @ values
    norm = float(rows.norms[t])
    rest, variance = max(norm - float(values @ image), 0.0), max(norm - float(values @ known), 0.0)
    total = rule.ridge + variance
    error = (targets(float(rows.y[t]), state.coef.shape[1]) - np.sqrt(decay) * rows.scores[t]) / total
    if rest <= rule.tolerance**2 * norm:
        gain = image - known
        state.reduction[:n, :n] += np.outer(gain / total, gain)
        state.coef[:n] += np.outer(gain, error)
        return
    gain = np.append(-known, 1.0)
    join(rows, state, t, np.zeros(len(error)), values)
    state.reduction[n, : n + 1] = state.reduction[: n + 1, n] = 0.0
    state.reduction[: n + 1, : n + 1] += np.outer(gain / total, gain)
    state.coef[: n + 1] += np.outer(gain, error)
    append_inverse(state.inverse, n, image, rest)
    if n + 1 > rule.budget:
        _remove(state, _least(rule, state, n + 1), n + 1)


def _least(rule: BudgetRule, state: BudgetState, n: int) -> int:
    """Return the slot whose removal changes the mean at it least, or the oldest."""
    if rule.maintenance == "oldest":
        return int(np.argmin(state.born[:n]))
    changes = state.coef[:n] / np.diagonal(state.inverse)[:n, np.newaxis]
    return int(np.argmin(np.square(changes).sum(axis=1)))


def _remove(state: BudgetState, slot: int, n: int) -> None:
    """Marginalise a slot: with P = I - K^-1 e e^T / (K^-1)_ee, c becomes P c and R becomes P R P^T."""
    share = state.inverse[:n, slot] / state.inverse[slot, slot]
    column = state.reduction[:n, slot].copy()
    change = np.outer(share, column - column[slot] / 2 * share)
    state.reduction[:n, :n] -= change + change.T
    state.coef[:n] -= np.outer(share, state.coef[slot].copy())
    downdate_inverse(state.inverse, n, slot)
    leave(state, slot)
