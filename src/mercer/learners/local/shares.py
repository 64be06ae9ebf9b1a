"""The share of each of two models in their mean, by residuals of rows that neither has seen."""

from typing import NamedTuple

import numpy as np

from mercer._typing import Array

# The part of the mean square of the difference of two models that is theirs, at least, and not the variance of one.
_LEAST_APART = 0.1
# Before errors are seen, every share from 0 to 1 is as likely: its mean and its variance.
_PRIOR_MEAN, _PRIOR_VARIANCE = 1 / 2, 1 / 12
# A second model that takes a smaller part off the error is not worth its time.
_LEAST_GAIN = 1e-3


class BestShare(NamedTuple):
    """The share of the second of two models in the mean of both with the least squared error.

    Attributes
    ----------
    share : float
        The share of the least error on the rows at hand, between 0 and 1.
    gain : float
        By how much the mean lowers the error of the first model alone, in units of the variance of the targets.
    expected : float
        The expected share, given these rows: few rows say little, and leave it near one half.
    """

    share: float
    gain: float
    expected: float

    @classmethod
    def of(
        cls, first: Array, second: Array, weight: Array, variance: Array, surplus: Array | float = 0.0
    ) -> "BestShare":
        """Compare leave-one-out residuals (n, k) of two models.

        On new rows the mean square of the errors of the second model is less than that of ``second`` by ``surplus``
        (k,), a variance that is independent of the first model.
        """
        difference, part = first - second, weight / weight.sum()
        squares, less = np.sum(difference**2 / variance, axis=1), float(np.sum(surplus / variance))
        products = np.sum(first * difference / variance, axis=1)
        before = float(part @ np.sum(first**2 / variance, axis=1))
        if not part @ squares > 0:
            return cls(0.0, 0.0, 0.0)
        apart = max(float(part @ squares) - less, _LEAST_APART * float(part @ squares))
        best = float(part @ products) / apart
        share = float(np.clip(best, 0.0, 1.0))
        gain = float(part @ (2 * share * products - share**2 * squares))
        slopes = (products - best * squares) / apart
        expected = _expected(best, float(part**2 @ (slopes - part @ slopes) ** 2))
        worth = expected**2 * apart >= _LEAST_GAIN * before
        return cls(share, gain + share**2 * less, expected if worth else 0.0)


def blend(first: Array, second: Array, weight: Array, variance: Array, surplus: Array | float = 0.0) -> float:
    """Return the expected share of the second of two models in the best mean of both; 0 if it gains next to nothing.

    >>> first, second = np.array([[1.0], [-1.0], [1.0], [-1.1]]), np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> round(blend(first, second, np.ones(4), np.ones(1)), 2)
    0.51
    """
    return BestShare.of(first, second, weight, variance, surplus).expected


def _expected(best: float, error: float) -> float:
    """Return the expected share given the best one on some rows, whose squared standard error is ``error``.

    >>> _expected(0.2, 0.0), round(_expected(0.2, 1e6), 4)
    (0.2, 0.5)
    """
    mean = (_PRIOR_VARIANCE * best + error * _PRIOR_MEAN) / (_PRIOR_VARIANCE + error)
    return float(np.clip(mean, 0.0, 1.0))
