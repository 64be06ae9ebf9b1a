"""The primitives of boosted symmetric trees in force: compiled where the core was built, plain NumPy otherwise."""

import numpy as np

from mercer import core, reference
from mercer._typing import Array
from mercer.reference.types import BinnedRows, BoostedRows, BoostedTree

__all__ = ["BinnedRows", "BoostedRows", "BoostedTree", "add_tree_scores", "boost_symmetric_tree"]

if core.COMPILED:
    import mercer._core as _core  # noqa: PLR0402 - as in mercer.core


def boost_symmetric_tree(
    seen: BinnedRows, boosted: BoostedRows, penalty: float, rate: float, depth: int
) -> BoostedTree:
    """Return the next tree of a sum, and change the scores of all rows by it.

    Each level takes the split of all nodes, by one column at one bin, that takes most off the loss. The value of a cell
    is ``rate`` times the sum of the slopes of its rows over the sum of their curvatures plus ``penalty``: a damped
    Newton step. A level without a gain ends the tree.
    """
    k = boosted.targets.shape[1]
    splits = np.empty(depth, dtype=np.int32), np.empty(depth, dtype=np.int32)
    out = BoostedTree(*splits, np.empty((2**depth, k)), np.empty(k))
    if core.COMPILED:
        found = _core.boost_symmetric_tree(*seen, *boosted[:5], boosted.logistic, penalty, rate, *out)
    else:
        found = reference.boost_symmetric_tree(seen, boosted, penalty, rate, out)
    return BoostedTree(out.columns[:found], out.bins[:found], out.values[: 2**found], out.errors)


def add_tree_scores(codes: Array, columns: Array, bins: Array, values: Array, scores: Array) -> None:
    """Add to ``scores`` (n, k) what trees (t, depth) say of all rows, whose bins are ``codes`` (d, n), uint8.

    A level asks whether the bin of a row in one of ``columns`` exceeds that of ``bins``, uint8; none exceeds 255.
    ``values`` (t, 2^depth, k) are those of the cells.
    """
    flat = values.reshape(-1, values.shape[2])
    (_core if core.COMPILED else reference).add_tree_scores(codes, columns, bins, flat, scores)
