"""Rows of features that are made a slab of columns at a time, because all columns at once exceed the memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mercer import core
from mercer._typing import Array

# Columns, and the features of all rows in these columns. The array is used again for the next slab.
Slab = tuple[slice, Array]


@dataclass(frozen=True)
class SlabRows:
    """The features of a block of rows, of which one slab of columns at a time is in memory.

    Solvers read features by products alone: ``Z @ W``, ``add_product(total, Z, R)`` for Z^T R, and ``gram`` for Z Z^T.
    Each product makes all slabs again.

    Attributes
    ----------
    shape : tuple of int
        Rows and features.
    dtype : dtype
        Of the features.
    slabs : function
        Returns an iterator over the slabs, from the first column to the last.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.stats.slabs import SlabRows
    >>> Z = np.arange(6.0).reshape(2, 3)
    >>> rows = SlabRows(Z.shape, Z.dtype, lambda: iter([(slice(0, 2), Z[:, :2]), (slice(2, 3), Z[:, 2:])]))
    >>> (rows @ np.ones((3, 1))).ravel().tolist()
    [3.0, 12.0]
    """

    shape: tuple[int, int]
    dtype: np.dtype[np.floating]
    slabs: Callable[[], Iterator[Slab]]

    def __matmul__(self, weights: Array) -> Array:
        """Return the features times weights (D, k); products of slabs in the given precision, their sum in float64."""
        total = np.zeros((self.shape[0], weights.shape[1]))
        for columns, Z in self.slabs():
            total += core.scores(Z, weights[columns])
        return total

    def add_transposed_product(self, add: Callable[[Array, Array], None], total: Array) -> None:
        """Call ``add(total[columns], Z)`` for each slab."""
        for columns, Z in self.slabs():
            add(total[columns], Z)

    def gram(self) -> Array:
        """Return Z Z^T in float64."""
        total = np.zeros((self.shape[0], self.shape[0]))
        for _, Z in self.slabs():
            total += Z @ Z.T
        return total
