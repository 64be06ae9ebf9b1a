"""Arrays of a model that are views of one array: their memory is written once.

The coefficients of a learner are a part of the vector that its solver has found, and both are attributes. A view is
described by its first entry, its shape and the distances between entries; a loaded view has the layout that it had.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mercer._typing import Array
from mercer.storage.errors import ModelFileError


class View(NamedTuple):
    """The place of an array in the memory of another: the first entry, the shape, and the strides in entries."""

    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def root_of(values: Array) -> Array | None:
    """Return the array whose memory an array lies in; None if this memory is not a vector of the same type."""
    root = values
    while isinstance(root.base, np.ndarray):
        root = root.base
    is_vector = root.flags.c_contiguous or root.flags.f_contiguous
    same = root.dtype == values.dtype and root.dtype.isnative
    return root if is_vector and same and values.size else None


def view_of(values: Array, root: Array) -> View:
    """Return the place of an array in the memory of its root."""
    size = values.itemsize
    start = (values.__array_interface__["data"][0] - root.__array_interface__["data"][0]) // size
    return View(start, values.shape, tuple(stride // size for stride in values.strides))


def memory_of(root: Array) -> Array:
    """Return the entries of a root in the order of its memory."""
    return root.ravel(order="K")


def viewed(memory: Array, view: View) -> Array:
    """Return a view of a vector; refuse one that reaches beyond it, or that repeats entries.

    >>> viewed(np.arange(6), View(1, (2, 2), (1, 2))).tolist()
    [[1, 3], [2, 4]]
    """
    shape, strides = view.shape, view.strides
    if len(shape) != len(strides) or any(n < 1 for n in shape):
        raise ModelFileError("a view of an array has no shape")
    ends = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
    low, high = view.start + sum(min(end, 0) for end in ends), view.start + sum(max(end, 0) for end in ends)
    if low < 0 or high >= memory.size:
        raise ModelFileError("a view of an array reaches beyond its memory")
    if _repeats(shape, strides):
        raise ModelFileError("a view of an array repeats entries")
    steps = tuple(stride * memory.itemsize for stride in strides)
    return np.ndarray(shape, memory.dtype, memory, view.start * memory.itemsize, steps)


def _repeats(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether steps along different axes may end at the same entry: each must be longer than those below it."""
    reach = 0
    for stride, n in sorted((abs(stride), n) for stride, n in zip(strides, shape, strict=True) if n > 1):
        if stride <= reach:
            return True
        reach += stride * (n - 1)
    return False
