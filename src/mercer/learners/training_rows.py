"""From what ``fit`` is given to blocks of rows: arrays are checked here once, streams block by block in a pass."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mercer._typing import Array, RowsLike
from mercer.data import Blocks, as_blocks
from mercer.data.sources.collections import is_collection
from mercer.features import FeatureMap
from mercer.fitting import Targets
from mercer.kernels import Kernel
from mercer.structures import check_objects
from mercer.structures.domains import Domain
from mercer.validation import check_weights

T = TypeVar("T", bound=Targets)


class HasColumns(Protocol):
    """An estimator that knows the columns it was fitted on."""

    n_features_in_: int
    feature_names_in_: Array


def training_rows(
    estimator: HasColumns,
    X: RowsLike | Blocks,
    y: RowsLike | None,
    sample_weight: ArrayLike | None,
    targets: T,
    *,
    reset: bool = True,
    collections: bool = False,
) -> tuple[Blocks, T]:
    """Return blocks of rows with y and weights, and the targets, which know whether y has been checked.

    With ``reset`` the estimator keeps the number and the names of the columns; else both must be those of ``fit``. Dask
    collections are refused without ``collections``.
    """
    name = type(estimator).__name__
    y = y if targets.required else None
    if is_collection(X):
        if not collections:
            raise ValueError(
                f"{name}: X is a Dask collection, and {name} works on rows of this process. Give as_blocks(X, y), "
                "which computes one partition after the other here."
            )
        if y is None and targets.required:
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        X, y, sample_weight = as_blocks(X, y, sample_weight=sample_weight, owner=name), None, None
    if isinstance(X, Blocks):
        if y is not None or sample_weight is not None:
            raise ValueError(f"{name}: X is Blocks, which bring their own y and weights. Give them to as_blocks.")
        if targets.required and not X.is_labelled:
            raise ValueError(f"{name} requires y to be passed: make the blocks with as_blocks(X, y).")
        (_set_columns if reset else check_width)(estimator, X)
        return X, targets
    if y is None and targets.required:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    if isinstance(X, Iterator):
        as_blocks(X, owner=name)  # refuses an iterator, and says what to give
    rows = check_objects(estimator, domain_of(estimator), X, reset=reset)
    y = None if y is None else targets.check(y)
    weight = None if sample_weight is None else check_weights(name, sample_weight, rows.shape[0])
    return as_blocks(rows, y, sample_weight=weight, owner=name), replace(targets, checked=True)


def domain_of(estimator: object) -> Domain:
    """Return what a learner takes: rows, or the objects of its map or of its kernel."""
    for name in ("features", "kernel"):
        value = getattr(estimator, name, None)
        if isinstance(value, FeatureMap | Kernel):
            return value.domain
    return "rows"


def check_width(estimator: HasColumns, blocks: Blocks) -> None:
    """Refuse blocks of another number of columns than ``fit`` has seen."""
    if blocks.width != estimator.n_features_in_:
        raise ValueError(
            f"X has {blocks.width} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features."
        )


def _set_columns(estimator: HasColumns, blocks: Blocks) -> None:
    """Keep the number and the names of the columns, as scikit-learn does for arrays."""
    estimator.n_features_in_ = blocks.width
    if blocks.names is not None:
        estimator.feature_names_in_ = np.asarray(blocks.names, dtype=object)
