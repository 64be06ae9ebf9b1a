"""Decompositions of objects into parts that carry vectors: what ``Convolution`` compares."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer._typing import Array
from mercer.kernels.values import Value
from mercer.structures import Bags, Objects, Ragged
from mercer.structures.domains import Domain
from mercer.structures.objects import refuse
from mercer.structures.part_keys import key_number
from mercer.structures.ragged import ends_of, other_rows

_WAY_OUT = "Return a matrix of vectors, (keys, vectors), or (keys, weights, vectors)."


class Decomposed(NamedTuple):
    """The parts of n objects: object i has those from pointers[i] to pointers[i + 1]."""

    pointers: Array  # (n + 1,) int64
    vectors: Array  # (m, d) float
    keys: Array | None = None  # (m,) uint64; None: all parts are of one kind
    weights: Array | None = None  # (m,) float64; None: every part weighs 1

    @property
    def sizes(self) -> Array:
        """The number of parts of each object."""
        return np.diff(self.pointers)


@dataclass(frozen=True, repr=False)
class Decomposition(Value, ABC):
    """A way to cut objects of one domain into parts. A subclass writes ``domain`` and ``parts_of``."""

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """What the decomposition takes."""

    @abstractmethod
    def parts_of(self, X: Ragged) -> Decomposed:
        """Return the parts of packed objects."""


# A user's function: object -> vectors, (keys, vectors) or (keys, weights, vectors).
Decompose = Decomposition | Callable[[Any], Any] | None


def domain_of(decompose: Decompose) -> Domain:
    """Return what a decomposition takes: bags where there is none, any objects for a function."""
    if decompose is None:
        return "bags"
    return decompose.domain if isinstance(decompose, Decomposition) else "objects"


def decomposed(owner: object, decompose: Decompose, X: Any) -> Decomposed:
    """Return the parts of packed objects."""
    if isinstance(decompose, Decomposition):
        return decompose.parts_of(X)
    if decompose is None:
        if not isinstance(X, Bags):
            raise other_rows(owner, Bags, X)
        return Decomposed(X.pointers(), X.values)
    if not isinstance(X, Objects):
        raise other_rows(owner, Objects, X)
    return _by_function(decompose, X)


def _by_function(f: Callable[[Any], Any], X: Objects) -> Decomposed:
    numbers: dict[Any, int] = {}
    parts = [_one(i, f(item), numbers) for i, item in enumerate(X)]
    width = next((part[2].shape[1] for part in parts if len(part[2])), 0)
    for i, (_, _, vectors) in enumerate(parts):
        if len(vectors) and vectors.shape[1] != width:
            rule = f"must have parts of {width} numbers, as the objects before it"
            raise refuse("Convolution", "X", i, rule, f"{vectors.shape[1]} numbers", _WAY_OUT)
    keyed = [keys is not None for keys, _, vectors in parts if len(vectors)]
    if any(keyed) and not all(keyed):
        raise ValueError("Convolution: decompose gives keys for some objects and none for others; give all or none.")
    filled = [part for part in parts if len(part[2])]
    vectors = np.concatenate([np.empty((0, width)), *(part[2] for part in filled)])
    keys = np.concatenate([part[0] for part in filled if part[0] is not None]) if any(keyed) else None
    weights = np.concatenate([np.empty(0), *(part[1] for part in filled)])
    sizes = [len(part[2]) for part in parts]
    return Decomposed(ends_of(sizes), vectors.astype(X.dtype), keys, None if np.all(weights == 1) else weights)


def _one(i: int, given: Any, numbers: dict[Any, int]) -> tuple[Array | None, Array, Array]:
    """Return the keys, weights and vectors of one object."""
    parts = given if isinstance(given, tuple) and len(given) in (2, 3) else (None, given)
    keys, vectors = parts[0], _vectors(i, parts[-1])
    weights = np.ones(len(vectors)) if len(parts) < 3 else np.asarray(parts[1], dtype=np.float64)
    if weights.shape != (len(vectors),) or not np.isfinite(weights).all():
        raise refuse("Convolution", "X", i, "must have a finite weight for each part", weights.shape, _WAY_OUT)
    if keys is None:
        return None, weights, vectors
    listed = list(keys)
    if len(listed) != len(vectors):
        raise refuse("Convolution", "X", i, "must have a key for each part", f"{len(listed)} keys", _WAY_OUT)
    return numbers_of("Convolution", i, listed, numbers), weights, vectors


def _vectors(i: int, given: Any) -> Array:
    try:
        vectors = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse("Convolution", "X", i, "must decompose into vectors of numbers", given, _WAY_OUT) from None
    if not vectors.size:
        return np.empty((0, 0))
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        found = f"an array of shape {vectors.shape}" if vectors.ndim != 2 else "numbers that are not finite"
        raise refuse("Convolution", "X", i, "must decompose into a matrix of finite numbers", found, _WAY_OUT)
    return vectors


def numbers_of(owner: str, i: int, keys: list[Any], numbers: dict[Any, int]) -> Array:
    """Return the numbers of the keys of object i; ``numbers`` holds those that are known already."""
    way_out = "Take integers, text, bytes, or tuples of them as keys."
    for key in keys:
        try:
            known = key in numbers
        except TypeError:
            raise refuse(owner, "X", i, "must have keys that can be hashed", key, way_out) from None
        if not known:
            number = key_number(key)
            if number is None:
                raise refuse(owner, "X", i, "must have keys that are integers, text or tuples", key, way_out)
            numbers[key] = number
    return np.array([numbers[key] for key in keys], dtype=np.uint64)
