"""What a mergeable statistic is, and products that keep float64 sums."""

from collections.abc import Iterator
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse

from mercer._typing import Array

# Rows of one float32 product: its rounding error, of the order of sqrt(4096) * 6e-8, does not grow beyond that with n.
_PRODUCT_ROWS = 4096
# Rows of a product of float32 with float64: the copy of the former in float64 then stays in cache.
_MIXED_ROWS = 64


class Statistic(Protocol):
    """The laws: merge is associative, ``zero`` is its identity, and how rows are cut into updates is irrelevant.

    All to rounding. ``update`` and ``merge`` change the statistic and return it.
    """

    def zero(self) -> Self:
        """Return the empty statistic of the same shape."""

    def update(self, *rows: Any) -> Self:
        """Add rows."""

    def merge(self, other: Self) -> Self:
        """Add another statistic of the same shape."""


def _chunks(n_rows: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def add_product(total: Array, A: Any, B: Any) -> None:
    """Add A^T B to a float64 total; A and B share their rows, and may be the same array or CSR matrix."""
    if A.dtype != B.dtype and not sparse.issparse(A):
        _add_mixed_product(total, A, B)
        return
    for rows in _chunks(A.shape[0], _PRODUCT_ROWS):
        left = A[rows]
        product = left.T @ (left if A is B else B[rows])  # the same array on both sides costs half
        total += product.toarray() if sparse.issparse(product) else product


def _add_mixed_product(total: Array, A: Array, B: Array) -> None:
    # NumPy would make the longer copy of A^T, across its rows: four times slower.
    across = np.ascontiguousarray(B.T, dtype=np.float64)
    for rows in _chunks(len(A), _MIXED_ROWS):
        total += (across[:, rows] @ A[rows].astype(np.float64, copy=False)).T


def weighted(Z: Any, weight: Array | None, power: float = 1.0) -> Any:
    """Return the rows of Z times their weights to a power, in Z's own precision."""
    if weight is None:
        return Z
    factor = (weight**power).astype(Z.dtype)[:, None]
    return sparse.csr_array(Z.multiply(factor)) if sparse.issparse(Z) else Z * factor


def as_columns(Y: Any) -> Array:
    """Return targets as a float64 matrix."""
    columns: Array = np.asarray(Y, dtype=np.float64)
    return columns[:, None] if columns.ndim == 1 else columns
