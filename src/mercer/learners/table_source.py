"""From a path, a data frame, a pyarrow table or blocks to a source with named columns."""

from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from typing import TypeAlias
from warnings import warn

from mercer.data import Blocks, Columns, Source, TableError, TableWarning
from mercer.data.columns import Kind, found, nearest, some
from mercer.data.frame_columns import Frame, is_frame
from mercer.data.raw_source import RawSource, opened_table
from mercer.data.raw_table import RawTable
from mercer.validation import collected

# What a model of a table is fitted on and predicts.
Table: TypeAlias = str | PathLike[str] | Frame | Source | Blocks
_KINDS = {"number": "number", "date": "date", "categories": "category"}


def opened(owner: str, table: Table, *, objects: bool = False) -> Source:
    """Return the source of a table; errors begin with ``owner``, or with the path of a file.

    With ``objects``, text may be the strings of a kernel.
    """
    return opened_table(owner, table.reader if isinstance(table, Blocks) else table, objects=objects)


def without(owner: str, table: Table, ignore: Collection[str | int]) -> tuple[Table, list[str]]:
    """Return a table and the names of the columns to ignore; of a data frame, these are never looked at."""
    table = collected(table)
    if not is_frame(table) or isinstance(table, RawTable):
        source = opened(owner, table)
        return source, [found(source, column, "the column to ignore") for column in ignore]
    names = [str(name) for name in table.columns]
    ignored = named(owner, names, ignore)
    return RawTable.of(owner, table, only={*names} - {*ignored}), ignored


def named(
    owner: str, names: Sequence[str], columns: Collection[str | int], what: str = "the column to ignore"
) -> list[str]:
    """Return the names of columns that are given by name or number, of a table with these names."""
    return [found(_Names(owner, names), column, what) for column in columns]


def matched(owner: str, table: Table, kinds: Mapping[str, str], known: Collection[str | None]) -> Source:
    """Return the source of new rows, with the columns that a model needs: a mapping from names to kinds.

    A column that is missing is an error. Columns that are neither needed nor ``known`` cause a warning. In sources
    without names, the columns are taken by their number.
    """
    table = collected(table)
    if is_frame(table) and not isinstance(table, RawTable):
        names = [str(name) for name in table.columns]
        _warn_of(owner, names, {*kinds, *known})
        raw = RawTable.of(owner, table, only=kinds).matched(owner, kinds)
        return _chosen(RawSource(owner, raw), kinds)
    source = opened(owner, table)
    declare = getattr(source, "declare", None)
    if declare is not None:
        declare({name: _KINDS[kind] for name, kind in kinds.items()})
    own = source.kinds
    missing = [name for name in kinds if name not in own]
    if missing and not source.is_sparse:  # the last columns of a sparse file may be empty
        free = [name for name in own if name not in kinds]
        raise TableError(
            f"{source.name}: the model needs the column{'s' * (len(missing) > 1)} {some(missing)}."
            f"{nearest(missing[0], free)}"
        )
    _warn_of(source.name, list(own), {*kinds, *known, source.own_target})
    return _chosen(source, kinds)


def _chosen(source: Source, kinds: Mapping[str, str]) -> Source:
    """Choose the columns of these names, each of the kind that it has in the source."""
    own = source.kinds
    numbers, dates, categories = (
        tuple(name for name in kinds if own.get(name, "number") == kind) for kind in ("number", "date", "category")
    )
    return source.choose(Columns(numbers, categories, dates=dates))


def _warn_of(owner: str, names: Sequence[str], known: Collection[str | None]) -> None:
    extra = [name for name in names if name not in known]
    if extra:
        warn(f"{owner}: columns that the model does not know, ignored: {some(extra)}.", TableWarning, stacklevel=5)


class _Names:
    """The names of the columns of a frame, for messages."""

    own_target: str | None = None
    own_objects: str | None = None

    def __init__(self, name: str, names: Sequence[str]):
        self.name = name
        self.kinds: Mapping[str, Kind] = dict.fromkeys(names, "other")

    def type_of(self, column: str) -> str:
        return "a column"
