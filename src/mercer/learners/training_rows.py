"""From what ``fit`` is given to blocks of rows: arrays are checked here once, streams block by block in a pass."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from mercer.data import Blocks, as_blocks
from mercer.fitting import Targets
from mercer.validation import check_rows, check_weights

T = TypeVar("T", bound=Targets)


def training_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, targets: T, *, reset: bool = True
) -> tuple[Blocks, T]:
    """Return blocks of rows with y and weights, and the targets, which know whether y has been checked.

    With ``reset`` the estimator takes the number and the names of the columns; else they must be what they were.
    """
    name = type(estimator).__name__
    y = y if targets.required else None
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
    X = check_rows(estimator, X, reset=reset)
    weight = None if sample_weight is None else check_weights(name, sample_weight, X.shape[0])
    return as_blocks(X, targets.check(y), sample_weight=weight, owner=name), replace(targets, checked=True)


def check_width(estimator: Any, blocks: Blocks) -> None:
    """Refuse blocks of another number of columns than ``fit`` has seen."""
    if blocks.width != estimator.n_features_in_:
        raise ValueError(
            f"X has {blocks.width} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features."
        )


def _set_columns(estimator: Any, blocks: Blocks) -> None:
    """Keep the number and the names of the columns, as scikit-learn does for arrays."""
    estimator.n_features_in_ = blocks.width
    if blocks.names is not None:
        estimator.feature_names_in_ = np.asarray(blocks.names, dtype=object)
