"""Bags: sets of vectors of one width."""

import itertools
from collections.abc import Iterator, Mapping
from typing import ClassVar, Self

import numpy as np

from mercer._typing import Array, override
from mercer.state import part, require
from mercer.structures.objects import as_list, refuse
from mercer.structures.ragged import Ragged, ends_of


@part("Bags")
class Bags(Ragged):
    """Bags of vectors: each object is a matrix, whose rows have no order that a kernel sees.

    Parameters
    ----------
    X : list of arrays of shape (n_vectors, n_columns), with the same number of columns
        A bag may be empty.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.structures import Bags
    >>> bags = Bags([np.ones((3, 2)), np.zeros((1, 2))])
    >>> bags.sizes.tolist(), bags.values.shape, bags.dtype
    ([3, 1], (4, 2), dtype('float64'))
    """

    _levels: ClassVar[Mapping[str, tuple[str, ...]]] = {"vectors": ("values",)}

    def __init__(self, X: object):
        made = self.of("Bags", "X", X)
        self._take(made)

    @override
    def _check_arrays(self) -> None:
        values = self._arrays["values"]
        require(values is not None and values.ndim == 2, "values must be a matrix")
        numbers = self.values.dtype in (np.float32, np.float64) and bool(np.isfinite(self.values).all())
        require(numbers, "values must be finite numbers")

    @classmethod
    def of(cls, owner: str, name: str, X: object) -> Self:
        """Pack matrices; errors name the bag at fault. Features are float32 where all entries are."""
        if isinstance(X, np.ndarray) and X.ndim == 3:
            X = list(X)
        bags = [_matrix(owner, name, i, bag) for i, bag in enumerate(as_list(owner, name, X, "matrices"))]
        if not bags:
            raise ValueError(f"{owner}: {name} must hold at least one bag, whose columns it takes, got 0 bags.")
        width = next((bag.shape[1] for bag in bags if len(bag)), bags[0].shape[1])
        bags = [bag if len(bag) else np.empty((0, width), dtype=np.float32) for bag in bags]
        for i, bag in enumerate(bags):
            if bag.shape[1] != width:
                rule = f"must have {width} columns, as the bags before it"
                raise refuse(owner, name, i, rule, f"{bag.shape[1]} columns", "Select or pad its columns.")
        values = np.concatenate(bags)
        single = all(bag.dtype == np.float32 for bag in bags)
        values = np.ascontiguousarray(values, dtype=np.float32 if single else np.float64)
        return cls._with({"vectors": ends_of([len(bag) for bag in bags])}, {"values": values}, values.dtype)

    @classmethod
    def of_arrays(cls, values: Array, pointers: Array) -> Self:
        """Take all vectors as one matrix, and the first vector of each bag, with the end last."""
        pointers = np.ascontiguousarray(pointers, dtype=np.int64)
        ascend = len(pointers) and pointers[0] == 0 and pointers[-1] == len(values) and np.all(np.diff(pointers) >= 0)
        if np.ndim(values) != 2 or not ascend:
            raise ValueError("Bags: pointers must ascend from 0 to the number of rows of values.")
        return cls.of("Bags", "X", [values[a:b] for a, b in itertools.pairwise(pointers)])

    @property
    def values(self) -> Array:
        """The vectors of all bags, in the type of the features."""
        values = self._arrays["values"]
        assert values is not None  # noqa: S101 - bags always have them
        return values.astype(self.dtype, copy=False)

    def __iter__(self) -> Iterator[Array]:
        values, pointers = self.values, self.pointers()
        return (values[a:b] for a, b in itertools.pairwise(pointers))


def _matrix(owner: str, name: str, i: int, bag: object) -> Array:
    way_out = "Give a matrix with a row for each vector."
    try:
        matrix = np.asarray(bag)
    except ValueError:
        raise refuse(owner, name, i, "must be a matrix of numbers", "rows of different lengths", way_out) from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        found = f"an array of shape {matrix.shape} of {matrix.dtype}"
        raise refuse(owner, name, i, "must be a matrix of numbers", found, way_out)
    matrix = matrix if matrix.dtype == np.float32 else matrix.astype(np.float64)
    if not np.isfinite(matrix).all():
        row, column = (int(place) for place in np.argwhere(~np.isfinite(matrix))[0])
        found = f"{matrix[row, column]} at row {row}, column {column}"
        raise refuse(owner, name, i, "must hold finite numbers", found, "Impute it, or drop the vector.")
    return matrix
