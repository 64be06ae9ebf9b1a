"""Where to merge two Gaussian support vectors, precomputed (Glasmachers and Qaadan, 2018)."""

from functools import lru_cache

import numpy as np

from mercer._typing import Array

# Kernel values and shares of the lesser coefficient, in [0, 1] and [0, 1/2]. Places read off the table choose the pair;
# the place of the pair that is merged is searched for again.
_N_VALUES, _N_SHARES = 257, 129
_N_STEPS = 40
_GOLDEN = (5**0.5 - 1) / 2


@lru_cache(maxsize=1)
def merge_places() -> Array:
    r"""Return the place h of z = h x_i + (1 - h) x_j with the largest coefficient, on a grid.

    Row a is for the kernel value :math:`\kappa = k(x_i, x_j)` = a / 256, column b for the share b / 256 of the lesser
    coefficient, :math:`c_i / (c_i + c_j)`. The place is in [0, 1/2], nearer to the greater coefficient, by
    golden-section search.
    """
    value = np.linspace(0, 1, _N_VALUES)[:, np.newaxis]
    share = np.linspace(0, 0.5, _N_SHARES)[np.newaxis]
    with np.errstate(divide="ignore"):
        exponent = np.where(value > 0, -np.log(np.maximum(value, 1e-300)), 700.0)

    def coefficient(h: Array) -> Array:
        return np.asarray(share * np.exp(-exponent * (1 - h) ** 2) + (1 - share) * np.exp(-exponent * h**2))

    low, high = np.zeros((_N_VALUES, _N_SHARES)), np.full((_N_VALUES, _N_SHARES), 0.5)
    for _ in range(_N_STEPS):
        one, two = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        left = coefficient(one) >= coefficient(two)
        high, low = np.where(left, two, high), np.where(left, low, one)
    places: Array = (low + high) / 2
    places[-1] = share  # any place is as good at a kernel value of 1: this is the limit
    places.flags.writeable = False
    return places
