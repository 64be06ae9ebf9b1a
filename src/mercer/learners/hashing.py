"""Random bits that depend on a number alone."""

import numpy as np

from mercer._typing import Array


def splitmix64(numbers: Array) -> Array:
    """Return 64 bits for each unsigned 64-bit number: those of splitmix64's mixture.

    References
    ----------
    G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

    >>> import numpy as np
    >>> hex(splitmix64(np.zeros(1, dtype=np.uint64))[0])
    '0xe220a8397b1dcdaf'
    """
    bits = numbers + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = bits ^ (bits >> np.uint64(31))
    return mixed
