"""What maps of keys draw: seeds of keys, and polynomials that hash them."""

import numpy as np

from mercer._typing import Array

_PRIME = 2**61 - 1


def draw_seed(rng: np.random.RandomState) -> int:
    """Return a number from 1 to 2^61 - 2, uniform."""
    return int(draw_coefficients(rng, 1)[0]) % (_PRIME - 1) + 1


def draw_coefficients(rng: np.random.RandomState, size: int = 4) -> Array:
    """Return numbers below 2^61 - 1, uniform: the coefficients of a polynomial hash."""
    coefficients: Array = rng.randint(_PRIME, size=size, dtype=np.uint64)
    return coefficients
