"""Rows of pandas and polars data frames."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer._typing import Array, Rows
from mercer.data.columns import Kind, TableError, codes_of
from mercer.data.frame_columns import frame_column
from mercer.data.sources.base import Block, Source
from mercer.parallel import row_blocks
from mercer.structures import Strings
from mercer.validation import is_date, rows_from

Frame = Any  # pandas and polars are optional, and neither is imported here


class FrameSource(Source):
    """Base of the sources of data frames: one range of rows at a time, numbers in one type, text as codes."""

    def __init__(self, owner: str, frame: Frame):
        self.name, self._frame, self.n_rows = owner, frame, len(frame)
        labels = list(frame.columns)
        self.is_named = all(isinstance(label, str) for label in labels)
        self._labels = {str(label): label for label in labels}
        if len(self._labels) < len(labels):
            twice = next(str(label) for label in labels if labels.count(label) > 1 or label != str(label))
            raise TableError(f"{owner}: the frame has the column {twice!r} twice. Rename one of the columns.")
        types = frame.dtypes
        self._types: dict[str, Any] = dict(zip(self._labels, types, strict=True))
        self._kinds: dict[str, Kind] = {name: self._kind(dtype) for name, dtype in self._types.items()}

    def type_of(self, column: str) -> str:
        """Return the type of a column, for messages."""
        return str(self._types[column])

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield ranges of rows, converted to one type."""
        columns, labels = self.columns, self._labels
        numbers = [labels[name] for name in columns.numbers]
        for rows in row_blocks(int(self.n_rows or 0), block_rows):
            part = self._rows(rows)
            y = None if columns.target is None else np.asarray(part[labels[columns.target]])
            weight = None if columns.weight is None else np.asarray(part[labels[columns.weight]], dtype=np.float64)
            categories = tuple(codes_of(np.asarray(part[labels[name]], dtype=object)) for name in columns.categories)
            X: Rows = (
                self._all_numbers(part, numbers, columns.dates)
                if columns.objects is None
                else self._strings(part, columns.objects, rows)
            )
            yield Block(X, y, weight, 0, categories)

    def _strings(self, part: Frame, name: str, rows: slice) -> Strings:
        with rows_from(rows.start):
            return Strings.of(self.name, f"column {name!r}", part[self._labels[name]].to_list())

    def _all_numbers(self, part: Frame, numbers: list[object], dates: tuple[str, ...]) -> Array:
        """Return the numbers of some rows, then their dates in days."""
        X = self._numbers(part[numbers])
        if not dates:
            return X
        places = {name: j for j, name in enumerate(self._labels)}
        return np.column_stack([X, *(frame_column(part, places[name])[0] for name in dates)])

    def _kind(self, dtype: Any) -> Kind:
        return "number" if self._is_number(dtype) else "date" if is_date(dtype) else "category"

    @abstractmethod
    def _is_number(self, dtype: Any) -> bool:
        """Return whether a type of the frame holds numbers."""

    @abstractmethod
    def _rows(self, rows: slice) -> Frame:
        """Return a range of the rows, as a frame."""

    @abstractmethod
    def _numbers(self, part: Frame) -> Array:
        """Return a frame of numbers as an array, NaN where a value is missing."""


class PandasSource(FrameSource):
    """The rows of a pandas data frame."""

    def _is_number(self, dtype: Any) -> bool:
        return getattr(dtype, "kind", "O") in "biuf"

    def _rows(self, rows: slice) -> Frame:
        return self._frame.iloc[rows]

    def _numbers(self, part: Frame) -> Array:
        return np.ascontiguousarray(part.to_numpy(dtype=self.dtype, na_value=np.nan))


class PolarsSource(FrameSource):
    """The rows of a polars data frame."""

    def _is_number(self, dtype: Any) -> bool:
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"

    def _rows(self, rows: slice) -> Frame:
        return self._frame[rows]

    def _numbers(self, part: Frame) -> Array:
        return np.ascontiguousarray(part.to_numpy(), dtype=self.dtype)
