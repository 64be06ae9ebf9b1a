"""The protocol of mergeable statistics, and products with float64 sums."""

from collections.abc import Iterator
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer._typing import Array, Rows
from mercer.stats.slabs import SlabRows

# Rows per float32 product. The rounding error of one product is about sqrt(4096) * 6e-8; more rows do not increase it.
_PRODUCT_ROWS = 4096
# Rows per product of float32 with float64: few enough that the float64 copy of the float32 rows stays in cache.
_MIXED_ROWS = 64


class Statistic(Protocol):
    """A sum over rows that merges. Up to rounding, three laws hold.

    ``merge`` is associative; ``zero`` is its identity; the result does not depend on the division of rows into updates.
    ``update`` and ``merge`` change the statistic in place and return it.
    """

    def zero(self) -> Self:
        """Return the empty statistic of the same shape."""

    def update(self, *rows: Any) -> Self:
        """Add rows."""

    def merge(self, other: Self) -> Self:
        """Add another statistic of the same shape."""


def _chunks(n_rows: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def add_product(total: Array, A: Rows, B: Rows) -> None:
    """Add A^T B to a float64 total; A and B share their rows, and may be the same array or CSR matrix.

    A may be ``SlabRows``.
    """
    if isinstance(A, SlabRows):
        A.add_transposed_product(lambda part, Z: add_product(part, Z, B), total)
        return
    if A.dtype != B.dtype and not sparse.issparse(A):
        _add_mixed_product(total, A, B)
        return
    for rows in _chunks(A.shape[0], _PRODUCT_ROWS):
        left = A[rows]
        product = left.T @ (left if A is B else B[rows])  # the same array on both sides costs half
        total += product if isinstance(product, np.ndarray) else product.toarray()


def _add_mixed_product(total: Array, A: Array, B: Array) -> None:
    # On purpose not A.T @ B: NumPy would first copy A^T to float64, across its rows, which is four times slower.
    across = np.ascontiguousarray(B.T, dtype=np.float64)
    # One array for all copies: workers of a cluster give freed memory back, and the system would clear it each time.
    wide = np.empty((min(_MIXED_ROWS, len(A)), A.shape[1]))
    for rows in _chunks(len(A), _MIXED_ROWS):
        part = wide[: rows.stop - rows.start]
        np.copyto(part, A[rows])
        total += (across[:, rows] @ part).T


def weighted(Z: Rows, weight: Array | None, power: float = 1.0) -> Rows:
    """Return the rows of Z times their weights to a power, in Z's own precision."""
    if weight is None:
        return Z
    factor = (weight**power).astype(Z.dtype)[:, None]
    return Z * factor if isinstance(Z, np.ndarray) else sparse.csr_array(Z.multiply(factor))


def as_columns(Y: ArrayLike) -> Array:
    """Return targets as a float64 matrix."""
    columns: Array = np.asarray(Y, dtype=np.float64)
    return columns[:, None] if columns.ndim == 1 else columns
