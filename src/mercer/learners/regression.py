"""What regressors share: numbers from scores."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin

from mercer._typing import Array, RowsLike
from mercer.data import Blocks
from mercer.fitting import Numbers
from mercer.learners.base import KernelLearner, Learner
from mercer.learners.predictions import scored_with


class OneTarget(RegressorMixin, Learner):
    """A learner of one number for each row."""

    def predict(self, X: RowsLike | Blocks) -> Array:
        """Return the predictions for the rows of X, an array or ``Blocks``."""
        return self._scores(X)

    def score(self, X: RowsLike | Blocks, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2 on the rows of X, an array with y, or ``Blocks``, which bring their own y and weights."""
        return float(super().score(X, *scored_with(type(self).__name__, X, y, sample_weight)))

    def _scores(self, X: RowsLike | Blocks) -> Array:
        raise NotImplementedError


class ManyTargets(MultiOutputMixin, OneTarget, KernelLearner):
    """A learner of one or several numbers for each row; predictions have the shape of y."""

    def _targets(self, rng: np.random.RandomState) -> Numbers:
        return Numbers(type(self).__name__)
