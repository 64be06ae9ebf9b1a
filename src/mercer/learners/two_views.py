"""The covariances of the features of two views of the same rows, and scores along directions of features."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows
from mercer.fitting import FeatureRows
from mercer.stats import Moments


@dataclass(frozen=True)
class TwoViews:
    """The means and covariances of the features of two views.

    Attributes
    ----------
    x_mean : ndarray of shape (D_x,)
    y_mean : ndarray of shape (D_y,)
    xx, yy, xy : ndarray of shape (D_x, D_x), (D_y, D_y) and (D_x, D_y)
        The covariances, with the weights of the rows.
    """

    x_mean: Array
    y_mean: Array
    xx: Array
    yy: Array
    xy: Array

    @classmethod
    def of(cls, rows: FeatureRows) -> "TwoViews":
        """Return the moments of one pass over rows whose targets are the features of the second view."""
        n_x, some = rows.n_features, _first_targets(rows)
        empty = Moments.of(n_x + some.shape[1], 0, _origin(rows, some))

        def work(Z: Rows, Y: Rows, weight: Array | None) -> Moments:
            return empty.zero().update(_joined(Z, Y), np.empty((Z.shape[0], 0)), weight)

        with np.errstate(over="ignore", invalid="ignore"):  # callers refuse what is not finite
            moments = rows.reduce("moments", work, empty)
            gram = moments.centred()[0]
        gram /= moments.weight
        mean = moments.feature_mean
        return cls(mean[:n_x], mean[n_x:], gram[:n_x, :n_x], gram[n_x:, n_x:], gram[:n_x, n_x:])

    @property
    def is_finite(self) -> bool:
        """Whether no covariance has overflowed."""
        return all(np.isfinite(part).all() for part in (self.xx, self.yy, self.xy))


def scores_along(Z: Rows, mean: Array, directions: Array) -> Array:
    """Return the products of centred features with directions of shape (D, k), in the precision of the features."""
    columns = directions.astype(Z.dtype, copy=False)
    if sparse.issparse(Z):
        return np.asarray(Z @ columns - (mean @ directions).astype(Z.dtype))
    scores: Array = (Z - mean.astype(Z.dtype)) @ columns
    return scores


def _first_targets(rows: FeatureRows) -> Rows:
    """Return the encoded targets of the first block, made where the rows are."""
    if rows.passes.engine.shares_memory:
        return rows.targets.encode(next(rows.blocks.labelled()))
    first, encode = rows.blocks.first_row, rows.targets.encode
    # Only one block of features travels: the work on the others returns nothing.
    found = rows.passes.map(
        "first block", lambda block: encode(block) if block.first_row == first else None, rows.blocks
    )
    some = next(found)
    assert some is not None  # noqa: S101 - the first block
    return some


def _origin(rows: FeatureRows, some: Rows) -> Array | None:
    """Return a point near the mean of both views' features; None for sparse features, which must stay sparse."""
    if rows.is_sparse or not isinstance(some, np.ndarray):
        return None
    return np.concatenate([rows.origin, some.mean(axis=0, dtype=np.float64)])


def _joined(A: Rows, B: Rows) -> Rows:
    B = B.astype(A.dtype, copy=False)
    if sparse.issparse(A) or sparse.issparse(B):
        return sparse.hstack([A, B], format="csr")
    return np.hstack([A, B])
