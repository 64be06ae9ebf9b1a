"""Columns of a source: their kinds, the choice of columns to read, and errors about columns."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, NamedTuple, Protocol
from warnings import warn

import numpy as np

from mercer._typing import Array

# "date": days since 1970, for sources whose rows are prepared. "object": sequences or graphs, for kernels on objects.
# "other": columns that no learner can use, such as lists. A file may have columns of the last two if they are not read.
Kind = Literal["number", "date", "category", "object", "other"]
# A column by its name, or by its number; -1 is the last column.
Column = str | int

_TAB = "\t"
# Delimiters of files that are called csv, other than the comma.
_DELIMITERS = (";", _TAB, "|")


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
    """The columns to read, by name: numbers, categories and dates in this order, the target and the weights.

    If ``objects`` names a column, its strings or graphs are X, and there are no numbers or categories.

    >>> Columns(("age",), ("city",), target="income").all
    ('age', 'city', 'income')
    """

    numbers: tuple[str, ...]
    categories: tuple[str, ...] = ()
    target: str | None = None
    weight: str | None = None
    objects: str | None = None
    dates: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """All names."""
        single = (name for name in (self.objects, self.target, self.weight) if name is not None)
        return (*self.numbers, *self.dates, *self.categories, *single)


class HasColumns(Protocol):
    """An object with named columns, from which ``Choice`` selects."""

    name: str
    own_target: str | None
    own_objects: str | None

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
    text : str or int, optional
        The column of text that is X, for a kernel on strings. Other columns are then not read.
    """

    target: Column | None = None
    columns: tuple[Column, ...] | None = None
    ignore: tuple[Column, ...] = ()
    sample_weight: Column | None = None
    text: Column | None = None

    def of(self, source: HasColumns) -> Columns:
        """Return the chosen columns of a source; an unknown name is an error."""
        target = source.own_target if self.target is None else found(source, self.target, "the target")
        weight = None if self.sample_weight is None else found(source, self.sample_weight, "the column of weights")
        ignored = {found(source, column, "the column to ignore") for column in self.ignore}
        objects = source.own_objects if self.text is None else found(source, self.text, "the column of text")
        if objects is not None:
            return self._with_objects(source, objects, target, weight)
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
        _check_usable(source, names)
        _check_labels(source, target, weight)
        numbers, categories, dates = (
            tuple(name for name in names if kinds[name] == kind) for kind in ("number", "category", "date")
        )
        return Columns(numbers, categories, target, weight, dates=dates)

    def _with_objects(self, source: HasColumns, objects: str, target: str | None, weight: str | None) -> Columns:
        """Return a choice whose X is one column of objects."""
        if self.columns is not None:
            raise TableError(f"{source.name}: X is the column {objects!r} alone; leave columns out.")
        if objects in (target, weight):
            raise TableError(f"{source.name}: {objects!r} is the column of objects; name another target or weight.")
        if source.kinds[objects] not in ("category", "object"):
            raise TableError(
                f"{source.name}: column {objects!r} holds {source.type_of(objects)}, and the column of text must hold "
                "text. Name another column, or declare it categorical."
            )
        _check_labels(source, target, weight)
        return Columns((), (), target, weight, objects)

    @staticmethod
    def _check_once(source: HasColumns, names: Sequence[str], others: Mapping[str | None, str]) -> None:
        for name in names:
            if name in others or names.count(name) > 1:
                where = f"columns and {others[name]}" if name in others else "columns, twice"
                raise TableError(f"{source.name}: {name!r} is named in {where}. Name a column once.")


def _check_usable(source: HasColumns, names: Sequence[str]) -> None:
    for name in names:
        if source.kinds[name] in ("object", "other"):
            raise _refused(source, name)


def _check_labels(source: HasColumns, target: str | None, weight: str | None) -> None:
    _check_usable(source, [name for name in (target, weight) if name is not None])
    if target is not None and source.kinds[target] == "date":
        raise TableError(
            f"{source.name}: the target {target!r} holds dates; it must hold numbers or labels. Make it a number, such "
            "as days since the first date."
        )
    if weight is not None and source.kinds[weight] != "number":
        raise TableError(f"{source.name}: the column of weights {weight!r} holds text; weights are numbers.")


