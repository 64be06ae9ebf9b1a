"""Smooth convex losses of linear scores, row by row: what ``newton_cg`` minimises the sum of."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import expit, logsumexp, softmax

from mercer._typing import Array


class Loss(Protocol):
    """A loss of scores S (n, k) and numeric targets Y (n, k).

    Where ``separable``, the loss is a sum over the columns, and values come as (n, k); else as (n, 1).
    """

    separable: ClassVar[bool]

    def values(self, S: Array, Y: Array) -> Array:
        """Return the loss of each row, (n, k) or (n, 1)."""

    def derivatives(self, S: Array, Y: Array) -> Array:
        """Return the derivatives by the scores, (n, k)."""

    def curvatures(self, S: Array, Y: Array) -> Array:
        """Return the second derivatives by each score, (n, k)."""

    def products(self, S: Array, Y: Array, V: Array) -> Array:
        """Return each row's matrix of second derivatives times the row of V, (n, k)."""


class _Separable:
    separable: ClassVar[bool] = True

    def curvatures(self, S: Array, Y: Array) -> Array:
        raise NotImplementedError

    def products(self, S: Array, Y: Array, V: Array) -> Array:
        """Return each row's matrix of second derivatives, a diagonal one, times the row of V."""
        return self.curvatures(S, Y) * V


@dataclass(frozen=True)
class Logistic(_Separable):
    """log(1 + exp(-y s)) for targets of +1 and -1.

    >>> import numpy as np
    >>> float(Logistic().derivatives(np.zeros((1, 1)), np.ones((1, 1)))[0, 0])
    -0.5
    """

    def values(self, S: Array, Y: Array) -> Array:
        """Return the loss of each row and column."""
        return np.asarray(np.logaddexp(0.0, -Y * S))

    def derivatives(self, S: Array, Y: Array) -> Array:
        """Return the derivatives by the scores."""
        return np.asarray(-Y * expit(-Y * S))

    def curvatures(self, S: Array, Y: Array) -> Array:
        """Return the second derivatives by the scores."""
        return np.asarray(expit(S) * expit(-S))


@dataclass(frozen=True)
class Multinomial:
    """log(sum_c exp(s_c)) - s_y for rows of Y that are 1 in the column of their class and 0 elsewhere."""

    separable: ClassVar[bool] = False

    def values(self, S: Array, Y: Array) -> Array:
        """Return the loss of each row, (n, 1)."""
        return np.asarray(logsumexp(S, axis=1, keepdims=True) - np.sum(Y * S, axis=1, keepdims=True))

    def derivatives(self, S: Array, Y: Array) -> Array:
        """Return the derivatives by the scores."""
        return np.asarray(softmax(S, axis=1) - Y)

    def curvatures(self, S: Array, Y: Array) -> Array:
        """Return the second derivatives by each score alone."""
        p = softmax(S, axis=1)
        return np.asarray(p * (1 - p))

    def products(self, S: Array, Y: Array, V: Array) -> Array:
        """Return (diag(p) - p p^T) v for each row."""
        p = softmax(S, axis=1)
        return np.asarray(p * (V - np.sum(p * V, axis=1, keepdims=True)))


@dataclass(frozen=True)
class SquaredHinge(_Separable):
    """max(0, 1 - y s)^2 for targets of +1 and -1."""

    def values(self, S: Array, Y: Array) -> Array:
        """Return the loss of each row and column."""
        return np.asarray(np.square(np.maximum(1 - Y * S, 0.0)))

    def derivatives(self, S: Array, Y: Array) -> Array:
        """Return the derivatives by the scores."""
        return np.asarray(-2 * Y * np.maximum(1 - Y * S, 0.0))

    def curvatures(self, S: Array, Y: Array) -> Array:
        """Return the second derivatives by the scores: 2 where the loss is not 0."""
        return np.where(Y * S < 1, 2.0, 0.0)


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(_Separable):
    """max(0, |y - s| - epsilon)^2.

    >>> import numpy as np
    >>> SquaredEpsilonInsensitive(0.5).values(np.zeros((1, 2)), np.array([[0.2, 1.5]])).tolist()
    [[0.0, 1.0]]
    """

    epsilon: float = 0.1

    def values(self, S: Array, Y: Array) -> Array:
        """Return the loss of each row and column."""
        return np.asarray(np.square(np.maximum(np.abs(Y - S) - self.epsilon, 0.0)))

    def derivatives(self, S: Array, Y: Array) -> Array:
        """Return the derivatives by the scores."""
        error = S - Y
        return np.asarray(2 * np.sign(error) * np.maximum(np.abs(error) - self.epsilon, 0.0))

    def curvatures(self, S: Array, Y: Array) -> Array:
        """Return the second derivatives by the scores: 2 outside the tube."""
        return np.where(np.abs(S - Y) > self.epsilon, 2.0, 0.0)
