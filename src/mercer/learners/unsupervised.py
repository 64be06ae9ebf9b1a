"""Base of the unsupervised learners."""

from collections.abc import Callable

from mercer._typing import Array, Rows, RowsLike
from mercer.data import Blocks
from mercer.learners.base import KernelLearner


class UnsupervisedLearner(KernelLearner):
    """A learner of the features alone; a y given to ``fit`` is not used."""

    _has_curve = False
    _overflow = (
        "products of the features overflow. Scale the rows down "
        "(sklearn.preprocessing.StandardScaler), or pass float64."
    )

    def _of_features(self, work: Callable[[Rows], Array], X: RowsLike | Blocks) -> Array:
        """Return ``work(Z)`` of the features of each block of X, an array or ``Blocks``, as one array."""

        def of_rows(rows: Rows) -> Array:
            return work(self.feature_map_.transform(rows))

        return self._results(X, of_rows, "result")