def found(source: HasColumns, column: Column, what: str) -> str:
    """Return the name of a column given by name or number; the error of an unknown name suggests the nearest name."""
    names = source.kinds
    if isinstance(column, str):
        if column in names:
            return column
        raise TableError(
            f"{source.name}: {what} {column!r} is not a column.{nearest(column, list(names))} "
            f"The columns are {some(list(names))}.{misread(list(names))}"
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
        f"{source.name}: column {name!r} holds {source.type_of(name)}; columns must hold numbers, text or dates. Turn "
        f"it into one of them, or leave it out (ignore=[{name!r}], in the shell --ignore {name})."
    )


def refuse_text(source: HasColumns, name: str) -> TableError:
    """Return the error for a column of text or dates in X, with the ways to encode the column."""
    what = "dates" if source.kinds[name] == "date" else "text"
    return TableError(
        f"{source.name}: column {name!r} holds {what} ({source.type_of(name)}), and X must hold numbers. "
        f"TunedRegressor and TunedClassifier (of data frames) and mercer.learners.TableModel (of files and frames, "
        f"with any learner) take {what}; or encode it (sklearn.preprocessing), leave it out: ignore=[{name!r}], or "
        "take text as the strings of a kernel: text=...."
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


def number_in(text: str) -> float:
    """Return the number that a text holds; NaN where it holds none.

    >>> number_in(" 1.5"), number_in("about 2")
    (1.5, nan)
    """
    try:
        return float(text)
    except ValueError:
        return float("nan")


# Of the values of a column of text, the share of those that are no numbers at which it is taken for a mistake.
_FEW_WRONG, _LEAST_VALUES = 0.1, 10


def warn_of_text(owner: str, name: str, values: Iterable[tuple[str, str]]) -> None:
    """Warn of a column of text that is numbers but for a few values; ``values`` are pairs of a place and a text."""
    n_values, n_wrong, first = 0, 0, ("", "")
    for place, text in values:
        n_values += 1
        if number_in(text) != number_in(text):
            first = first if n_wrong else (place, text)
            n_wrong += 1
    if 0 < n_wrong <= _FEW_WRONG * n_values and n_values >= _LEAST_VALUES:
        warn(
            f"{owner} {first[0]}: column {name!r} is read as text because of {first[1]!r} there; {n_wrong:,} of the "
            f"first {n_values:,} values are not numbers. Correct it, or read the column as numbers, where others are "
            f"missing (types={{{name!r}: 'number'}}, in the shell --type {name}=number).",
            TableWarning,
            stacklevel=4,
        )


def nearest(name: str, names: Sequence[str]) -> str:
    """Return ``" Did you mean 'x'?"``, or an empty text if no name is similar.

    >>> nearest("lable", ["label", "age"])
    " Did you mean 'label'?"
    """
    by_case = {other.lower(): other for other in names}
    close = get_close_matches(name.lower(), list(by_case), n=1, cutoff=0.6)
    return f" Did you mean {by_case[close[0]]!r}?" if close else ""


def misread(names: Sequence[str]) -> str:
    """Return what to try where names look like those of a file read with another delimiter, or without its header.

    >>> misread(["a;b;c"])
    " The file seems to be delimited by ';': open_source(path, delimiter=';'), in the shell --delimiter ';'."
    >>> misread(["1.5", "red"])
    ' The first line seems to hold values, not names: open_source(path, header=False), in the shell --no-header.'
    >>> misread(["a", "b"])
    ''
    """
    mark = next((mark for mark in _DELIMITERS if len(names) == 1 and mark in names[0]), None)
    if mark is not None:
        written = repr(mark)
        how = f"open_source(path, delimiter={written}), in the shell --delimiter {'$' if mark == _TAB else ''}{written}"
        return f" The file seems to be delimited by {written}: {how}."
    if any("." in name and _is_number(name) for name in names):  # columns of frames are often called 0, 1, 2
        how = "open_source(path, header=False), in the shell --no-header"
        return f" The first line seems to hold values, not names: {how}."
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def some(names: Sequence[str], most: int = 8) -> str:
    """Return names for a message: the first few, and the number of the others.

    >>> some(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
