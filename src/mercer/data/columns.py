"""Columns of a source: their kinds, the choice of columns to read, and errors about columns."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, NamedTuple, Protocol

import numpy as np

from mercer._typing import Array

# "other": columns that no learner can use, such as dates. A file may have such a column if it is not read.
Kind = Literal["number", "category", "other"]
# A column by its name, or by its number; -1 is the last column.
Column = str | int


class TableError(ValueError):
    """Rows or columns cannot be used. The message names the file, the place, the rule and the way out."""


class MissingFileError(TableError, FileNotFoundError):
    """There is no file at a path."""


class TableWarning(UserWarning):
    """Something unusual in the rows, which mercer has handled."""


class Codes(NamedTuple):
    """A column of categories: one code per row, an index into ``values``, or -1 where the value is missing."""

    codes: Array
    values: Sequence[str]


@dataclass(frozen=True)
class Columns:
    """The columns to read, by name: numbers and categories in this order, the target and the weights.

    >>> Columns(("age",), ("city",), target="income").all
    ('age', 'city', 'income')
    """

    numbers: tuple[str, ...]
    categories: tuple[str, ...] = ()
    target: str | None = None
    weight: str | None = None

    @property
    def all(self) -> tuple[str, ...]:
        """All names."""
        return (*self.numbers, *self.categories, *(name for name in (self.target, self.weight) if name is not None))


class HasColumns(Protocol):
    """An object with named columns, from which ``Choice`` selects."""

    name: str
    own_target: str | None

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of each column, in order."""

    def type_of(self, column: str) -> str:
        """Return the type of a column, for messages."""


@dataclass(frozen=True)
class Choice:
    """The columns of a source to read, as given by a user.

    Parameters
    ----------
    target, sample_weight : str or int, optional
        The columns of y and of the weights, by name or number.
    columns : sequence of str or int, optional
        The columns of X; by default all columns except the target, the weights and the ignored ones.
    ignore : sequence of str or int
        Columns to leave out.
    """

    target: Column | None = None
    columns: tuple[Column, ...] | None = None
    ignore: tuple[Column, ...] = ()
    sample_weight: Column | None = None

    def of(self, source: HasColumns) -> Columns:
        """Return the chosen columns of a source; an unknown name is an error."""
        target = source.own_target if self.target is None else found(source, self.target, "the target")
        weight = None if self.sample_weight is None else found(source, self.sample_weight, "the column of weights")
        ignored = {found(source, column, "the column to ignore") for column in self.ignore}
        if self.columns is None:
            left_out = {target, weight, source.own_target, *ignored}
            names = [name for name in source.kinds if name not in left_out]
        else:
            names = [found(source, column, "the column") for column in self.columns]
            self._check_once(source, names, {target: "the target", weight: "the column of weights"})
            names = [name for name in names if name not in ignored]
        if not names:
            raise TableError(f"{source.name}: there is no column besides the target.")
        kinds = source.kinds
        for name in (*names, *(name for name in (target, weight) if name is not None)):
            if kinds[name] == "other":
                raise _refused(source, name)
        if weight is not None and kinds[weight] != "number":
            raise TableError(f"{source.name}: the column of weights {weight!r} holds text; weights are numbers.")
        numbers = tuple(name for name in names if kinds[name] == "number")
        return Columns(numbers, tuple(name for name in names if kinds[name] == "category"), target, weight)

    @staticmethod
    def _check_once(source: HasColumns, names: Sequence[str], others: Mapping[str | None, str]) -> None:
        for name in names:
            if name in others or names.count(name) > 1:
                where = f"columns and {others[name]}" if name in others else "columns, twice"
                raise TableError(f"{source.name}: {name!r} is named in {where}. Name a column once.")


def found(source: HasColumns, column: Column, what: str) -> str:
    """Return the name of a column given by name or number; the error of an unknown name suggests the nearest name."""
    names = source.kinds
    if isinstance(column, str):
        if column in names:
            return column
        raise TableError(
            f"{source.name}: {what} {column!r} is not a column.{nearest(column, list(names))} "
            f"The columns are {some(list(names))}."
        )
    if not -len(names) <= column < len(names):
        raise TableError(
            f"{source.name}: {what} {column} is not a column: columns are numbered from 0 to {len(names) - 1}."
        )
    return list(names)[column]


def check_named(source: HasColumns, columns: Collection[Column], what: str) -> None:
    """Raise an error for a column that a source does not have."""
    for column in columns:
        found(source, column, what)


def _refused(source: HasColumns, name: str) -> TableError:
    return TableError(
        f"{source.name}: column {name!r} holds {source.type_of(name)}; columns must hold numbers or text. Turn it into "
        "numbers (dates: days since the first one), declare it categorical, or leave it out."
    )


def refuse_text(source: HasColumns, name: str) -> TableError:
    """Return the error for a column of text in X, with the ways to encode the column."""
    return TableError(
        f"{source.name}: column {name!r} holds text ({source.type_of(name)}), and X must hold numbers. Encode it "
        "(sklearn.preprocessing.OneHotEncoder; mercer train and mercer.learners.table_model.TableModel encode text "
        "themselves), or leave it out: ignore=[...]."
    )


def codes_of(values: Array) -> Codes:
    """Return text, or numbers that are categories, as codes; None and NaN are missing values.

    >>> import numpy as np
    >>> codes_of(np.array(["b", None, "a", "b"], dtype=object))
    Codes(codes=array([ 0, -1,  1,  0]), values=['b', 'a'])
    """
    if values.dtype.kind in "fiub":
        uniques, codes = np.unique(values, return_inverse=True)
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        return Codes(np.where(missing, -1, codes), [printed(value) for value in uniques.tolist()])
    known: dict[str, int] = {}
    codes = np.empty(len(values), dtype=np.int64)
    for i, value in enumerate(values.tolist()):
        missing_value = value is None or value != value  # noqa: PLR0124 - NaN alone differs from itself
        codes[i] = -1 if missing_value else known.setdefault(printed(value), len(known))
    return Codes(codes, list(known))


def printed(value: object) -> str:
    """Return a category as text: whole numbers without a decimal point, truth values in lower case."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def nearest(name: str, names: Sequence[str]) -> str:
    """Return ``" Did you mean 'x'?"``, or an empty text if no name is similar.

    >>> nearest("lable", ["label", "age"])
    " Did you mean 'label'?"
    """
    by_case = {other.lower(): other for other in names}
    close = get_close_matches(name.lower(), list(by_case), n=1, cutoff=0.6)
    return f" Did you mean {by_case[close[0]]!r}?" if close else ""


def some(names: Sequence[str], most: int = 8) -> str:
    """Return names for a message: the first few, and the number of the others.

    >>> some(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
