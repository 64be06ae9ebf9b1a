"""Heads of rows and centres: their products with a few directions, and the lengths of what the directions leave."""

import numpy as np

from mercer._typing import Array, Rows
from mercer.parallel import for_each_block, row_blocks

_EPS = float(np.finfo(np.float32).eps)
# Steps and oversampling of the subspace iteration.
_STEPS = 3
_MORE_DIRECTIONS = 8
_PIECE_ROWS = 256

_Parts = tuple[Array, Array, Array]


class Heads:
    r"""Vectors cut in two: a head :math:`Q^T z`, for orthonormal directions Q, and a rest :math:`z - Q Q^T z`.

    The product of two vectors is the product of their heads plus the product of their rests, and the latter is at most
    the product of the lengths of the rests. Everything is float32, with lengths rounded up. The bound holds for any
    directions; directions near the leading singular vectors of the rows leave the shortest rests.

    Parameters
    ----------
    n_rows : int
    directions : ndarray of shape (D, h)
        Orthonormal, in the precision of the rows.

    >>> import numpy as np
    >>> heads = Heads(1, np.eye(2)[:, :1])
    >>> heads.keep(slice(0, 1), np.array([[3.0]]), np.array([25.0]))
    >>> [part.round(3).tolist() for part in heads.of_rows(slice(0, 1))]
    [[[3.0]], [4.0]]
    """

    def __init__(self, n_rows: int, directions: Array):
        self._directions = directions
        self._wide = directions.astype(np.float64)
        self._heads = np.empty((n_rows, directions.shape[1]), dtype=np.float32)
        self._rests = np.full(n_rows, -1, dtype=np.float32)

    @property
    def kept(self) -> list[Array]:
        """The arrays that hold what is known of each row, for a checkpoint."""
        return [self._heads, self._rests]

    def restore(self, kept: list[Array]) -> None:
        """Take over what ``kept`` returned in another process."""
        for mine, theirs in zip(self.kept, kept, strict=True):
            if mine is not theirs:
                mine[...] = theirs

    @staticmethod
    def row_bytes(n_directions: int) -> int:
        """Return the number of bytes per row."""
        return 4 * n_directions + 4

    @staticmethod
    def of_no_centres(n_centres: int) -> _Parts:
        """Return the result of ``of_centres`` for heads without directions."""
        empty = np.zeros((n_centres, 0), dtype=np.float32)
        return empty, np.zeros((3, n_centres), dtype=np.float32), empty[:0]

    @staticmethod
    def of_no_rows(n_rows: int) -> tuple[Array, Array]:
        """Return the result of ``of_rows`` for heads without directions."""
        return np.zeros((n_rows, 0), dtype=np.float32), np.zeros(n_rows, dtype=np.float32)

    def directions_of(self, block: slice) -> Array | None:
        """Return the directions, or None if the products of this block of rows with the directions are kept already."""
        return None if self._rests[block.stop - 1] >= 0 else self._directions

    def keep(self, block: slice, products: Array, norms: Array) -> None:
        """Keep the products of a block of rows with the directions; ``norms`` are the squared lengths of the rows."""
        heads = self._heads[block]
        heads[:] = products
        inside = np.einsum("nh,nh->n", heads, heads)
        rounding = 4 * _EPS * float(np.sqrt(len(self._directions)))
        self._rests[block] = np.sqrt(np.maximum(norms - inside, 0) + rounding * norms)

    def of_rows(self, block: slice) -> tuple[Array, Array]:
        """Return the heads of a block of rows and the lengths of their rests."""
        return self._heads[block], self._rests[block]

    def of_centres(self, centres: Array) -> _Parts:
        """Return the heads of k centres, their sizes (3, k) and the distances (k, k) of their rests from each other.

        Sizes are squared lengths, lengths of the rests, and distances of the rests from their mean.
        """
        heads = centres @ self._wide
        rests = centres - heads @ self._wide.T
        squares = np.einsum("kd,kd->k", rests, rests)
        apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * (rests @ rests.T), 0))
        spreads = np.linalg.norm(rests - rests.mean(axis=0), axis=1)
        sizes = np.vstack([np.einsum("kd,kd->k", centres, centres), np.sqrt(squares), spreads]).astype(np.float32)
        sizes[1:] *= 1 + 4 * _EPS
        return heads.astype(np.float32), sizes, apart.astype(np.float32) * np.float32(1 + 4 * _EPS)


def leading_directions(Z: Rows, n_directions: int) -> Array:
    """Return orthonormal directions (as columns) that hold most of the squared lengths of rows, dense or CSR.

    They are near the leading singular vectors: a few steps of subspace iteration that starts from some of the rows.
    Time 4 n D n_directions per step.

    >>> import numpy as np
    >>> abs(leading_directions(np.diag([5.0, 1.0, 0.5]), 1)).round(2).tolist()
    [[1.0], [0.0], [0.0]]
    """
    n_rows, width = Z.shape
    if width <= n_directions:
        return np.eye(width, dtype=Z.dtype)
    n_taken = n_directions + _MORE_DIRECTIONS
    start = Z[:: max(1, n_rows // n_taken)][:n_taken]
    basis = np.linalg.qr((start if isinstance(start, np.ndarray) else start.toarray()).T)[0]
    pieces = row_blocks(n_rows, _PIECE_ROWS)
    for _ in range(_STEPS):
        parts = [np.empty(0)] * len(pieces)

        def multiply(number: int, basis: Array = basis, parts: list[Array] = parts) -> None:
            piece = Z[pieces[number]]
            parts[number] = piece.T @ (piece @ basis)

        for_each_block(multiply, range(len(pieces)))
        basis = np.linalg.qr(sum(parts[1:], parts[0]))[0]
    return np.ascontiguousarray(basis[:, :n_directions])
