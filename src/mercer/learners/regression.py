"""What regressors share: y as numbers."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array, column_or_1d

from mercer._typing import Array
from mercer.data import Block
from mercer.learners.base import KernelLearner
from mercer.stats import TargetMeans
from mercer.validation import check_finite_y, refuse_dates


def _numbers(owner: KernelLearner, y: Any) -> Array:
    refuse_dates(type(owner).__name__, "y", y)
    values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=owner, ensure_all_finite=False)
    return check_finite_y(type(owner).__name__, values)


class OneTarget(RegressorMixin, KernelLearner):
    """A learner of numbers, one a row."""

    def predict(self, X: Any) -> Array:
        """Return the predictions for the rows of X, an array or ``Blocks``."""
        return self._scores(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2 on the rows of X, an array with y, or ``Blocks``, which bring their own y and weights."""
        return float(super().score(X, *self._scored_with(X, y, sample_weight)))

    def _check_y(self, y: Any) -> Array:
        column: Array = column_or_1d(_numbers(self, y), warn=True)
        return column

    def _targets(self, block: Block) -> Array:
        return self._check_y(block.y)[:, None]


class ManyTargets(MultiOutputMixin, OneTarget):
    """A learner of numbers, one or several a row; predictions have the shape of y."""

    _of_fit: ClassVar[tuple[str, ...]] = ("_keeps_columns", "_n_targets")
    _keeps_columns: bool
    _n_targets: int

    def _check_y(self, y: Any) -> Array:
        return _numbers(self, y)

    def _sought(self, rng: np.random.RandomState) -> TargetMeans:
        return TargetMeans()

    def _look(self, found: TargetMeans, block: Block, weight: Array) -> None:
        found.update(self._check_y(block.y), weight)

    def _after_survey(self, found: Any, rng: np.random.RandomState) -> None:
        self._keeps_columns, self._n_targets = found.n_dims == 2, len(found.mean)

    def _targets(self, block: Block) -> Array:
        values = self._check_y(block.y)
        return values if values.ndim == 2 else values[:, None]
