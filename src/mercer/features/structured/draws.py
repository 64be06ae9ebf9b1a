"""What maps of keys draw: seeds of keys, and polynomials that hash them."""

import numpy as np
from numpy.typing import DTypeLike

from mercer._typing import Array
from mercer.key_core import splitmix64

_PRIME = 2**61 - 1


def key_signs(keys: Array, seed: int, width: int, dtype: DTypeLike) -> Array:
    """Return a row of ``width`` signs for each key, (len(keys), width): 64 of them from each mixed word."""
    n_words = -(-width // 64)
    words = splitmix64(splitmix64(keys ^ np.uint64(seed))[:, None] + splitmix64(np.arange(n_words, dtype=np.uint64)))
    bits = np.unpackbits(words.view(np.uint8), axis=1, count=width)
    return np.asarray(2 * bits.astype(dtype) - 1)


def draw_seed(rng: np.random.RandomState) -> int:
    """Return a number from 1 to 2^61 - 2, uniform."""
    return int(draw_coefficients(rng, 1)[0]) % (_PRIME - 1) + 1


def draw_coefficients(rng: np.random.RandomState, size: int | tuple[int, ...] = 4) -> Array:
    """Return numbers below 2^61 - 1, uniform: the coefficients of a polynomial hash."""
    coefficients: Array = rng.randint(_PRIME, size=size, dtype=np.uint64)
    return coefficients
