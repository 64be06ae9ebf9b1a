"""What sources without names of columns share: a matrix whose columns are called x0, x1, ..."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

import numpy as np

from mercer._typing import Array, Rows
from mercer.data.columns import Codes, Columns, Kind, TableError, codes_of
from mercer.data.sources.base import Block, Source


class MatrixSource(Source):
    """A matrix with columns x0, x1, ..., and further columns with other names.

    A subclass implements ``_whole``, which yields the rows of the whole matrix. Without a choice of columns, these are
    the pieces. The names of the columns are made on first use: a matrix may have millions of columns.

    Parameters
    ----------
    name : str
        The name that begins error messages.
    shape : (rows, columns)
        The number of rows is None if it is not known.
    dtype : dtype
        The type of the stored entries.
    is_sparse : bool
    others : dict of arrays
        Further columns, with one entry per row.
    categorical : names of columns of numbers that are categories
    """

    is_named = False

    def __init__(
        self,
        name: str,
        shape: tuple[int | None, int],
        dtype: np.dtype[np.generic],
        *,
        is_sparse: bool = False,
        others: Mapping[str, Array] | None = None,
        categorical: Sequence[str] = (),
    ):
        self.name, self.is_sparse = name, is_sparse
        self.n_rows, self.width = shape
        self._width, self._stored_type = self.width, dtype
        self.dtype = np.dtype(np.float32 if dtype == np.float32 else np.float64)
        self._others, self._categorical = others or {}, tuple(categorical)
        self._found_kinds: dict[str, Kind] | None = None

    @property
    def is_ready(self) -> bool:
        """Return True: without a choice of columns, the pieces have all columns of the matrix."""
        return True

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of each column, in order."""
        if self._found_kinds is None:
            kinds: dict[str, Kind] = {f"x{j}": "number" for j in range(self._width)}
            kinds |= {name: _kind(values.dtype) for name, values in self._others.items()}
            kinds |= {name: "category" for name in self._categorical if name in kinds}
            if self.own_target is not None:
                kinds[self.own_target] = "number"
            self._found_kinds = kinds
        return self._found_kinds

    def type_of(self, column: str) -> str:
        """Return the type of a column, for messages."""
        return str(self._others[column].dtype if column in self._others else self._stored_type)

    def choose(self, columns: Columns) -> Self:
        """Return this source with other columns chosen."""
        brings_y = self.labelled and self.own_target is None
        if brings_y and columns.target is not None:
            raise TableError(f"{self.name}: y is given twice, by the source of X and as its column. Leave one out.")
        other = super().choose(columns)
        other.labelled = brings_y or other.labelled
        return other

    @abstractmethod
    def _whole(self, block_rows: int) -> Iterator[Block]:
        """Yield the rows of the whole matrix."""

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield the chosen columns of the rows."""
        if self._chosen is None:
            yield from self._whole(block_rows)
            return
        first_row = 0
        for whole in self._whole(block_rows):
            yield self._picked(whole, slice(first_row, first_row + whole.n_rows), self._chosen)
            first_row += whole.n_rows

    def _picked(self, whole: Block, rows: slice, columns: Columns) -> Block:
        y = whole.y if columns.target == self.own_target else None
        if columns.target is not None and columns.target != self.own_target:
            y = _labels(self._column(columns.target, whole.X, rows))
        weight = whole.sample_weight
        if columns.weight is not None:
            weight = self._column(columns.weight, whole.X, rows).astype(np.float64)
        categories: tuple[Codes, ...] = tuple(
            codes_of(self._column(name, whole.X, rows)) for name in columns.categories
        )
        return Block(self._numbers(whole.X, rows, columns.numbers), y, weight, 0, categories)

    def _numbers(self, X: Rows, rows: slice, names: Sequence[str]) -> Rows:
        own = [int(name[1:]) for name in names if name not in self._others]
        if len(own) == len(names):
            if own == list(range(X.shape[1])):
                return X
            if self.is_sparse and max(own, default=-1) >= X.shape[1]:  # columns of a model that are empty here
                X.resize((X.shape[0], max(own) + 1))
            return X[:, own]
        if self.is_sparse:
            raise TableError(f"{self.name}: the columns of a sparse matrix are x0, x1, ... alone.")
        return np.column_stack([self._column(name, X, rows) for name in names]).astype(self.dtype, copy=False)

    def _column(self, name: str, X: Rows, rows: slice) -> Array:
        if name in self._others:
            return self._others[name][rows]
        column = X[:, [int(name[1:])]]
        return np.ravel(column if isinstance(column, np.ndarray) else column.toarray())


def _kind(dtype: np.dtype[np.generic]) -> Kind:
    return "number" if dtype.kind in "biuf" else "category" if dtype.kind in "USO" else "other"


def _labels(values: Array) -> Array:
    """Return labels; text as an array of objects."""
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    return values.astype(object) if values.dtype.kind == "U" else values
