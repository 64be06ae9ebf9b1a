"""Scores of new rows by a mean of models: leaves, low order and boosted trees, of arrays, tables and streams."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, RowsLike
from mercer.data import Blocks, as_blocks
from mercer.data.frame_columns import Frame
from mercer.data.raw_table import RawTable
from mercer.data.sources.collections import is_collection
from mercer.learners.base import Learner
from mercer.learners.chunks import required, score_of
from mercer.learners.local.boosted_trees import BoostedTrees
from mercer.learners.local.low_order import LowOrderRidge
from mercer.learners.local.preparation import ColumnPreparation
from mercer.learners.local.ridge import LocalKernelRidge
from mercer.learners.local.training_table import dense_table
from mercer.learners.training_rows import check_width
from mercer.stats import Accuracy, Determination


class Prepared(NamedTuple):
    """Prepared rows, and the scores (n, k) of boosted trees that are no columns of these; None without such trees."""

    rows: Array
    boosted: Array | None


class BlendedScores(Learner):
    """The scores of rows: columns are prepared, and a mean of models is taken.

    The rows of ``Blocks`` are prepared and scored block by block: results alone are held for all rows.
    """

    preparation_: ColumnPreparation
    model_: LocalKernelRidge
    low_order_: LowOrderRidge | None
    low_order_share_: float
    boosted_: BoostedTrees | None
    boosted_share_: float

    def _each(self, X: RowsLike | Frame | Blocks, work: Callable[[Prepared], Array]) -> Array:
        """Return ``work`` of the prepared rows of X; of ``Blocks`` it is done block by block."""
        check_is_fitted(self)
        name = type(self).__name__
        if is_collection(X):
            raise ValueError(
                f"{name}: this method takes no Dask collection. Call it on each partition, with map_partitions or "
                "map_blocks."
            )
        if isinstance(X, Blocks):
            check_width(self, X)
            parts = X.recut(self.model_.most_rows_to_score, name, missing=True).labelled()
            return np.concatenate([work(self._prepared(dense_table(name, block))) for block in parts])
        return work(self._prepared(RawTable.of(name, self.preparation_.checked(X, reset=False))))

    def _prepared(self, table: RawTable) -> Prepared:
        preparation = self.preparation_
        numbers = preparation.encoding_.numbers(table, type(self).__name__)
        rows = preparation.scaling_.transform(numbers, preparation.dtype_)
        return Prepared(rows, None if self.boosted_ is None else self.boosted_.scores(numbers))

    def _scores_of(self, prepared: Prepared) -> Array:
        """Return the scores (n, k) of prepared rows, float64."""
        rows, boosted = prepared
        with self._threads():
            scores: Array = self.model_.predict(rows).astype(np.float64)
            if self.low_order_ is not None:
                scores += self.low_order_share_ * (self.low_order_.scores(rows) - scores)
        if boosted is not None:
            scores += self.boosted_share_ * (boosted - scores)
        return scores

    def _scored(
        self,
        total: Accuracy | Determination,
        of_arrays: Callable[..., float],
        X: RowsLike | Frame | Blocks,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> float:
        """Return a score: a reduction over ``Blocks`` and Dask collections, else that of scikit-learn."""
        name = type(self).__name__
        if isinstance(X, Blocks) or is_collection(X):
            blocks = as_blocks(X, y, sample_weight=sample_weight, owner=name).recut(None, name, missing=True)
            return score_of(self, blocks, total).value
        return float(of_arrays(X, required(name, y), sample_weight))
