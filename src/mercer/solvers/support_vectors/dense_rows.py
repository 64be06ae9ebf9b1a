"""Sums over rows of dense features, for Newton's methods; the bits do not depend on the threads."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import qr

from mercer._typing import Array
from mercer.parallel import for_each_block, one_blas_thread, row_blocks

_BLOCK_ROWS = 4096
# A sum of matrices over rows is split into this number of parts, whatever the number of threads.
_PARTS = 2


@dataclass(frozen=True)
class Design:
    """Rows z; each has a last feature of value ``constant``, which Z does not hold.

    Attributes
    ----------
    Z : ndarray of shape (n, D)
    constant : float
    """

    Z: Array
    constant: float = 0.0

    def within_span(self) -> tuple["Design", Callable[[Array], Array]]:
        """Return the rows in coordinates of their span if n < D, and the map of weights back to all D features."""
        n, width = self.Z.shape
        if n >= width:
            return self, lambda weights: weights
        with one_blas_thread():
            Q, R = qr(self.Z.T.astype(np.float64), mode="economic", overwrite_a=True, check_finite=False)
        return Design(np.ascontiguousarray(R.T), self.constant), lambda weights: np.append(
            Q @ weights[:-1], weights[-1]
        )

    def weights(self, beta: Array) -> Array:
        """Return the sum of beta_i z_i in float64; the constant feature is last."""
        blocks = row_blocks(len(self.Z), _BLOCK_ROWS)
        sums = np.empty((len(blocks), self.Z.shape[1] + 1))

        def work(number: int) -> None:
            rows = blocks[number]
            sums[number, :-1] = beta[rows] @ self.Z[rows]
            sums[number, -1] = self.constant * beta[rows].sum()

        for_each_block(work, range(len(blocks)))
        total: Array = sums.sum(axis=0)
        return total

    def scores(self, weights: Array) -> Array:
        """Return <z_i, w> in float64."""
        scores = np.empty(len(self.Z))

        def work(rows: slice) -> None:
            scores[rows] = self.Z[rows] @ weights[:-1]

        for_each_block(work, row_blocks(len(self.Z), _BLOCK_ROWS))
        scores += self.constant * weights[-1]
        return scores

    def norms(self) -> Array:
        """Return the norms of the rows in float64."""
        squares = np.einsum("ij,ij->i", self.Z, self.Z, dtype=np.float64)
        return np.asarray(np.sqrt(squares + self.constant**2))

    def shifted_gram(self, roots: Array, dtype: DTypeLike = np.float64) -> Array:
        """Return I + the sum of roots_i^2 z_i z_i^T: products of blocks in ``dtype``, their sum in float64.

        Rows whose root is 0 are not read.
        """
        size = self.Z.shape[1] + 1
        parts = [np.zeros((size, size)) for _ in range(_PARTS)]
        kept = np.flatnonzero(roots)
        blocks = [kept[rows] for rows in row_blocks(len(kept), _BLOCK_ROWS)]

        def work(number: int) -> None:
            for rows in blocks[number::_PARTS]:
                scaled = np.empty((len(rows), size), dtype=dtype)
                np.multiply(self.Z[rows], roots[rows, None], out=scaled[:, :-1], casting="same_kind")
                scaled[:, -1] = self.constant * roots[rows]
                parts[number] += scaled.T @ scaled

        for_each_block(work, range(_PARTS))
        for part in parts[1:]:
            parts[0] += part
        parts[0][np.diag_indices(size)] += 1
        return parts[0]

    def shifted_triangle(self, roots: Array) -> Array:
        """Return the upper triangular R with R^T R = I + the sum of roots_i^2 z_i z_i^T.

        R has the condition number of the rows, ``shifted_gram`` has its square. R takes about four times as long.
        """
        size = self.Z.shape[1] + 1
        triangle = np.eye(size)
        kept = np.flatnonzero(roots)
        for rows in row_blocks(len(kept), _BLOCK_ROWS):
            part = kept[rows]
            scaled = np.column_stack([self.Z[part], np.full(len(part), self.constant)]) * roots[part, None]
            with one_blas_thread():
                (full,) = qr(np.vstack([triangle, scaled]), mode="r", overwrite_a=True)
            triangle = full[:size]
        return triangle
