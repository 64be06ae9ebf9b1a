"""From the scores of classes to probabilities, learned from leave-one-out scores."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.isotonic import isotonic_regression

from mercer._typing import Array
from mercer.state import Count, Real, Reals, Sizes, Stored, part, require

# Bounds of the logarithm of the exponent, where its search begins, and the largest floor.
_LOG_EXPONENTS, _FIRST, _LARGEST_FLOOR = (-5.0, 5.0), (0.0, np.log(0.02)), 0.5
# Rows times classes that decide exponent and floor, at most: two numbers need no more.
_MOST_ENTRIES = 2**17
# The least probability of the class that is predicted, of two; float32 tells it from one half.
ABOVE_HALF = 0.5 + 1e-6


@part("Calibration")
@dataclass(frozen=True)
class Calibration:
    r"""Probabilities of classes from scores.

    Two classes: the fraction of the second class among rows of similar score, a non-decreasing function of the score
    (isotonic regression), between whose steps it is linear. Each step counts one more row of the overall fraction, so
    that no probability is 0 or 1. The sign of a score decides the class: probabilities of the second class are above
    one half for scores above 0, and for no other.

    More classes: a ridge regression on targets of +1 and -1 estimates :math:`2 p - 1`, so that :math:`t = (s + 1) / 2`
    estimates a probability, but for noise. Probabilities are proportional to

    .. math:: q(t)^c, \qquad q(t) = \bigl(t + \sqrt{t^2 + 4 \epsilon^2}\bigr) / 2,

    where q is t with a smooth floor, because t may be negative, and grows with t, so that the class of the largest
    score stays the most probable one. Exponent c and floor :math:`\epsilon` have the least log loss.

    Attributes
    ----------
    n_columns : int
        1 for two classes, else the number of classes.
    scores, fractions : ndarray
        The steps, for two classes; empty for more.
    exponent, floor : float
        c and epsilon, for more than two classes. The floor is at least what one row more would be.

    References
    ----------
    B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learners.local.calibration import Calibration
    >>> scores = np.linspace(-1, 1, 100)[:, None]
    >>> calibration = Calibration.of(scores, np.where(scores > 0, 1.0, -1.0))
    >>> calibration.probabilities(np.array([[-0.8], [0.8]])).round(2)
    array([[0.99, 0.01],
           [0.01, 0.99]])
    """

    _stored = Stored(
        n_columns=Count(least=1),
        scores=Reals(("steps",)),
        fractions=Reals(("steps",), 0.0),
        exponent=Real(positive=True),
        floor=Real(positive=True),
    )

    n_columns: int
    scores: Array
    fractions: Array
    exponent: float = 1.0
    floor: float = _LARGEST_FLOOR

    @classmethod
    def of(cls, scores: Array, targets: Array, sample_weight: Array | None = None) -> "Calibration":
        """Learn from scores (n, k) and targets of +1 and -1, with k = 1 for two classes."""
        weight = np.ones(len(scores)) if sample_weight is None else sample_weight
        kept = weight > 0
        scores, targets, weight = scores[kept], targets[kept], weight[kept]
        if scores.shape[1] == 1:
            return cls(1, *_steps(scores[:, 0], targets[:, 0] > 0, weight))
        return cls(scores.shape[1], np.empty(0), np.empty(0), *_power(scores, targets.argmax(axis=1), weight))

    def probabilities(self, scores: Array) -> Array:
        """Return the probabilities (n, n_classes) of scores (n, k)."""
        if self.n_columns > 1:
            return np.asarray(softmax(self.exponent * np.log(_floored(scores, self.floor)), axis=1))
        second = np.interp(scores[:, 0], self.scores, self.fractions)
        second = np.where(scores[:, 0] > 0, np.maximum(second, ABOVE_HALF), np.minimum(second, 0.5))
        return np.column_stack([1 - second, second])

    def _check_stored(self, sizes: Sizes) -> None:
        require(
            (self.n_columns == 1) == (sizes["steps"] > 0), "scores and fractions must be there for two classes only"
        )
        require(np.log(self.exponent) <= _LOG_EXPONENTS[1], "exponent must be at most 148")
        require(self.floor <= _LARGEST_FLOOR, "floor must be at most 0.5")
        require(np.all(np.diff(self.scores) >= 0), "scores must ascend")
        require(np.all(np.diff(self.fractions) >= 0), "fractions must ascend")
        require(np.all(self.fractions <= 1), "fractions must be at most 1")


def _steps(scores: Array, is_second: Array, weight: Array) -> tuple[Array, Array]:
    """Return both ends of each step of the isotonic fit, and its fractions."""
    values, group = np.unique(scores, return_inverse=True)
    totals = np.bincount(group, weights=weight)
    rates = np.bincount(group, weights=weight * is_second) / totals
    fitted = isotonic_regression(rates, sample_weight=totals)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(fitted)) + 1])
    last = np.append(starts[1:], len(fitted)) - 1
    n_rows = np.add.reduceat(totals, starts)
    overall = float(weight @ is_second / weight.sum())
    shrunken = (fitted[starts] * n_rows + overall) / (n_rows + 1)
    shrunken = isotonic_regression(shrunken, sample_weight=n_rows)  # small steps are drawn more to the overall fraction
    ends = np.unique(np.stack([starts, last]).ravel())
    step = np.searchsorted(starts, ends, side="right") - 1
    return values[ends], np.asarray(shrunken[step])


def _floored(scores: Array, floor: float) -> Array:
    """Return q(t), without cancellation where t is negative."""
    t = (scores + 1) / 2
    size = np.abs(t)
    larger = (size + np.hypot(size, 2 * floor)) / 2
    return np.asarray(np.where(t >= 0, larger, floor**2 / larger))


def _power(scores: Array, codes: Array, weight: Array) -> tuple[float, float]:
    """Return the exponent and the floor of the least log loss."""
    step = -(-scores.size // _MOST_ENTRIES)
    scores, codes, share = scores[::step], codes[::step], weight[::step] / weight[::step].sum()
    own = np.arange(len(codes)), codes
    floors = np.log(1 / (weight.sum() + scores.shape[1])), np.log(_LARGEST_FLOOR)

    def loss(logs: Array) -> tuple[float, Array]:
        """Return the log loss and its gradient, at logarithms of exponent and floor."""
        exponent, floor = np.exp(logs)
        q = _floored(scores, floor)
        of_q = np.log(q)
        log_p = log_softmax(exponent * of_q, axis=1)
        p = np.exp(log_p)
        by_floor = 2 * floor**2 / (q**2 + floor**2)  # d log q / d log floor
        slopes = [share @ (part[own] - np.einsum("ij,ij->i", p, part)) for part in (of_q, by_floor)]
        return -float(share @ log_p[own]), -exponent * np.array(slopes)

    first = np.array([_FIRST[0], np.clip(_FIRST[1], *floors)])
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=(_LOG_EXPONENTS, floors))
    exponent, floor = np.exp(found.x)
    return float(exponent), float(floor)
