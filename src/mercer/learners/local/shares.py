"""The share of each of two models in their mean, by residuals of rows that neither has seen."""

from typing import NamedTuple

import numpy as np

from mercer._typing import Array

# The part of the mean square of the difference of two models that is theirs, at least, and not the variance of one.
_LEAST_APART = 0.1


class BestShare(NamedTuple):
    """The share of the second of two models in the mean of both with the least squared error.

    Attributes
    ----------
    share : float
    gain : float
        By how much the mean lowers the error of the first model alone, in units of the variance of the targets.
    error : float
        The standard error of the gain.
    """

    share: float
    gain: float
    error: float

    @classmethod
    def of(
        cls, first: Array, second: Array, weight: Array, variance: Array, surplus: Array | float = 0.0
    ) -> "BestShare":
        """Compare leave-one-out residuals (n, k) of two models.

        On new rows the mean square of the errors of the second model is less than that of ``second`` by ``surplus``
        (k,), a variance that is independent of the first model.
        """
        difference, part = first - second, weight / weight.sum()
        apart, less = float(np.sum(part @ difference**2 / variance)), float(np.sum(surplus / variance))
        if not apart > 0:
            return cls(0.0, 0.0, 0.0)
        product = float(np.sum(part @ (first * difference) / variance))
        share = float(np.clip(product / max(apart - less, _LEAST_APART * apart), 0.0, 1.0))
        gains = np.sum((first**2 - (first - share * difference) ** 2) / variance, axis=1)
        gain = float(part @ gains)
        error = float(np.sqrt(np.sum(part**2 * (gains - gain) ** 2)))
        return cls(share, gain + share**2 * less, error)


def blend(first: Array, second: Array, weight: Array, variance: Array, surplus: Array | float = 0.0) -> float:
    """Return the best share of the second of two models, 0 where the gain is within a standard error of 0.

    >>> first, second = np.array([[1.0], [-1.0], [1.0], [-1.1]]), np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> round(blend(first, second, np.ones(4), np.ones(1)), 2)
    0.51
    """
    best = BestShare.of(first, second, weight, variance, surplus)
    return best.share if best.gain > best.error else 0.0
