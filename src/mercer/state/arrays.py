"""Kinds of arrays: reals, integers, rows and labels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from mercer._typing import Array
from mercer.state.kind import Dimension, Kind, Sizes, UnsoundError, short
from mercer.state.values import LARGEST_COUNT

_FLOATS = (np.float64, np.float32)


@dataclass(frozen=True)
class Reals(Kind):
    """An array of float64 or float32, finite unless ``finite`` is False."""

    shape: tuple[Dimension, ...]
    least: float = -math.inf
    positive: bool = False
    finite: bool = True
    most: float = math.inf
    dtypes: tuple[type, ...] = _FLOATS

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        array = _array(value, name, self.shape, self.dtypes, sizes)
        if self.finite and not np.isfinite(array).all():
            raise UnsoundError(f"{name} must hold finite numbers")
        lowest, highest = array.min(initial=math.inf), array.max(initial=-math.inf)
        if lowest < self.least:
            raise UnsoundError(f"{name} must hold numbers >= {self.least:g}, got {lowest}")
        if self.positive and lowest <= 0:
            raise UnsoundError(f"{name} must hold numbers > 0, got {lowest}")
        if highest > self.most:
            raise UnsoundError(f"{name} must hold numbers <= {self.most:g}, got {highest}")


@dataclass(frozen=True)
class Integers(Kind):
    """An array of integers in [least, below), in C order: the compiled core reads its memory directly."""

    shape: tuple[Dimension, ...]
    dtypes: tuple[type, ...] = (np.int64, np.int32)
    least: int = -LARGEST_COUNT
    below: Dimension = None

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        array = _array(value, name, self.shape, self.dtypes, sizes)
        if not array.flags.c_contiguous:
            raise UnsoundError(f"{name} must be in C order")
        if array.size:
            lowest, highest = int(array.min()), int(array.max())
            if lowest < self.least:
                raise UnsoundError(f"{name} must hold integers >= {self.least}, got {lowest}")
            sizes.later.append(lambda: self._check_below(highest, name, sizes))

    def _check_below(self, highest: int, name: str, sizes: Sizes) -> None:
        limit = sizes.value(self.below)
        if highest >= limit:
            of = f"{self.below} = " if isinstance(self.below, str) else ""
            raise UnsoundError(f"{name} must hold integers below {of}{limit}, got {highest}")


@dataclass(frozen=True)
class Rows(Kind):
    """Rows of finite floats, an array or a CSR matrix."""

    shape: tuple[Dimension, Dimension]

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if not sparse.issparse(value):
            Reals(self.shape).check(value, name, sizes)
            return
        if not isinstance(value, sparse.csr_array | sparse.csr_matrix):
            raise UnsoundError(f"{name} must be a CSR matrix")
        _match_shape(value.shape, name, self.shape, sizes)
        Reals((None,)).check(value.data, name, sizes)


@dataclass(frozen=True)
class Names(Kind):
    """Names or numbers, strictly ascending, or in any order with ``ascending=False``."""

    shape: tuple[Dimension]
    ascending: bool = True
    text: bool = False

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "OUSiufb":
            raise UnsoundError(f"{name} must be an array of labels")
        _match_shape(value.shape, name, self.shape, sizes)
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise UnsoundError(f"{name} must hold finite numbers")
        items = value.tolist()
        if self.text and not all(isinstance(item, str) for item in items):
            raise UnsoundError(f"{name} must hold text")
        are_text = {isinstance(item, str | bytes) for item in items if item is not None}
        if len(are_text) > 1 or (None in items and self.ascending):
            raise UnsoundError(f"{name} must hold labels of one kind")
        if self.ascending and not all(a < b for a, b in pairwise(items)):
            raise UnsoundError(f"{name} must be in ascending order")


def _array(value: object, name: str, shape: Sequence[Dimension], dtypes: Sequence[type], sizes: Sizes) -> Array:
    """Return an array, after a check of its shape and of its type."""
    if not isinstance(value, np.ndarray):
        raise UnsoundError(f"{name} must be an array, got {short(value)}")
    if value.dtype not in dtypes:
        names = " or ".join([np.dtype(dtype).name for dtype in dtypes])
        raise UnsoundError(f"{name} must hold {names}, got {value.dtype}")
    _match_shape(value.shape, name, shape, sizes)
    return value


def _match_shape(found: Sequence[int], name: str, shape: Sequence[Dimension], sizes: Sizes) -> None:
    if len(found) != len(shape):
        raise UnsoundError(f"{name} must have {len(shape)} dimensions, got {len(found)}")
    for axis, (dimension, size) in enumerate(zip(shape, found, strict=True)):
        if dimension is not None:
            sizes.match(dimension, int(size), f"{name}.shape[{axis}]")
