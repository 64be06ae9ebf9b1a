"""What regressors share: numbers from scores."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin

from mercer._typing import Array, RowsLike
from mercer.data import Blocks, as_blocks
from mercer.data.sources.collections import is_collection
from mercer.fitting import Numbers
from mercer.learners.base import KernelLearner, Learner
from mercer.learners.chunks import Out, lazy_results, required, score_of, written
from mercer.stats import Determination


class OneTarget(RegressorMixin, Learner):
    """A learner of one number for each row."""

    def predict(self, X: RowsLike | Blocks, *, out: Out = None) -> Array:
        """Return the predictions for the rows of X, an array or ``Blocks``.

        With ``out``, an array or the path of a .npy file, the results are written there chunk by chunk, and the array
        or the mapped file is returned: for streams whose results do not fit in memory.
        """
        if is_collection(X):
            return lazy_results(self, "predict", X, out)
        return self._scores(X) if out is None else written(self, "predict", X, out)

    def score(self, X: RowsLike | Blocks, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return R^2 on the rows of X, an array with y, or ``Blocks``, which bring their own y and weights."""
        name = type(self).__name__
        if isinstance(X, Blocks) or is_collection(X):
            blocks = as_blocks(X, y, sample_weight=sample_weight, owner=name)
            return score_of(self, blocks, Determination()).value
        return float(super().score(X, required(name, y), sample_weight))

    def _scores(self, X: RowsLike | Blocks) -> Array:
        raise NotImplementedError


class ManyTargets(MultiOutputMixin, OneTarget, KernelLearner):
    """A learner of one or several numbers for each row; predictions have the shape of y."""

    def _targets(self, rng: np.random.RandomState) -> Numbers:
        return Numbers(type(self).__name__)
