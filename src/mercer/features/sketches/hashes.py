"""Tables of hashes for count sketches."""

import numpy as np

from mercer._typing import Array
from mercer.state import Dimension, Integers, Stored


def draw_signs(
    rng: np.random.RandomState, shape: tuple[int, ...], dtype: type[np.int8] | type[np.int64] = np.int8
) -> Array:
    """Draw independent signs, one byte each; the type decides how many random bits are used per sign."""
    signs: Array = rng.randint(2, size=shape, dtype=dtype)
    signs *= 2
    signs -= 1
    return signs


def draw_hashes(rng: np.random.RandomState, n_buckets: int, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Draw tables of independent buckets and signs (2-wise independent buckets and 4-wise signs would be enough)."""
    index: Array = rng.randint(n_buckets, size=shape, dtype=np.int32)
    return index, draw_signs(rng, shape)


def stored_hashes(*shape: Dimension, below: Dimension = None) -> Stored:
    """Return the storage declaration of hash tables named ``index_`` and ``sign_``."""
    return Stored(
        index_=Integers(shape, (np.int32,), least=0, below=below),
        sign_=Integers(shape, (np.int8,), least=-1, below=2),
    )
