"""The Gram matrix of the rows of a leaf: the triangle that a Cholesky factor reads."""

import numpy as np

from mercer import recycling
from mercer._typing import Array, Rows
from mercer.kernels import Kernel

# Rows per block of kernel values. Smaller blocks have fewer values above the diagonal, and cost more calls.
_BLOCK_ROWS = 256


def lower_gram(kernel: Kernel, rows: Rows, dtype: np.dtype[np.generic]) -> Array:
    """Return k(rows, rows) in Fortran order, of which only the entries on and below the diagonal are set.

    Above the diagonal, most blocks are not evaluated: they would cost half of the time, and are not read.
    """
    n = rows.shape[0]
    transposed = recycling.empty((n, n), dtype)
    for start in range(0, n, _BLOCK_ROWS):
        block = slice(start, min(start + _BLOCK_ROWS, n))
        transposed[block, start:] = kernel.evaluator(rows[start:], dtype)(rows[block])
    return transposed.T
