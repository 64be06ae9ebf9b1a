"""Cells of randomly shifted grids, as hashes: the primitive of random binning (Rahimi and Recht, 2007)."""

import numpy as np

from mercer._typing import Array


def cell_hashes(X: Array, inverse_pitches: Array, shifts: Array, multipliers: Array, out: Array) -> None:
    """Overwrite out (n, G) of uint32 with hashes of the cells of the dense rows of X (n, d) in G grids.

    The cell of x in grid g is the integer vector q_j = floor(x_j * inverse_pitches[g, j] + shifts[g, j]). Its hash is
    sum_j multipliers[g, j] * q_j mod 2^32, with odd random multipliers, followed by the bit mixing of a finaliser: two
    cells collide with a probability of about 2^-32. Cell numbers must lie within 32 bits.
    """
    for g in range(len(inverse_pitches)):
        cells = np.floor(X * inverse_pitches[g] + shifts[g]).astype(np.int32).view(np.uint32)
        out[:, g] = _mixed((cells * multipliers[g]).sum(axis=1, dtype=np.uint32))


def _mixed(h: Array) -> Array:
    """Mix all 32 bits (murmur3's finaliser): the low bits of a sum of products depend on low bits only."""
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return h
