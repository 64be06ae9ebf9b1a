"""The rows of a table in memory as a source."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.data.columns import Codes, Kind, TableError, warn_of_text
from mercer.data.frame_columns import is_frame
from mercer.data.raw_table import RawTable
from mercer.data.sources import source_of
from mercer.data.sources.base import Block, Source
from mercer.parallel import row_blocks
from mercer.validation import collected

_KINDS: dict[str, Kind] = {"number": "number", "date": "date", "categories": "category"}


class RawSource(Source):
    """The rows of a ``RawTable``, whose kinds of columns are those of its values, not of their types.

    Parameters
    ----------
    owner : str
        The name that begins error messages.
    table : RawTable

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data.raw_source import RawSource
    >>> from mercer.data.raw_table import RawTable
    >>> RawSource("rows", RawTable([np.arange(3.0)], ["date"], ["when"])).kinds
    {'when': 'date'}
    """

    def __init__(self, owner: str, table: RawTable):
        names = table.names or [f"x{j}" for j in range(len(table.values))]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise TableError(f"{owner}: the frame has the column {twice!r} twice. Rename one of the columns.")
        self.name, self.n_rows = owner, table.n_rows
        self._table, self._places = table, {name: j for j, name in enumerate(names)}
        self._kinds = {name: _KINDS[kind] for name, kind in zip(names, table.kinds, strict=True)}

    def type_of(self, column: str) -> str:
        """Return the kind of a column, for messages."""
        return {"number": "numbers", "date": "dates", "category": "text"}[self._kinds[column]]

    def is_single(self, column: str) -> bool:
        """Return False: numbers are float64."""
        return False

    def warn_of_doubts(self) -> None:
        """Warn of chosen columns of text whose values are numbers but for a few."""
        for name in self.columns.categories:
            texts = ((f"row {i + 1}", text) for i, text in enumerate(self._values(name).tolist()) if text is not None)
            warn_of_text(self.name, name, texts)

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield ranges of rows."""
        columns = self.columns
        for rows in row_blocks(int(self.n_rows or 0), block_rows):
            numbers = [self._values(name)[rows] for name in (*columns.numbers, *columns.dates)]
            X = np.column_stack(numbers) if numbers else np.empty((rows.stop - rows.start, 0))
            y = None if columns.target is None else self._values(columns.target)[rows]
            weight = None if columns.weight is None else self._values(columns.weight)[rows]
            yield Block(X, y, weight, 0, tuple(_codes(self._values(name)[rows]) for name in columns.categories))

    def _values(self, name: str) -> Array:
        return self._table.values[self._places[name]]


def _codes(values: Array) -> Codes:
    known: dict[str, int] = {}
    codes = [-1 if value is None else known.setdefault(value, len(known)) for value in values.tolist()]
    return Codes(np.array(codes, dtype=np.int64), list(known))


def opened_table(owner: str, table: Any, *, objects: bool = False) -> Source:
    """Return the source of a path, a data frame, a pyarrow table or a source; what has no named columns is refused.

    Errors begin with ``owner``, or with the path of a file. With ``objects``, text may be the strings of a kernel.
    """
    table = collected(table)
    if isinstance(table, RawTable) or (is_frame(table) and not objects):
        return RawSource(owner, RawTable.of(owner, table))
    source = source_of(owner, table)
    if not isinstance(source, Source):
        raise TableError(
            f"{owner}: {type(source).__name__} has no named columns. Give the path of a file, a data frame, a pyarrow "
            "table, or blocks of one of them."
        )
    return source
