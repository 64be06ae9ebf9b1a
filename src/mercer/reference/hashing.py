"""Hashes of keys, in whole numbers: 61-bit polynomials, and a full avalanche of 64 bits."""

from typing import TypeAlias

import numpy as np

from mercer._typing import Array

# Numbers of 64 bits, one or many.
Words: TypeAlias = Array | np.uint64

PRIME = np.uint64(2**61 - 1)
_LOW, _32 = np.uint64(2**32 - 1), np.uint64(32)


def multiply(a: Words, b: Words) -> tuple[Array, Array]:
    """Return the high and the low 64 bits of products of unsigned 64-bit numbers."""
    a, b = np.broadcast_arrays(np.asarray(a, np.uint64), np.asarray(b, np.uint64))
    a0, a1, b0, b1 = a & _LOW, a >> _32, b & _LOW, b >> _32
    low = a0 * b0
    middle = a1 * b0 + (low >> _32)
    other = a0 * b1 + (middle & _LOW)
    return a1 * b1 + (middle >> _32) + (other >> _32), (other << _32) | (low & _LOW)


def reduced(a: Array) -> Array:
    """Return numbers below 2 (2^61 - 1), modulo 2^61 - 1."""
    return np.where(a >= PRIME, a - PRIME, a)


def times_mod(a: Words, b: Words) -> Array:
    """Return products modulo 2^61 - 1 of numbers of at most 61 bits."""
    high, low = multiply(a, b)
    return reduced((low & PRIME) + ((low >> np.uint64(61)) | (high << np.uint64(3))))


def plus_mod(a: Words, b: Words) -> Array:
    """Return sums modulo 2^61 - 1."""
    return reduced(np.asarray(a, np.uint64) + np.asarray(b, np.uint64))


def minus_mod(a: Array, b: Array) -> Array:
    """Return differences modulo 2^61 - 1."""
    return np.where(a >= b, a - b, a + PRIME - b)


def mixed64(z: Words) -> Array:
    """Return a full avalanche of 64 bits (the finaliser of SplitMix64; Steele, Lea and Flood, 2014)."""
    z = np.asarray(z, np.uint64)
    with np.errstate(over="ignore"):  # products wrap around on purpose
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def joined(a: Words, b: Words) -> Array:
    """Return hashes of ordered pairs of 64-bit numbers."""
    with np.errstate(over="ignore"):
        product = np.asarray(a, np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return mixed64(product + mixed64(np.asarray(b).astype(np.uint64)))


def as_key(hashes: Words) -> Array:
    """Return the upper 61 bits."""
    return np.asarray(np.asarray(hashes, np.uint64) >> np.uint64(3))


def bucket_and_sign(keys: Array, coefficients: Array, n_buckets: int) -> tuple[Array, Array]:
    """Return the bucket and the sign of each key: a polynomial of degree 3 mod 2^61 - 1, 4-wise independent."""
    keys = reduced(keys)
    value = np.full(keys.shape, coefficients[3], dtype=np.uint64)
    for coefficient in coefficients[2::-1]:
        value = plus_mod(times_mod(value, keys), coefficient)
    high, _ = multiply((value >> np.uint64(1)) << np.uint64(4), np.uint64(n_buckets))
    return high.astype(np.int64), np.where(value & np.uint64(1), 1.0, -1.0)
