"""The primitives of symmetric trees in force: compiled where the core was built, plain NumPy otherwise."""

from types import ModuleType

import numpy as np

from mercer import core, reference
from mercer._typing import Array

if core.COMPILED:
    import mercer._core as _core  # noqa: PLR0402 - as in mercer.core

_primitives: ModuleType = _core if core.COMPILED else reference


def grow_symmetric_tree(
    codes: Array,
    rows: Array,
    slopes: Array,
    weights: Array,
    columns: Array,
    n_bins: Array,
    penalty: float,
    depth: int,
) -> tuple[Array, Array]:
    """Return the column and the bin of each level of a symmetric tree: rows of a larger bin go to the right.

    ``codes`` (d, n) uint8 holds the bins of all rows; the tree sees ``rows`` (m,) int32. All rows have ``slopes`` (n,
    k), one per target, and ``weights`` (n,). The tree may split ``columns`` (int32), which have ``n_bins`` (int32).
    """
    out_columns, out_bins = np.empty(depth, dtype=np.int32), np.empty(depth, dtype=np.int32)
    found = _primitives.grow_symmetric_tree(
        codes, rows, slopes, weights, columns, n_bins, penalty, out_columns, out_bins
    )
    return out_columns[:found], out_bins[:found]


def step_by_symmetric_tree(
    codes: Array,
    columns: Array,
    bins: Array,
    slopes: Array,
    curvatures: Array,
    penalty: float,
    rate: float,
    scores: Array,
) -> Array:
    """Return the values (2^depth, k) of the cells of a tree, and add to the ``scores`` (n, k) those of their cells.

    The value of a cell is ``rate`` times the sum of the ``slopes`` (n, k) of its rows over the sum of their
    ``curvatures`` (n, k), or (n, 1) for all targets, plus the penalty: a damped Newton step.
    """
    values = np.empty((2 ** len(columns), slopes.shape[1]))
    _primitives.step_by_symmetric_tree(codes, columns, bins, slopes, curvatures, penalty, rate, values, scores)
    return values
