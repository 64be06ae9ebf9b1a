"""Rows of pandas and polars data frames."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.data.readers.base import Block, Reader
from mercer.parallel import row_blocks
from mercer.validation import dates_refused, is_date


def split_columns(owner: str, names: list[str], y: str | None, sample_weight: str | None) -> list[str]:
    """Return the columns of X: all but those of y and the weights, which must exist."""
    for argument, name in (("y", y), ("sample_weight", sample_weight)):
        if name is not None and name not in names:
            raise ValueError(f"{owner}: {argument} must name a column, got {name!r}. The columns are {names}.")
    return [name for name in names if name not in (y, sample_weight)]


def refuse_text(owner: str, name: Any, dtype: Any, *, dated: bool = False) -> None:
    """Say that a column holds something other than numbers."""
    if dated or is_date(dtype):
        raise dates_refused(owner, "X", f" in column {name!r} ({dtype})")
    raise ValueError(
        f"{owner}: X holds text or objects in column {name!r} ({dtype}); it must hold numbers. "
        "Encode it first, with sklearn.preprocessing.OneHotEncoder, or leave the column out."
    )


class _FrameReader(Reader):
    """What the two kinds of frame share: numbers of one type, a range of rows at a time."""

    keeps_pieces = True

    def __init__(self, owner: str, frame: Any, y: str | None = None, sample_weight: str | None = None):
        self._frame, self._y, self._weight = frame, y, sample_weight
        self._columns = split_columns(owner, list(frame.columns), y, sample_weight)
        single = True
        for name in self._columns:
            dtype = frame[name].dtype
            if not self._is_number(dtype):
                refuse_text(owner, name, dtype)
            single = single and str(dtype).lower() == "float32"
        self.dtype = np.dtype(np.float32 if single and self._columns else np.float64)
        self.width, self.n_rows = len(self._columns), len(frame)
        self.names = tuple(self._columns) if all(isinstance(name, str) for name in self._columns) else None
        self.labelled = y is not None

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield ranges of rows, converted to one type."""
        assert self.n_rows is not None  # noqa: S101
        for rows in row_blocks(self.n_rows, block_rows):
            part = self._rows(rows)
            y = None if self._y is None else np.asarray(part[self._y])
            weight = None if self._weight is None else np.asarray(part[self._weight], dtype=np.float64)
            yield Block(self._numbers(part[self._columns]), y, weight)

    def _is_number(self, dtype: Any) -> bool:
        raise NotImplementedError

    def _rows(self, rows: slice) -> Any:
        raise NotImplementedError

    def _numbers(self, part: Any) -> Array:
        raise NotImplementedError


class PandasReader(_FrameReader):
    """The rows of a pandas data frame."""

    def _is_number(self, dtype: Any) -> bool:
        return getattr(dtype, "kind", "O") in "biuf"

    def _rows(self, rows: slice) -> Any:
        return self._frame.iloc[rows]

    def _numbers(self, part: Any) -> Array:
        return np.ascontiguousarray(part.to_numpy(dtype=self.dtype, na_value=np.nan))


class PolarsReader(_FrameReader):
    """The rows of a polars data frame."""

    def _is_number(self, dtype: Any) -> bool:
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"

    def _rows(self, rows: slice) -> Any:
        return self._frame[rows]

    def _numbers(self, part: Any) -> Array:
        return np.ascontiguousarray(part.to_numpy(), dtype=self.dtype)
