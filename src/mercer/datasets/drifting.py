"""Synthetic streams that drift, whose probabilities are known for every row: abrupt, gradual and rotating changes."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from mercer._typing import Array, Seed
from mercer.data import Blocks, as_blocks
from mercer.validation import check_integer, check_real


@dataclass(frozen=True)
class DriftingStream:
    r"""Rows in the order of time, labels 0 and 1, and what no learner is told.

    Rows are standard normal. The concept of the angle :math:`\theta` is class 1 where :math:`\cos(2(\varphi - \theta))
    > 0`, with :math:`\varphi` the direction of the first two columns: opposite quarters of the plane, which no linear
    classifier separates. Concepts whose angles differ by :math:`\delta \le \pi/2` disagree on a part :math:`2 \delta /
    \pi` of the rows. A part ``flip`` of the labels is turned.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,), int64
    probability : ndarray of shape (n,)
        The probability of class 1, given the row and its time.
    angle : ndarray of shape (n,)
        The angle of the concept; in a gradual change, of the concept that the row was drawn from.

    Examples
    --------
    >>> from mercer.datasets import abrupt_drift
    >>> stream = abrupt_drift(1000, flip=0.1, random_state=0)
    >>> float(stream.bayes_error.mean().round(3))
    0.1
    >>> [block.shape for block in stream.blocks(400)]
    [(400, 2), (400, 2), (200, 2)]
    """

    X: Array
    y: Array
    probability: Array
    angle: Array

    @property
    def bayes_error(self) -> Array:
        """The least probability of a mistake for each row, that of a classifier which knows row, time and concept."""
        return np.asarray(np.minimum(self.probability, 1 - self.probability))

    def blocks(self, block_rows: int | None = None) -> Blocks:
        """Return the rows with their labels as ``Blocks``."""
        return as_blocks(self.X, self.y, block_rows=block_rows)


def abrupt_drift(
    n_samples: int = 10_000,
    n_features: int = 2,
    *,
    n_changes: int = 1,
    turn: float = np.pi / 4,
    flip: float = 0.05,
    random_state: Seed = None,
) -> DriftingStream:
    """Draw a stream whose concept turns by the angle ``turn`` at once, ``n_changes`` times, at equal distances.

    >>> from mercer.datasets import abrupt_drift
    >>> stream = abrupt_drift(6, n_changes=2, turn=1.0, random_state=0)
    >>> stream.angle.tolist()
    [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
    """
    owner = "abrupt_drift"
    n_samples, n_changes = check_integer(owner, "n_samples", n_samples), check_integer(owner, "n_changes", n_changes)
    turn = check_real(owner, "turn", turn, least=0)
    angle = turn * (np.arange(n_samples) * (n_changes + 1) // n_samples)
    return _drawn(owner, n_features, angle, angle, np.zeros(n_samples), flip, random_state)


def gradual_drift(
    n_samples: int = 10_000,
    n_features: int = 2,
    *,
    width: float = 0.2,
    turn: float = np.pi / 4,
    flip: float = 0.05,
    random_state: Seed = None,
) -> DriftingStream:
    """Draw a stream that changes between two concepts, the second of which is turned by ``turn``.

    Rows come from the second concept with a probability that rises from 0 to 1, in proportion to time, over the part
    ``width`` of the stream in its middle. There the Bayes error is larger where the concepts disagree.
    """
    owner = "gradual_drift"
    n_samples = check_integer(owner, "n_samples", n_samples)
    width, turn = _part(owner, "width", width, 1.0), check_real(owner, "turn", turn, least=0)
    time = (np.arange(n_samples) + 0.5) / n_samples
    share = np.clip((time - 0.5) / width + 0.5, 0, 1) if width > 0 else (time > 0.5).astype(np.float64)
    return _drawn(owner, n_features, np.zeros(n_samples), np.full(n_samples, turn), share, flip, random_state)


def rotating_drift(
    n_samples: int = 10_000,
    n_features: int = 2,
    *,
    turns: float = 1.0,
    flip: float = 0.05,
    random_state: Seed = None,
) -> DriftingStream:
    """Draw a stream whose concept rotates all the time, by ``turns`` whole turns from the first row to the last."""
    owner = "rotating_drift"
    n_samples, turns = check_integer(owner, "n_samples", n_samples), check_real(owner, "turns", turns, least=0)
    angle = 2 * np.pi * turns * np.arange(n_samples) / n_samples
    return _drawn(owner, n_features, angle, angle, np.zeros(n_samples), flip, random_state)


def _drawn(
    owner: str, n_features: int, first: Array, second: Array, share: Array, flip: float, random_state: Seed
) -> DriftingStream:
    """Draw rows; each is labelled by the concept of its second angle with the probability ``share``, else the first."""
    n_features, flip = check_integer(owner, "n_features", n_features, least=2), _part(owner, "flip", flip, 0.5)
    rng = check_random_state(random_state)
    X = rng.standard_normal((len(first), n_features))
    labels = [_concept(X, angle) for angle in (first, second)]
    of_second = rng.random_sample(len(X)) < share
    clean = np.where(of_second, labels[1], labels[0])
    y = np.where(rng.random_sample(len(X)) < flip, 1 - clean, clean)
    mean = (1 - share) * labels[0] + share * labels[1]
    return DriftingStream(X, y, flip + (1 - 2 * flip) * mean, np.where(of_second, second, first))


def _concept(X: Array, angle: Array) -> Array:
    direction = np.arctan2(X[:, 1], X[:, 0])
    return np.asarray(np.cos(2 * (direction - angle)) > 0, dtype=np.int64)


def _part(owner: str, name: str, value: float, most: float) -> float:
    checked = check_real(owner, name, value, least=0)
    if checked > most:
        raise ValueError(f"{owner}: {name} must be at most {most:g}, got {value!r}.")
    return checked
