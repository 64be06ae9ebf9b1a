"""Sets of classes that hold the class of a new row with a given probability."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.state import Reals, Sizes, Stored, part, require
from mercer.validation import check_real


@part("PredictionSets")
@dataclass(frozen=True)
class PredictionSets:
    """The classes whose probability is at least a threshold, and always the most probable one.

    The threshold is a quantile of the probabilities that the training rows without themselves gave to their own class.

    Attributes
    ----------
    probabilities : ndarray of shape (n,)
        The leave-one-out probability of each row's own class, descending.
    shares : ndarray of shape (n,)
        The share of the weight of the rows up to each, of all rows and one more.

    References
    ----------
    M. Sadinle, J. Lei and L. Wasserman, "Least ambiguous set-valued classifiers with bounded error levels", JASA 114,
    2019.

    Examples
    --------
    >>> import numpy as np
    >>> found = PredictionSets.of(np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]]), np.array([0, 0, 0]), np.ones(3))
    >>> found.sets("example", np.array([[0.55, 0.45], [0.65, 0.35]]), 0.7).tolist()
    [[True, True], [True, True]]
    >>> found.sets("example", np.array([[0.55, 0.45], [0.65, 0.35]]), 0.4).tolist()
    [[True, False], [True, False]]
    """

    _stored = Stored(probabilities=Reals(("n",), 0.0), shares=Reals(("n",), 0.0))

    probabilities: Array
    shares: Array

    @classmethod
    def of(cls, probabilities: Array, codes: Array, weight: Array) -> "PredictionSets":
        """Learn from leave-one-out probabilities (n, n_classes), the number of each row's class, and weights."""
        own = probabilities[np.arange(len(codes)), codes]
        order = np.argsort(-own, kind="stable")
        return cls(own[order], np.cumsum(weight[order]) / (weight.sum() + 1))

    def sets(self, owner: str, probabilities: Array, coverage: float) -> Array:
        """Return whether each class is in the set of each row (n, n_classes)."""
        level = check_real(owner, "coverage", coverage, least=0, strict=True)
        if level >= 1:
            raise ValueError(f"{owner}: coverage must be a number between 0 and 1, got {coverage!r}.")
        place = int(np.searchsorted(self.shares, level))
        threshold = self.probabilities[place] if place < len(self.probabilities) else 0.0
        first = probabilities.argmax(axis=1)[:, None] == np.arange(probabilities.shape[1])
        return np.asarray((probabilities >= threshold) | first)

    def _check_stored(self, sizes: Sizes) -> None:
        require(sizes["n"] >= 1, "probabilities must hold a row")
        require(np.all(np.diff(self.probabilities) <= 0), "probabilities must descend")
        require(np.all(np.diff(self.shares) >= 0), "shares must ascend")
