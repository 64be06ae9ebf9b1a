"""From the scores of classes to probabilities, learned from leave-one-out scores."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.isotonic import isotonic_regression

from mercer._typing import Array
from mercer.state import Count, Real, Reals, Sizes, Stored, part, require

# The logarithm of the factor of the scores lies in here: targets are +1 and -1.
_LOG_FACTORS = (-5.0, 8.0)
# The least probability of the class that is predicted, of two; float32 tells it from one half.
ABOVE_HALF = 0.5 + 1e-6


@part("Calibration")
@dataclass(frozen=True)
class Calibration:
    """Probabilities of classes from scores.

    Two classes: the fraction of the second class among rows of similar score, a non-decreasing function of the score
    (isotonic regression), between whose steps it is linear. Each step counts one more row of the overall fraction, so
    that no probability is 0 or 1. The sign of a score decides the class: probabilities of the second class are above
    one half for scores above 0, and for no other. More classes: softmax of the scores times a factor, that of the
    least log loss.

    Attributes
    ----------
    n_columns : int
        1 for two classes, else the number of classes.
    scores, fractions : ndarray
        The steps, for two classes; empty for more.
    factor : float
        Of the scores, for more than two classes.

    References
    ----------
    B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002.
    C. Guo, G. Pleiss, Y. Sun and K. Weinberger, "On calibration of modern neural networks", ICML 2017.

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
        factor=Real(positive=True),
    )

    n_columns: int
    scores: Array
    fractions: Array
    factor: float = 1.0

    @classmethod
    def of(cls, scores: Array, targets: Array, sample_weight: Array | None = None) -> "Calibration":
        """Learn from scores (n, k) and targets of +1 and -1, with k = 1 for two classes."""
        weight = np.ones(len(scores)) if sample_weight is None else sample_weight
        kept = weight > 0
        scores, targets, weight = scores[kept], targets[kept], weight[kept]
        if scores.shape[1] == 1:
            return cls(1, *_steps(scores[:, 0], targets[:, 0] > 0, weight))
        return cls(scores.shape[1], np.empty(0), np.empty(0), _factor(scores, targets.argmax(axis=1), weight))

    def probabilities(self, scores: Array) -> Array:
        """Return the probabilities (n, n_classes) of scores (n, k)."""
        if self.n_columns > 1:
            return np.asarray(softmax(self.factor * scores, axis=1))
        second = np.interp(scores[:, 0], self.scores, self.fractions)
        second = np.where(scores[:, 0] > 0, np.maximum(second, ABOVE_HALF), np.minimum(second, 0.5))
        return np.column_stack([1 - second, second])

    def _check_stored(self, sizes: Sizes) -> None:
        require(
            (self.n_columns == 1) == (sizes["steps"] > 0), "scores and fractions must be there for two classes only"
        )
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


def _factor(scores: Array, codes: Array, weight: Array) -> float:
    """Return the factor of the scores with the least log loss."""

    def loss(log_factor: float) -> float:
        logs = log_softmax(np.exp(log_factor) * scores, axis=1)
        return -float(weight @ logs[np.arange(len(codes)), codes]) / float(weight.sum())

    return float(np.exp(minimize_scalar(loss, bounds=_LOG_FACTORS, method="bounded").x))
