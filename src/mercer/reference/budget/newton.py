"""Kernel recursive least squares on a budget, with forgetting: KRLS-T (Van Vaerenbergh et al., 2012)."""

import numpy as np

from mercer._typing import Array
from mercer.reference.budget import arithmetic
from mercer.reference.budget.projection import append_inverse, downdate_inverse
from mercer.reference.budget.slots import join, leave, lengths
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
    rows.scores[t] = arithmetic.inner(values, state.coef[:n])
    if decay < 1:
        state.reduction[:n, :n] *= decay
        state.coef[:n] *= np.sqrt(decay)
    image, known = (arithmetic.product(square[:n, :n], values) for square in (state.inverse, state.reduction))
    norm = float(rows.norms[t])
    rest, variance = (max(norm - float(arithmetic.inner(values, found)), 0.0) for found in (image, known))
    total = rule.ridge + variance
    error = (targets(float(rows.y[t]), state.coef.shape[1]) - np.sqrt(decay) * rows.scores[t]) / total
    if rest <= rule.tolerance * rule.tolerance * norm:
        gain = image - known
        state.reduction[:n, :n] += np.outer(gain * (1 / total), gain)
        arithmetic.symmetric(state.reduction)
        state.coef[:n] += np.outer(gain, error)
        return
    gain = np.append(-known, 1.0)
    join(rows, state, t, np.zeros(len(error)), values)
    state.reduction[n, : n + 1] = state.reduction[: n + 1, n] = 0.0
    state.reduction[: n + 1, : n + 1] += np.outer(gain * (1 / total), gain)
    state.coef[: n + 1] += np.outer(gain, error)
    append_inverse(state.inverse, n, image, rest)
    if n + 1 > rule.budget:
        _remove(state, _least(rule, state, n + 1), n + 1)
    arithmetic.symmetric(state.inverse)
    arithmetic.symmetric(state.reduction)


def _least(rule: BudgetRule, state: BudgetState, n: int) -> int:
    """Return the slot whose removal changes the mean at it least, or the oldest."""
    if rule.maintenance == "oldest":
        return int(np.argmin(state.born[:n]))
    diagonal = np.diagonal(state.inverse)[:n]
    return int(np.argmin(lengths(state, n) / (diagonal * diagonal)))


def _remove(state: BudgetState, slot: int, n: int) -> None:
    r"""Marginalise a slot: with P = I - K^-1 e e^T / (K^-1)_ee, c becomes P c and R becomes P R P^T.

    The change of R is :math:`-(q d^T + d q^T)`, a difference of two squares, with the share q and
    :math:`d = R e - (e^T R e / 2) q`.
    """
    share = state.inverse[slot, :n] / state.inverse[slot, slot]
    rest = state.reduction[slot, :n] - state.reduction[slot, slot] / 2 * share
    others, squares = float(arithmetic.total(rest * rest)), float(arithmetic.total(share * share))
    if others > 0:
        even = np.sqrt(np.sqrt(others / squares))  # both parts of one length
        one, two = even * share, rest / even
        for vector, factor in ((one + two, -0.5), (one - two, 0.5)):
            state.reduction[:n, :n] += np.outer(factor * vector, vector)
    state.coef[:n] -= np.outer(share, state.coef[slot].copy())
    downdate_inverse(state.inverse, n, slot)
    leave(state, slot)
