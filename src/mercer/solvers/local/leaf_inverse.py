"""Products with the inverse of the matrix of a leaf, and its diagonal."""

import numpy as np

from mercer import core, triangular
from mercer._typing import Array

# Rows whose squares are added in the precision of the rows.
_SUMMED_ROWS = 128


def inverted(S: Array, B: Array) -> tuple[Array, Array] | None:
    """Overwrite S (n, n), of which the lower triangle is read, by the inverse of its Cholesky factor, and B by B S^-1.

    Return B S^-1 B' (its lower triangle) and the diagonal of S^-1, in float64; None if S has no finite factor. Both
    matrices are in Fortran order.

    >>> import numpy as np
    >>> S, B = np.asfortranarray([[4.0, 0.0], [2.0, 2.0]]), np.asfortranarray([[2.0, 0.0]])
    >>> squares, diagonal = inverted(S, B)
    >>> B.tolist(), squares.tolist(), diagonal.tolist()
    ([[1.0, -1.0]], [[2.0]], [0.5, 1.0])
    """
    squares, diagonal = np.zeros((len(B), len(B)), dtype=S.dtype, order="F"), np.empty(len(S))
    if core.COMPILED:
        routines = triangular.addresses(("potrf", "trtri", "trmm", "syrk"), S.dtype)
        sound = core.invert_leaf(routines, S, B, squares, diagonal)
        return (squares, diagonal) if sound and np.isfinite(diagonal[-1]) else None
    if not triangular.factor(S) or not np.isfinite(S[-1, -1]):
        return None
    # Products cost less with the inverse than solutions with the factor, and the diagonal needs the inverse anyway.
    triangular.inverse(S, overwrite=True)
    triangular.product(S, B, transposed=True, right=True, overwrite=True)  # B L^-T
    triangular.add_square(squares, B)
    triangular.product(S, B, right=True, overwrite=True)
    return squares, _triangle_squares(S)


def solved(S: Array, B: Array) -> tuple[Array, None] | None:
    """Do what ``inverted`` does without the diagonal of S^-1: S is overwritten by its Cholesky factor."""
    if not triangular.factor(S) or not np.isfinite(S[-1, -1]):
        return None
    squares = np.zeros((len(B), len(B)), dtype=S.dtype, order="F")
    triangular.solve(S, B, transposed=True, right=True, overwrite=True)
    triangular.add_square(squares, B)
    triangular.solve(S, B, right=True, overwrite=True)
    return squares, None


def column_squares(A: Array) -> Array:
    """Return the sums of squares of the columns of a matrix, in float64.

    Squares of some rows are added in the precision of A, which is several times faster. The lanes of a register then
    add 32 squares at most, so that these sums have an error below 1e-6.
    """
    sums = np.zeros(A.shape[1])
    for start in range(0, len(A), _SUMMED_ROWS):
        block = A[start : start + _SUMMED_ROWS]
        sums += np.einsum("ij,ij->j", block, block)
    return sums


def _triangle_squares(lower: Array) -> Array:
    """Return the sums of squares of the columns of a lower triangle; zeros are written next above its diagonal."""
    above = np.tri(_SUMMED_ROWS, k=-1, dtype=bool).T
    sums = np.zeros(len(lower))
    for start in range(0, len(lower), _SUMMED_ROWS):
        block = lower[start : start + _SUMMED_ROWS, : start + _SUMMED_ROWS]
        n = len(block)
        np.copyto(block[:, start:], 0, where=above[:n, :n])
        sums[: start + n] += np.einsum("ij,ij->j", block, block)
    return sums
