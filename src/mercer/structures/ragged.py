"""What all packed objects share: flat arrays, the pointers of each object, and the manners of a column of rows."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from types import EllipsisType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._typing import Array
from mercer.state import Integers, OneOf, Plain, Sizes, Stored, Table, Text, UnsoundError, require

# What selects objects: a number of them, in any of the forms that NumPy takes for the rows of a matrix.
Selection = slice | int | Sequence[int] | Sequence[bool] | Array | tuple[Any, EllipsisType]


class Ragged:
    """n objects of different sizes, as a value that behaves like a matrix of one column.

    A subclass names its levels in ``_levels``: for each kind of item (letters; nodes and edges), the flat arrays that
    hold one entry per item. Object i has the items from ``pointers(level)[i]`` to ``pointers(level)[i + 1]``. Numbers
    of items inside an object, such as the neighbours of a node, count from 0 in each object, so that objects can be
    cut out and put together without changing them.

    ``dtype``, float32 unless ``astype`` sets another, is the type of the features that maps make of the objects.
    """

    # Level -> the arrays with an entry per item of this level. The first level decides how large an object is.
    _levels: ClassVar[Mapping[str, tuple[str, ...]]]
    # Arrays that some values lack; they are None there.
    _optional: ClassVar[tuple[str, ...]] = ()

    # Arrays and pointers by name; what they must hold is checked when a file is read.
    _stored = Stored(
        pointers=Table(Text(), Integers((None,), (np.int64,), least=0), attribute="_pointers"),
        arrays=Table(Text(), Plain(), attribute="_arrays"),
        dtype=OneOf((np.dtype(np.float32), np.dtype(np.float64))),
    )

    def __init__(
        self, pointers: Mapping[str, Array], arrays: Mapping[str, Array | None], dtype: DTypeLike = np.float32
    ):
        self._pointers = dict(pointers)
        self._arrays = dict(arrays)
        self.dtype = np.dtype(dtype)

    def _take(self, made: Self) -> None:
        """Become objects that a class method has packed."""
        self._pointers, self._arrays, self.dtype = made._pointers, made._arrays, made.dtype

    def _check_stored(self, sizes: Sizes) -> None:
        """Refuse arrays that no objects have, as a forged file may hold them."""
        names = {name for of_level in self._levels.values() for name in of_level}
        require(
            set(self._pointers) == set(self._levels) and set(self._arrays) == names, "arrays must be those of the kind"
        )
        lengths = {len(pointers) for pointers in self._pointers.values()}
        require(len(lengths) == 1 and min(lengths) >= 1, "all levels must have as many objects")
        for level, of_level in self._levels.items():
            pointers = self._pointers[level]
            require(pointers[0] == 0 and bool(np.all(np.diff(pointers) >= 0)), "pointers must ascend from 0")
            for name in of_level:
                values = self._arrays[name]
                require(values is None or isinstance(values, np.ndarray), f"{name} must be an array")
                require(values is None or len(values) == pointers[-1], f"{name} must have an entry per item")
        self._check_arrays()

    def _check_arrays(self) -> None:
        """Refuse entries that objects of this kind do not have."""
        raise UnsoundError(f"{type(self).__name__} is not held by model files")

    @property
    def n_objects(self) -> int:
        """The number of objects."""
        return len(self)

    def pointers(self, level: str | None = None) -> Array:
        """Return the first item of each object in the arrays of a level, and after the last object the end."""
        return self._pointers[next(iter(self._levels)) if level is None else level]

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_objects, 1)``: one column of objects."""
        return len(self), 1

    @property
    def ndim(self) -> int:
        """2, as of every matrix."""
        return 2

    @property
    def sizes(self) -> Array:
        """The number of items of each object: letters, tokens, nodes or vectors."""
        return np.diff(self.pointers())

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        held = [*self._pointers.values(), *(array for array in self._arrays.values() if array is not None)]
        return sum(int(array.nbytes) for array in held)

    def content(self) -> dict[str, Array]:
        """Return all arrays by name, with the sizes of the objects in place of pointers: those of parts join up."""
        sizes = {f"{level} sizes": np.diff(pointers) for level, pointers in self._pointers.items()}
        return sizes | {name: array for name, array in self._arrays.items() if array is not None}

    def hashes(self) -> Array:
        """Return a hash of 64 bits of each object: equal for equal objects, wherever they stand."""
        out = np.empty(len(self), dtype=np.uint64)
        for i in range(len(self)):
            parts = sorted(self._range(i, i + 1).content().items())
            digest = blake2b(b"".join(np.ascontiguousarray(part).tobytes() for _, part in parts), digest_size=8)
            out[i] = int.from_bytes(digest.digest(), "little")
        return out

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Refuse to become an array: what computes with rows of numbers does not take objects."""
        raise TypeError(
            f"{type(self).__name__}: packed objects are no array of numbers, and this computation needs one. Make "
            "features of them first (mercer.features.PartFeatures, mercer.features.ConvolutionFeatures)."
        )

    def __len__(self) -> int:
        return len(self.pointers()) - 1

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{len(self)} objects>)"

    def astype(self, dtype: DTypeLike, *, copy: bool = True) -> Self:
        """Return the same objects, whose features have another type, float32 or float64."""
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise ValueError(f"{type(self).__name__}: dtype must be float32 or float64, got {dtype!r}.")
        if self.dtype == np.dtype(dtype) and not copy:
            return self
        return self._with(self._pointers, self._arrays, dtype)

    def copy(self) -> Self:
        """Return the same objects; their arrays are never changed, and are shared."""
        return self._with(self._pointers, self._arrays, self.dtype)

    def __getitem__(self, rows: Selection) -> Self:
        """Return some objects: by a slice, numbers, a mask, or a tuple of one of these and an ellipsis."""
        if isinstance(rows, tuple):
            if len(rows) != 2 or rows[1] not in (Ellipsis, slice(None)):
                raise IndexError(f"{type(self).__name__}: objects have one index, got {rows!r}.")
            rows = rows[0]
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(len(self))
            return self._range(start, max(start, stop))
        return self._taken(np.atleast_1d(np.arange(len(self))[rows]))

    def _range(self, start: int, stop: int) -> Self:
        """Return consecutive objects; their arrays are views."""
        pointers, arrays = {}, {}
        for level, names in self._levels.items():
            of_level = self._pointers[level]
            first, last = of_level[start], of_level[stop]
            pointers[level] = of_level[start : stop + 1] - first
            for name in names:
                values = self._arrays[name]
                arrays[name] = None if values is None else values[first:last]
        return self._with(pointers, arrays, self.dtype)

    def _taken(self, numbers: Array) -> Self:
        """Return the objects of these numbers, in this order."""
        pointers, arrays = {}, {}
        for level, names in self._levels.items():
            of_level = self._pointers[level]
            lengths = np.diff(of_level)[numbers]
            ends = np.concatenate([[0], np.cumsum(lengths)])
            places = np.arange(ends[-1]) + np.repeat(of_level[numbers] - ends[:-1], lengths)
            pointers[level] = ends
            for name in names:
                values = self._arrays[name]
                arrays[name] = None if values is None else values[places]
        return self._with(pointers, arrays, self.dtype)

    @classmethod
    def stack(cls, parts: Sequence[Self]) -> Self:
        """Return the objects of several values, one after the other."""
        if len(parts) == 1:
            return parts[0]
        pointers: dict[str, Array] = {}
        arrays: dict[str, Array | None] = {}
        for level, names in cls._levels.items():
            starts = np.cumsum([0] + [part.pointers(level)[-1] for part in parts])
            moved = [part.pointers(level)[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
            pointers[level] = np.concatenate([[0], *moved]).astype(np.int64)
            for name in names:
                arrays[name] = cls._stacked_array(name, [part._arrays[name] for part in parts])
        dtype = np.result_type(*(part.dtype for part in parts))
        return cls._with(pointers, arrays, dtype)

    @classmethod
    def _stacked_array(cls, name: str, given: Sequence[Array | None]) -> Array | None:
        present = [array for array in given if array is not None]
        if present and len(present) < len(given):
            raise ValueError(
                f"{cls.__name__}: some objects have {name} and others have none; give it to all or to none."
            )
        return np.concatenate(present) if present else None

    @classmethod
    def _with(cls, pointers: Mapping[str, Array], arrays: Mapping[str, Array | None], dtype: DTypeLike) -> Self:
        """Return a value with these arrays, which are known to be right."""
        other = object.__new__(cls)
        Ragged.__init__(other, pointers, arrays, dtype)
        return other


def stack_rows(parts: Sequence[Any]) -> Any:
    """Return rows of one kind, arrays, CSR matrices or packed objects, one after the other."""
    if isinstance(parts[0], Ragged):
        return type(parts[0]).stack(parts)
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.vstack(parts)


def ends_of(sizes: Sequence[int] | Array) -> Array:
    """Return the pointers of objects of these sizes."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)


def other_rows(owner: object, kind: type[Ragged], X: object) -> ValueError:
    """Return the error of rows that a kernel or a map does not take, as a model file may bring them together."""
    return ValueError(f"{type(owner).__name__}: rows must be {kind.__name__}, got {type(X).__name__}.")
