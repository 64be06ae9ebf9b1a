"""Results for rows, block by block: predictions, scores, transforms."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, Rows, RowsLike
from mercer.config import changed_config
from mercer.data import Block, Blocks, as_blocks
from mercer.data.sources.collections import is_collection
from mercer.engines import Engine, Local, rows_of
from mercer.features import FeatureMap
from mercer.fitting.map_plan import rows_per_block
from mercer.learners.far_rows import FarRows, KnowsFarRows
from mercer.learners.shrinkage import Shrinker
from mercer.learners.training_rows import check_width, domain_of
from mercer.structures import check_objects
from mercer.validation import check_finite_result, check_jobs, rows_from

# Rows per block of a prediction: at most 32 MiB of features, at least 256 rows, and at most an eighth of all rows.
_SCORED_BYTES, _SCORED_ROWS, _SHARES = 2**25, 256, 8


class Predictor(KnowsFarRows):
    """An estimator that works on rows block by block, on the threads that it was given."""

    _engine: ClassVar[Engine] = Local()  # of predictions
    n_jobs: int | None
    n_features_in_: int
    feature_names_in_: Array

    @contextmanager
    def _threads(self) -> Iterator[None]:
        with changed_config(threads=check_jobs(type(self).__name__, self.n_jobs)):
            yield

    def _results(
        self,
        X: RowsLike | Blocks,
        work: Callable[[Rows], Array],
        what: str,
        block_rows: Callable[[Blocks], int] | int | None = None,
        finish: Callable[[Rows, Array, FarRows, tuple[Array, Array]], Array] | None = None,
    ) -> Array:
        """Return ``work(rows)`` of each block of X, an array or ``Blocks``, as one array; warn of far rows.

        ``what`` names a result in the error about one that overflows. ``finish`` changes the results of a block, given
        the rows and columns of the entries that are far.
        """
        check_is_fitted(self)
        name = type(self).__name__
        if is_collection(X):
            raise ValueError(
                f"{name}: this method takes no Dask collection. Call it on each partition, with map_partitions or "
                "map_blocks."
            )
        blocks = (
            X if isinstance(X, Blocks) else as_blocks(check_objects(self, domain_of(self), X, reset=False), owner=name)
        )
        check_width(self, blocks)
        far = self._far_rows()

        def of_block(block: Block) -> Array:
            with rows_from(block.first_row):
                places = far.see(block.X)
                found = work(block.X)
                return found if finish is None else finish(block.X, found, far, places)

        with self._threads():
            size = block_rows(blocks) if callable(block_rows) else block_rows
            found = rows_of(self._engine, of_block, blocks.recut(size, name))
        check_finite_result(name, what, found)
        far.warn(name, getattr(self, "feature_names_in_", None))
        return found


class LinearScores(Predictor):
    """Scores that are linear in the features of a map."""

    feature_map_: FeatureMap
    coef_: Array
    intercept_: Array | float

    def _scores(self, X: RowsLike | Blocks) -> Array:
        """Return the features of X times the coefficients, plus the intercept: (n,) for one target, else (n, k)."""
        check_is_fitted(self)
        coef, feature_map = np.atleast_2d(self.coef_).T, self.feature_map_
        shrinker = self.shrinker()
        weights = coef if shrinker is None else shrinker.with_sketch(coef)

        def work(rows: Rows) -> Array:
            scores: Array = feature_map.times(rows, weights.astype(rows.dtype, copy=False))
            scores[:, : coef.shape[1]] += np.asarray(self.intercept_, dtype=rows.dtype)
            return scores

        def size(blocks: Blocks) -> int:
            return rows_to_score(blocks, feature_map.features_at_once)

        scores = self._results(X, work, "score", size, None if shrinker is None else shrinker.finish)
        return scores.ravel() if self.coef_.ndim == 1 else scores

    def shrinker(self) -> Shrinker | None:
        """Return what shrinks the scores of far rows."""
        return None


def scored_with(
    owner: str, X: RowsLike | Blocks, y: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[ArrayLike, ArrayLike | None]:
    """Return y and the weights that predictions for X are scored with: those given, or those of ``Blocks``."""
    if isinstance(X, Blocks):
        y, sample_weight = as_blocks(X, y, sample_weight=sample_weight, owner=owner).labels()
    if y is None:
        raise ValueError(f"{owner}: score needs y: score(X, y), or score(as_blocks(X, y)).")
    return y, sample_weight


def rows_to_score(blocks: Blocks, n_features: int) -> int:
    """Return the rows per block of a prediction, whatever the number of threads."""
    itemsize = blocks.dtype.itemsize
    rows = _SCORED_BYTES // (n_features * itemsize)
    if blocks.n_rows is not None:
        rows = min(rows, -(-blocks.n_rows // _SHARES))
    return min(max(rows, _SCORED_ROWS), rows_per_block(n_features, blocks.width, itemsize))
