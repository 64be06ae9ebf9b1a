"""A table in memory: numbers, days and text, one array per column, before any encoding."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.data.calendar import days_of_text
from mercer.data.columns import Codes, TableError, nearest, printed, some
from mercer.data.frame_columns import Frame, frame_column, is_frame
from mercer.data.sources.base import PIECE_ROWS, Block, Source
from mercer.validation import collected

_KINDS = {"number": "number", "date": "date", "category": "categories"}
_IN_WORDS = {"number": "numbers", "date": "dates", "categories": "text"}
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class RawTable:
    """The columns of a table, with the kind of each, and their names where they have some.

    Numbers and days since 1970 are float64, with NaN where a value is missing; categories are text, or None.
    """

    values: list[Array]
    kinds: list[str]
    names: list[str] | None = None

    @classmethod
    def of(cls, owner: str, X: "Array | Frame | RawTable", only: Collection[str] | None = None) -> "RawTable":
        """Take the columns of an array or a data frame; of a frame, ``only`` those of some names are looked at."""
        if isinstance(X, RawTable):
            return X
        X = collected(X)
        if not is_frame(X):
            return cls(list(np.asarray(X).T), ["number"] * X.shape[1])
        names = {j: str(name) for j, name in enumerate(X.columns) if only is None or str(name) in only}
        found = [frame_column(X, j) for j in names]
        table = cls([values for values, _ in found], [kind for _, kind in found], list(names.values()))
        return table.finite(owner)

    @classmethod
    def of_block(cls, block: Block, source: Source) -> "RawTable":
        """Take a block of a source; the columns are in the order of the source."""
        columns, kinds = source.columns, source.kinds
        numbers = block.X if isinstance(block.X, np.ndarray) else block.X.toarray()
        found = dict(zip((*columns.numbers, *columns.dates), numbers.astype(np.float64, copy=False).T, strict=True))
        found |= {name: _texts(column) for name, column in zip(columns.categories, block.categories, strict=True)}
        names = [name for name in kinds if name in found] or list(found)
        names += [name for name in found if name not in kinds]  # columns of a sparse file that are empty
        declared = dict.fromkeys(columns.numbers, "number") | dict.fromkeys(columns.dates, "date")
        of_names = [_KINDS[declared.get(name, "category")] for name in names]
        return cls([found[name] for name in names], of_names, names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values[0])

    @property
    def columns(self) -> list[str]:
        """The names of the columns, as in a data frame."""
        return self.column_names

    @property
    def dtypes(self) -> list[str]:
        """The kinds of the columns."""
        return self.kinds

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.n_rows, len(self.values)

    @property
    def missing(self) -> dict[str, tuple[int, int]]:
        """For each column that misses values how many, and the row of the first, counted from 1."""
        found = {}
        for name, values, kind in zip(self.column_names, self.values, self.kinds, strict=True):
            gone = np.array([value is None for value in values.tolist()]) if kind == "categories" else np.isnan(values)
            if gone.any():
                found[name] = (int(gone.sum()), int(np.argmax(gone)) + 1)
        return found

    def some(self, rows: Array) -> "RawTable":
        """Return some rows, given by their numbers or by a mask."""
        return RawTable([column[rows] for column in self.values], self.kinds, self.names)

    def finite(self, owner: str) -> "RawTable":
        """Return this table; infinity is an error that names the column and the row."""
        for values, kind, name in zip(self.values, self.kinds, self.column_names, strict=True):
            if kind != "categories" and np.isinf(values).any():
                raise ValueError(
                    f"{owner}: X contains infinity in column {name!r}, row {int(np.argmax(np.isinf(values)))}. Replace "
                    "it by a missing value, or clip it."
                )
        return self

    def matched(self, owner: str, kinds: Mapping[str, str], *, first_row: int = 0) -> "RawTable":
        """Return the columns of these names, in this order, each of the given kind.

        Text that holds numbers, truth values or ISO dates becomes such; what does not convert is an error that names
        the row.
        """
        own = self.column_names
        missing = [name for name in kinds if name not in own]
        if missing:
            free = [name for name in own if name not in kinds]
            raise TableError(
                f"{owner}: the model needs the column{'s' * (len(missing) > 1)} {some(missing)}."
                f"{nearest(missing[0], free)}"
            )
        where = {name: j for j, name in enumerate(own)}
        places = [where[name] for name in kinds]
        picked = RawTable([self.values[j] for j in places], [self.kinds[j] for j in places], list(kinds))
        return picked.as_kinds(owner, list(kinds.values()), first_row=first_row)

    def as_kinds(self, owner: str, kinds: Sequence[str], *, first_row: int = 0) -> "RawTable":
        """Return the same columns as other kinds; what does not convert is an error that names the row."""
        columns = zip(self.column_names, self.values, self.kinds, kinds, strict=True)
        values = [_converted(owner, name, found, own, kind, first_row) for name, found, own, kind in columns]
        return RawTable(values, list(kinds), self.names)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns; x0, x1, ... where they have none."""
        return [f"x{j}" for j in range(len(self.values))] if self.names is None else self.names


