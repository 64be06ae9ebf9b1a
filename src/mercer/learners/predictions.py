"""Results for rows, block by block: predictions, scores, transforms."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, Rows
from mercer.data import Block, Blocks, as_blocks
from mercer.engines import rows_of
from mercer.fitting.map_plan import rows_per_block
from mercer.learners.training_rows import check_width
from mercer.validation import check_finite_result, check_rows, rows_from

# A thread takes rows of a prediction whose features have so many bytes, or fewer: so many rows at least, and at most
# one of so many shares of all rows.
_SCORED_BYTES, _SCORED_ROWS, _SHARES = 2**25, 256, 8


def results(
    estimator: Any,
    X: Any,
    work: Callable[[Rows], Array],
    what: str,
    block_rows: Callable[[Blocks], int] | int | None = None,
) -> Array:
    """Return ``work(rows)`` of each block of X, an array or ``Blocks``, as one array; warn of rows far away.

    ``what`` names a result in the error of one that overflows.
    """
    check_is_fitted(estimator)
    name = type(estimator).__name__
    blocks = X if isinstance(X, Blocks) else as_blocks(check_rows(estimator, X, reset=False), owner=name)
    check_width(estimator, blocks)
    far = estimator._far_rows()

    def of_block(block: Block) -> Array:
        with rows_from(block.first_row):
            far.see(block.X)
            return work(block.X)

    with estimator._threads():
        size = block_rows(blocks) if callable(block_rows) else block_rows
        found = rows_of(estimator._engine, of_block, blocks.recut(size, name))
    check_finite_result(name, what, found)
    far.warn(name, getattr(estimator, "feature_names_in_", None))
    return found


def linear_scores(estimator: Any, X: Any) -> Array:
    """Return the features of X times the coefficients, plus the intercept: (n,) for one target, else (n, k)."""
    check_is_fitted(estimator)
    coef, feature_map = np.atleast_2d(estimator.coef_).T, estimator.feature_map_

    def work(rows: Rows) -> Array:
        scores: Array = feature_map.times(rows, coef.astype(rows.dtype, copy=False))
        scores += np.asarray(estimator.intercept_, dtype=rows.dtype)
        return scores

    def size(blocks: Blocks) -> int:
        return _rows_to_score(blocks, feature_map.n_features_out_)

    scores = results(estimator, X, work, "score", size)
    return scores.ravel() if estimator.coef_.ndim == 1 else scores


def scored_with(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
    """Return y and the weights that predictions for X are scored with: those given, or those of ``Blocks``."""
    name = type(estimator).__name__
    if isinstance(X, Blocks):
        y, sample_weight = as_blocks(X, y, sample_weight=sample_weight, owner=name).labels()
    if y is None:
        raise ValueError(f"{name}: score needs y: score(X, y), or score(as_blocks(X, y)).")
    return y, sample_weight


def _rows_to_score(blocks: Blocks, n_features: int) -> int:
    """Return the rows per block of a prediction, whatever the number of threads."""
    itemsize = blocks.dtype.itemsize
    rows = _SCORED_BYTES // (n_features * itemsize)
    if blocks.n_rows is not None:
        rows = min(rows, -(-blocks.n_rows // _SHARES))
    return min(max(rows, _SCORED_ROWS), rows_per_block(n_features, blocks.width, itemsize))
