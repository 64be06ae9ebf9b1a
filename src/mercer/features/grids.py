"""Grids of random pitch for kernel expressions: what ``RandomBinning`` draws."""

from typing import NamedTuple

import numpy as np

from mercer._typing import Array
from mercer.kernels import Columns, Kernel, Product, RadialKernel, ScaledColumns, StationaryKernel
from mercer.kernels.frequencies import leaves


class Grids(NamedTuple):
    """Grids of random pitch: cell numbers are floor((x[columns] - shift) / pitch); one row per grid."""

    columns: Array
    pitches: Array


def require_grids(owner: str, kernel: Kernel) -> None:
    """Refuse an expression of which a part has no distribution of grid pitches, with the reason."""
    for leaf in leaves(kernel):
        reason = leaf.why_no_grids if isinstance(leaf, StationaryKernel) else "it is not shift-invariant"
        if reason is not None:
            raise ValueError(
                f"{owner}: {leaf!r} has no distribution of grid pitches: {reason}. Use FourierFeatures, or Laplacian."
            )


def draw_grids(owner: str, kernel: Kernel, rng: np.random.RandomState, n_grids: int, n_features: int) -> Grids:
    """Draw grids on which two points share a cell with probability k(x, y).

    Every factor of a product has its own grids, and two points must share a cell in all of them: the columns of
    these grids are set side by side.
    """
    if isinstance(kernel, Product):
        parts = [draw_grids(owner, term, rng, n_grids, n_features) for term in kernel.terms]
        return Grids(np.concatenate([part.columns for part in parts]), np.hstack([part.pitches for part in parts]))
    if isinstance(kernel, Columns):
        inner = draw_grids(owner, kernel.kernel, rng, n_grids, kernel.width(n_features))
        return Grids(np.array(kernel.columns)[inner.columns], inner.pitches)
    if isinstance(kernel, ScaledColumns):
        inner = draw_grids(owner, kernel.kernel, rng, n_grids, kernel.width(n_features))
        weights = np.abs(np.array(kernel.weights))[inner.columns]
        used = weights > 0
        return Grids(inner.columns[used], inner.pitches[:, used] / weights[used])
    if not isinstance(kernel, StationaryKernel):
        raise ValueError(f"{owner}: {kernel!r} is not shift-invariant, so it has no distribution of grid pitches.")
    if n_features != 1 and isinstance(kernel, RadialKernel):
        raise ValueError(
            f"{owner}: {kernel!r} is a function of the Euclidean distance, no product over the {n_features} columns. "
            "Multiply one-dimensional ones, Columns(kernel, [0]) * Columns(kernel, [1]) * ..., or use Laplacian."
        )
    return Grids(np.arange(n_features), kernel.pitches(rng, n_grids, n_features))