def read_table(
    source: Source, watch: Callable[[Block], None] | None = None
) -> tuple[RawTable, Array | None, Array | None]:
    """Return all rows of a source with chosen columns as a table, its target and its weights."""
    parts, ys, weights = [], [], []
    for block in source.pieces(PIECE_ROWS):
        parts.append(RawTable.of_block(block, source))
        ys.append(block.y)
        weights.append(block.sample_weight)
        if watch is not None:
            watch(block)
    if not parts:
        raise TableError(f"{source.name}: there are no rows.")
    first = parts[0]
    values = [np.concatenate([part.values[j] for part in parts]) for j in range(len(first.values))]
    table = RawTable(values, first.kinds, first.names)
    return table, _joined(ys), _joined(weights)


def _joined(parts: Sequence[Array | None]) -> Array | None:
    given = [part for part in parts if part is not None]
    return np.concatenate(given) if given else None


def _texts(column: Codes) -> Array:
    texts = np.empty(len(column.values) + 1, dtype=object)
    texts[:-1], texts[-1] = column.values, None
    return np.asarray(texts[column.codes])


def _converted(owner: str, name: str, values: Array, found: str, kind: str, first_row: int) -> Array:
    if found == kind:
        return values
    n_known = (
        sum(value is not None for value in values.tolist()) if found == "categories" else (~np.isnan(values)).sum()
    )
    if not n_known:
        return np.full(len(values), None) if kind == "categories" else np.full(len(values), np.nan)
    if found == "number" and kind == "categories":
        texts = {value: printed(value) for value in np.unique(values[~np.isnan(values)]).tolist()}
        return np.array([texts.get(value) for value in values.tolist()], dtype=object)
    if found == "categories":
        known = {text: _parsed(text, kind) for text in dict.fromkeys(values.tolist()) if text is not None}
        wrong = next((text for text, number in known.items() if number is None), None)
        if wrong is None:
            return np.array([np.nan if text is None else known[text] for text in values.tolist()], dtype=np.float64)
        row = first_row + values.tolist().index(wrong) + 1
        raise TableError(
            f"{owner}: column {name!r} holds {wrong!r} in row {row}, and held {_IN_WORDS[kind]} in training. Correct "
            "it, or leave it empty."
        )
    raise TableError(
        f"{owner}: column {name!r} holds {_IN_WORDS[found]}, and held {_IN_WORDS[kind]} in training. Convert it to the "
        "type that it had."
    )


def _parsed(text: str, kind: str) -> float | None:
    if kind == "date":
        days = days_of_text([text])
        return None if days is None else float(days[0])
    try:
        number = float(text)
    except ValueError:
        return _TRUTH.get(text.lower())
    return None if np.isinf(number) else number
