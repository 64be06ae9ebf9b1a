"""The sums and exponentials of the compiled loop in NumPy, operation by operation: with them, the oracle has its bits.

They are those of the level x86-64-v2, which has two numbers in a register and no fused multiplication. NumPy has no
fused multiplication either, so that it cannot follow the other levels. Slow, for tests alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import factorial, log2
from unittest.mock import patch

import numpy as np

from mercer._typing import Array
from mercer.reference.budget import arithmetic

LEVEL = "x86-64-v2"
_LANES, _SUMS = 2, 4
# Squares of matrices that the compiled loop changes at once.
_TILE = 8
# Of the exponential: e^x = 2^n e^r with a Taylor series of e^r; ln 2 in two parts; 1.5 * 2^52 rounds to integers.
_TERMS, _SHIFT, _LOWEST = 13, 6755399441055744.0, -708.0
_LN2, _LN2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Beyond this sum of gamma |x|^2 and gamma |y|^2, differences are squared.
_LARGEST_SQUARES = 32.0


@contextmanager
def compiled_order() -> Iterator[None]:
    """Give the loops of the reference the arithmetic of the compiled ones."""
    with patch.multiple(
        arithmetic,
        inner=inner,
        product=product,
        exponential=exponential,
        total=total,
        row_sums=row_sums,
        exponents=exponents,
        symmetric=symmetric,
    ):
        yield


def inner(a: Array, b: Array) -> Array:
    """Return sum_i a_i b_i: one sum per lane of four registers for one column, and one after the other for several."""
    if b.ndim == 2 and b.shape[1] > 1:
        return product(b.T, a)
    terms = a * b.reshape(len(a))
    whole = len(terms) // (_SUMS * _LANES) * _SUMS * _LANES
    sums = np.zeros((_SUMS, _LANES))
    for block in terms[:whole].reshape(-1, _SUMS, _LANES):
        sums = sums + block
    found = 0.0
    for term in (*((sums[0] + sums[1]) + (sums[2] + sums[3])), *terms[whole:]):
        found += term
    return np.full(b.shape[1:], found)


def product(matrix: Array, vector: Array) -> Array:
    """Return the products of a matrix and a vector, column by column."""
    found = np.zeros(len(matrix))
    for j, factor in enumerate(vector):
        found = found + matrix[:, j] * factor
    return found


def total(values: Array) -> float:
    """Return the sum of a vector, entry by entry."""
    found = 0.0
    for value in values:
        found += value
    return found


def row_sums(values: Array) -> Array:
    """Return the sums of the rows of a matrix, column by column."""
    return product(values, np.ones(values.shape[1]))


def exponential(x: Array | float) -> Array:
    """Return e^x for x <= 0, and 0 below -708."""
    capped = np.minimum(x, 0.0)
    inside = np.maximum(capped, _LOWEST)
    n = (inside * log2(np.e) + _SHIFT) - _SHIFT
    r = (inside - n * _LN2) - n * _LN2_REST
    found = np.full_like(r, 1 / factorial(_TERMS))
    for k in reversed(range(_TERMS)):
        found = found * r + 1 / factorial(k)
    return np.where(capped > _LOWEST, np.ldexp(found, n.astype(np.int64)), 0.0)


def exponents(x: Array, Y: Array, gamma: float) -> Array:
    """Return gamma |x - y|^2 by |x|^2 + |y|^2 - 2 x y, or by differences where these squares are large."""
    both = product(np.square(Y), np.ones(len(x))) + total(np.square(x))
    near = np.maximum((both - product(Y, x) * 2.0) * gamma, 0.0)
    far = row_sums(np.square(x - Y)) * gamma
    return np.where(both * gamma <= _LARGEST_SQUARES, near, np.minimum(far, arithmetic.LARGEST_EXPONENT))


def symmetric(square: Array) -> None:
    """Mirror the tiles right of the diagonal."""
    tiles = np.arange(len(square)) // _TILE
    square[:] = np.where(tiles[:, np.newaxis] <= tiles, square, square.T)
