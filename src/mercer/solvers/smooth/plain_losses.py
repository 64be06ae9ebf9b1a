"""The hinge and the insensitive loss, and smooth losses that approach them from below."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array


@dataclass(frozen=True)
class PlainLoss:
    r"""max(e, 0) of the excess e: 1 - y s for the hinge loss, \|y - s\| - epsilon for the insensitive loss.

    The smoothed loss of width delta is 0 for e <= 0, e^2 / (2 delta) up to delta, and e - delta / 2 beyond (Huber's
    function of the positive part). Its derivative by e, times the cost of a row, is a feasible dual variable.

    Parameters
    ----------
    one_sided : bool
        Whether this is the hinge loss, of targets +1 and -1.
    epsilon : float
        Of the insensitive loss.

    Examples
    --------
    >>> import numpy as np
    >>> hinge = PlainLoss(one_sided=True)
    >>> excess = hinge.excess(np.zeros((1, 1)), np.ones((1, 1)))
    >>> float(excess[0, 0]), float(hinge.smoothed(excess, 2.0)[0, 0])
    (1.0, 0.25)
    """

    one_sided: bool
    epsilon: float = 0.0

    def excess(self, S: Array, Y: Array) -> Array:
        """Return the excess e of scores S (n, k) at targets Y (n, k)."""
        return np.asarray(1 - Y * S if self.one_sided else np.abs(Y - S) - self.epsilon)

    def signs(self, S: Array, Y: Array) -> Array:
        """Return the negative derivative of the excess by the scores: +1 or -1."""
        return Y if self.one_sided else np.sign(Y - S)

    @staticmethod
    def smoothed(excess: Array, width: Array | float) -> Array:
        """Return the smoothed losses; ``width`` is a number, or one per column."""
        inside = np.clip(excess, 0.0, width)
        return np.asarray(inside * (np.maximum(excess, 0.0) - inside / 2) / width)

    @staticmethod
    def slopes(excess: Array, width: Array | float) -> Array:
        """Return the derivatives of the smoothed losses by the excess, in [0, 1]."""
        return np.asarray(np.clip(excess / width, 0.0, 1.0))

    @staticmethod
    def bends(excess: Array, width: Array | float) -> Array:
        """Return the second derivatives of the smoothed losses."""
        return np.where((excess > 0) & (excess < width), 1.0 / width, 0.0)
