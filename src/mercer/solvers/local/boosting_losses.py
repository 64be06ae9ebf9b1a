"""Losses of boosted trees: the constant score of the least loss, and the target that a score expects.

Slopes and curvatures are taken where trees are grown (``mercer.tree_core``).
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from mercer._typing import Array

# Classes of probability 0 or 1 would have infinite scores.
_LEAST_SHARE = 1e-6


class Loss(Protocol):
    """What boosting asks of a loss."""

    is_logistic: ClassVar[bool]

    def start(self, Y: Array, weight: Array) -> Array:
        """Return the constant score (k,) of the least loss."""

    def expected(self, scores: Array) -> Array:
        """Return the targets (n, k) that the scores expect."""


@dataclass(frozen=True)
class SquaredLoss:
    """Half of the squared error, for numbers: a score is the expected target."""

    is_logistic: ClassVar[bool] = False

    def start(self, Y: Array, weight: Array) -> Array:
        """Return the weighted means."""
        return np.asarray(weight @ Y / weight.sum())

    def expected(self, scores: Array) -> Array:
        """Return the scores."""
        return scores


@dataclass(frozen=True)
class LogisticLoss:
    r"""The loss :math:`\log(1 + e^{-2 y f})`, for targets of +1 and -1: a score is half of the log odds.

    The expected target is :math:`\tanh f`. A row that is classified with certainty has no slope any more, where the
    squared error would still pull its score to 1: trees are then spent on rows in doubt.
    """

    is_logistic: ClassVar[bool] = True

    def start(self, Y: Array, weight: Array) -> Array:
        """Return the scores of the shares of the classes."""
        bound = 1 - 2 * _LEAST_SHARE
        return np.asarray(np.arctanh(np.clip(weight @ Y / weight.sum(), -bound, bound)))

    def expected(self, scores: Array) -> Array:
        """Return the difference of the probabilities of +1 and -1."""
        return np.asarray(np.tanh(scores))
