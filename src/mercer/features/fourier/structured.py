"""Projections by products of Hadamard and diagonal matrices: O(D log d) time per row instead of O(D d)."""

from dataclasses import dataclass

import numpy as np

from mercer import core
from mercer._typing import Array, Rows, override
from mercer.config import get_config
from mercer.features.base import Writer
from mercer.features.fourier.phases import Projections
from mercer.state import Sizes, require
from mercer.validation import check_memory

# Bytes per column of a group of rows in a buffer.
_TRANSFORM_BYTES = 32


@dataclass(frozen=True)
class HadamardProjections(Projections):
    """Fast transforms: signs or other diagonals between Hadamard matrices, and a permutation (empty for none)."""

    diagonals: Array
    permutation: Array
    turns_per_unit: Array

    @override
    def writer(self, X: Rows, offsets: Array, scale: float) -> Writer:
        diagonals, turns = self.diagonals.astype(X.dtype), self.turns_per_unit.astype(X.dtype)

        def write(rows: slice, out: Array) -> bool:
            return core.hadamard_features(X, rows, diagonals, self.permutation, turns, offsets, scale, out)

        return write

    @override
    def scratch_bytes(self, X: Rows) -> float:
        return 0.0 if isinstance(X, np.ndarray) else float(X.shape[1] * X.dtype.itemsize)  # a row made dense


def check_blocks(sizes: Sizes) -> None:
    """Refuse blocks of p projections, b of them, that do not take d columns or have no m frequencies."""
    require(sizes["p"] == padded_size(sizes["d"]), "the blocks must have a power of two columns, as X has or more")
    require(sizes["m"] <= sizes["b"] * sizes["p"], "the blocks must have as many rows as there are frequencies")


def padded_size(n_features: int) -> int:
    """Return the length of the Hadamard transforms: a power of two, at least 8."""
    return max(8, 1 << (n_features - 1).bit_length())


def check_structured(owner: str, n_components: int, n_bytes: int, size: int, n_buffers: int) -> None:
    """Refuse tables, and on each thread transforms of ``size`` columns of a group of rows, beyond memory."""
    in_work = _TRANSFORM_BYTES * n_buffers * size * get_config().threads
    check_memory(
        owner, "n_components", n_components, n_bytes + in_work, f"transforms of {size} columns and their signs"
    )
