"""The best weights found for support vector problems, w = 0 included, and the best bound on their objectives."""

import numpy as np

from mercer._typing import Array

# Objectives with a relative difference below this number are equal up to rounding: the smaller gap then decides.
_SAME = 64 * float(np.finfo(np.float64).eps)


class Incumbent:
    """The lowest point and the highest dual bound of each of K problems.

    Parameters
    ----------
    n_problems : int
    width : int
        Number of weights of a problem, intercept included.

    Attributes
    ----------
    value : ndarray of shape (K, width)
        0 before the first offer.
    objectives, gaps : ndarray of shape (K,)
        The objective of the weights, and its distance from the dual bound; infinite before the first offer.

    Examples
    --------
    >>> import numpy as np
    >>> best = Incumbent(1, 1)
    >>> best.offer_zero(np.array([4.0]))
    >>> best.offer(np.ones((1, 1)), objectives=np.array([5.0]), gaps=np.array([2.0]))  # a worse point, a better bound
    array([ True])
    >>> best.value.tolist(), best.gaps.tolist()
    ([[0.0]], [1.0])
    """

    def __init__(self, n_problems: int, width: int):
        self.value = np.zeros((n_problems, width))
        self.objectives, self.gaps = np.full(n_problems, np.inf), np.full(n_problems, np.inf)

    @property
    def relative_gaps(self) -> Array:
        """The gaps relative to the objectives."""
        return np.asarray(self.gaps / np.maximum(self.objectives, np.finfo(float).tiny))

    def holds(self, tol: float) -> Array:
        """Return which problems have a gap of at most ``tol`` of their objective."""
        return np.asarray(self.gaps <= tol * self.objectives)

    def offer_zero(self, objectives: Array) -> None:
        """Offer the point w = 0 with its objectives; its duals and its dual bound are 0."""
        self.offer(np.zeros_like(self.value), objectives, objectives)

    def offer(self, value: Array, objectives: Array, gaps: Array, chosen: Array | None = None) -> Array:
        """Keep the best of the chosen problems; return the problems whose dual bound is kept.

        Weights and duals are kept as a pair if their gap is the smallest so far, else separately.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            bounds, best = objectives - gaps, self.objectives - self.gaps
        chosen = np.isfinite(gaps) & (True if chosen is None else chosen)
        same = _SAME * np.abs(objectives)
        first = chosen & ~np.isfinite(self.gaps)
        pair = first | (chosen & (gaps <= self.gaps) & (objectives <= self.objectives + same) & (bounds >= best - same))
        lower = pair | (chosen & (objectives < self.objectives))
        higher = pair | (chosen & (bounds > best))
        self.value[lower], self.objectives[lower] = value[lower], objectives[lower]
        apart = np.maximum(self.objectives - np.where(higher, bounds, best), 0.0)
        self.gaps = np.where(pair, gaps, np.where(lower | higher, apart, self.gaps))
        return np.asarray(higher)
