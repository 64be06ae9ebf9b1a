"""Losses of boosted trees: slopes and curvatures of scores, and the target that a score expects."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from mercer._typing import Array

# Classes of probability 0 or 1 would have infinite scores.
_LEAST_SHARE = 1e-6


class Derivatives(NamedTuple):
    """For each row the negative gradients of the loss (n, k), its curvatures (n, k) or (n, 1), and their mean (n,)."""

    slopes: Array
    curvatures: Array
    weights: Array


class Loss(Protocol):
    """What boosting asks of a loss."""

    def start(self, Y: Array, weight: Array) -> Array:
        """Return the constant score (k,) of the least loss."""

    def derivatives(self, Y: Array, scores: Array, weight: Array) -> Derivatives:
        """Return the derivatives of the loss at the scores (n, k)."""

    def expected(self, scores: Array) -> Array:
        """Return the targets (n, k) that the scores expect."""


@dataclass(frozen=True)
class SquaredLoss:
    """Half of the squared error, for numbers: a score is the expected target."""

    def start(self, Y: Array, weight: Array) -> Array:
        """Return the weighted means."""
        return np.asarray(weight @ Y / weight.sum())

    def derivatives(self, Y: Array, scores: Array, weight: Array) -> Derivatives:
        """Return the residuals, each times its weight, and the weights."""
        slopes = Y - scores
        slopes *= weight[:, None]
        return Derivatives(slopes, weight[:, None], weight)

    def expected(self, scores: Array) -> Array:
        """Return the scores."""
        return scores


@dataclass(frozen=True)
class LogisticLoss:
    r"""The loss :math:`\log(1 + e^{-2 y f})`, for targets of +1 and -1: a score is half of the log odds.

    The expected target is :math:`\tanh f`. A row that is classified with certainty has no slope any more, where the
    squared error would still pull its score to 1: trees are then spent on rows in doubt.
    """

    def start(self, Y: Array, weight: Array) -> Array:
        """Return the scores of the shares of the classes."""
        bound = 1 - 2 * _LEAST_SHARE
        return np.asarray(np.arctanh(np.clip(weight @ Y / weight.sum(), -bound, bound)))

    def derivatives(self, Y: Array, scores: Array, weight: Array) -> Derivatives:
        """Return y - tanh f and 1 - tanh^2 f, each times the weight of the row.

        The hyperbolic tangents are in float32, which takes a fifth of the time: the cell of a tree adds many slopes,
        and the next tree mends an error.
        """
        expected = np.tanh(scores.astype(np.float32)).astype(np.float64)
        slopes = Y - expected
        slopes *= weight[:, None]
        expected *= expected
        curvatures = np.subtract(1.0, expected, out=expected)
        curvatures *= weight[:, None]
        return Derivatives(slopes, curvatures, curvatures.mean(axis=1) if Y.shape[1] > 1 else curvatures[:, 0])

    def expected(self, scores: Array) -> Array:
        """Return the difference of the probabilities of +1 and -1."""
        return np.asarray(np.tanh(scores))
