"""Which coefficient an incoming row gets: gradient, perceptron and passive-aggressive steps."""

import numpy as np

from mercer._typing import Array
from mercer.reference.online import slope
from mercer.reference.types import LOSSES, BudgetRule


def coefficients(rule: BudgetRule, scores: Array, y: float, norm: float, step: float) -> Array | None:
    """Return the coefficients (k,) that a row gets, or None where the row changes nothing.

    ``norm`` is k(x, x) of the row, ``step`` the step size of gradient descent.
    """
    if rule.update == "gradient":
        derivative = _derivative(rule, scores, y)
        return -step * derivative if derivative.any() else None
    if rule.update in ("perceptron", "margin_perceptron"):
        return direction(scores, y) if margin(scores, y) <= 0 else None
    return _passive_aggressive(rule, scores, y, norm) if norm > 0 else None


def margin(scores: Array, y: float) -> float:
    """Return y s for one column of scores, and the score of the class less the best other score for several."""
    return float(scores @ direction(scores, y))


def direction(scores: Array, y: float) -> Array:
    """Return the derivative of the margin in the scores: y, or 1 for the class and -1 for the best other class."""
    if len(scores) == 1:
        return np.array([y])
    found = np.zeros(len(scores))
    others = scores.copy()
    others[int(y)] = -np.inf
    found[int(y)], found[int(np.argmax(others))] = 1.0, -1.0
    return found


def targets(y: float, n_columns: int) -> Array:
    """Return the numbers that the scores should be: y, or +1 for the class and -1 for all others."""
    return np.array([y]) if n_columns == 1 else np.where(np.arange(n_columns) == int(y), 1.0, -1.0)


def _derivative(rule: BudgetRule, scores: Array, y: float) -> Array:
    """Return the derivative of the loss in the scores."""
    name = LOSSES[rule.loss]
    if name == "squared":
        return scores - targets(y, len(scores))
    if name == "absolute" and abs(float(scores[0]) - y) <= rule.epsilon:
        return np.zeros(1)
    return slope(rule.loss, scores, y)[0]


def _passive_aggressive(rule: BudgetRule, scores: Array, y: float, norm: float) -> Array | None:
    """Return the least change that leaves the row no loss, limited to 1 / ridge or softened by the ridge."""
    name, wanted = LOSSES[rule.loss], targets(y, len(scores))
    if name in ("squared", "squared_hinge"):
        lacking = wanted - scores
        if name == "squared_hinge":
            lacking = np.where(wanted * lacking > 0, lacking, 0.0)
        return lacking / (norm + rule.ridge) if lacking.any() else None
    if name == "absolute":
        error = y - float(scores[0])
        loss, along = abs(error) - rule.epsilon, np.array([np.sign(error)])
    else:
        loss, along = 1 - margin(scores, y), direction(scores, y)
    if loss <= 0:
        return None
    return along * min(1 / rule.ridge, loss / (norm * float(along @ along)))
