"""What the parameter ``kernel`` and the rows of ``Nystroem`` may be."""

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from mercer._typing import Array, Rows
from mercer.kernels import Kernel
from mercer.kernels.custom import Objects, as_objects
from mercer.structures import Ragged

# A kernel, a function of two sets of rows or objects, or "precomputed"; None is the natural kernel.
KernelLike: TypeAlias = Kernel | Callable[..., ArrayLike] | str | None


def is_precomputed(kernel: object) -> bool:
    """Return whether the parameter asks for a Gram matrix in place of rows."""
    return isinstance(kernel, str) and kernel == "precomputed"


def is_function(kernel: object) -> TypeGuard[Callable[..., ArrayLike]]:
    """Return whether the parameter is a user's function."""
    return callable(kernel) and not isinstance(kernel, Kernel)


def listed_objects(X: Objects) -> Array:
    """Return objects of any kind as an array of them, at least one."""
    if not isinstance(X, Iterable):
        raise ValueError(f"Nystroem: X must be a list of objects, as in fit, got {X!r}.")
    objects: Array = as_objects(X if isinstance(X, list | tuple) else list(X))
    if not len(objects):
        raise ValueError("Nystroem: X is an empty list; give at least one object.")
    return objects


def bytes_of(array: Rows) -> int:
    """Return the bytes of a dense or a sparse array."""
    if isinstance(array, Ragged):
        return array.nbytes
    parts = (array,) if isinstance(array, np.ndarray) else (array.data, array.indices, array.indptr)
    return sum(int(part.nbytes) for part in parts)
