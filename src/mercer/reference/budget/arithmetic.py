"""The sums and exponentials of the loops, by name: a test gives them the order and the formulas of the compiled loop.

NumPy and BLAS add in an order of their own, so that the last bits of these functions differ from the compiled ones.
All other arithmetic of the loops is one operation per entry and has the same bits in both.
"""

import numpy as np

from mercer._typing import Array

# Exponents beyond are cut: their kernel value is 0, and sums of them stay finite.
LARGEST_EXPONENT = 1e150

# sum_i a_i b_i, for a vector a and a vector or matrix b
inner = np.matmul
# the products of a matrix and a vector; np.dot would copy a part of a matrix first
product = np.matmul
exponential = np.exp
# the sum of a vector
total = np.sum


def row_sums(values: Array) -> Array:
    """Return the sums of the rows of a matrix."""
    return np.asarray(values.sum(axis=1))


def exponents(x: Array, Y: Array, gamma: float) -> Array:
    """Return min(gamma |x - y|^2, 1e150) for the rows y of Y."""
    return np.asarray(np.minimum(gamma * np.square(x - Y).sum(axis=1), LARGEST_EXPONENT))


def symmetric(square: Array) -> None:
    """Mirror the half of a matrix that the compiled loop changes; its other half differs by rounding alone."""
