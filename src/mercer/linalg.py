"""Squared lengths and squared distances of rows, dense or CSR."""

import numpy as np

from mercer._typing import Array, Rows


def squared_norms(Z: Rows) -> Array:
    """Return the squared length of each row, dense or CSR, in float64 sums of Z's own products."""
    if not isinstance(Z, np.ndarray):  # CSR
        return np.asarray(Z.multiply(Z).sum(axis=1, dtype=np.float64)).ravel()
    norms: Array = np.einsum("ij,ij->i", Z, Z).astype(np.float64)
    return norms


def squared_distances(Z: Rows, norms: Array, centres: Array) -> Array:
    """Return squared distances of centres (down) to rows (across), in Z's precision; rounding may leave them < 0."""
    C = centres.astype(Z.dtype, copy=False)
    return squares_of(np.asarray((Z @ C.T).T) if not isinstance(Z, np.ndarray) else C @ Z.T, norms, C)


def squares_of(products: Array, norms: Array, centres: Array) -> Array:
    """Return the squared distances of centres (down) to rows (across) from their products."""
    squares: Array = -2 * products
    squares += norms.astype(products.dtype, copy=False)
    squares += np.einsum("kd,kd->k", centres, centres)[:, None]
    return squares


def nearest_of(squares: Array) -> tuple[Array, Array]:
    """Return the number and the value of the least entry of each column, the first of equal ones.

    A row at a time: NumPy's argmin down the columns was measured 3 to 5 times slower.

    >>> import numpy as np
    >>> [part.tolist() for part in nearest_of(np.array([[3.0, 1.0], [2.0, 1.0]]))]
    [[1, 0], [2.0, 1.0]]
    """
    labels, least = np.zeros(squares.shape[1], dtype=np.int32), squares[0].copy()
    for number, row in enumerate(squares[1:], 1):
        np.copyto(labels, number, where=row < least)
        np.minimum(least, row, out=least)
    return labels, least
