"""What a table is: named columns of numbers and of categories, read a batch of rows at a time."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from mercer._typing import Array

Kind = Literal["number", "category"]

# Rows a batch, where the source leaves the choice to us.
BATCH_ROWS = 4096


class TableError(ValueError):
    """Rows or columns that cannot be used; the message names the file, the place, the rule and the way out."""


class TableWarning(UserWarning):
    """Something about the rows that was handled, and that their owner may want to know."""


class Codes(NamedTuple):
    """A column of categories: one code a row, an index into ``values``, or -1 where the row has none."""

    codes: Array
    values: Sequence[str]


@dataclass(frozen=True)
class Wanted:
    """The columns to read: numbers and categories in this order, and the target."""

    numbers: tuple[str, ...]
    categories: tuple[str, ...] = ()
    target: str | None = None


class Batch(NamedTuple):
    """Some rows: ``numbers`` of shape (n, k), NaN where missing, or CSR; a ``Codes`` for each column of categories."""

    numbers: Any
    categories: tuple[Codes, ...] = ()
    target: Array | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.numbers.shape[0])


class Table(ABC):
    """Rows of named columns, each of numbers or of categories (text).

    A subclass sets ``name`` (whom errors name), ``kinds`` (of each column, in order) and what else it knows, and writes
    ``batches``.
    """

    name: str
    kinds: dict[str, Kind]
    is_sparse: bool = False
    n_rows: int | None = None
    # Whether another pass costs little: a text file must be parsed anew, a stream cannot be read twice.
    rereadable: bool = True
    # A name of the target that the source itself gives, such as the labels of svmlight files.
    own_target: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.kinds)

    @abstractmethod
    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        """Yield all rows in order, a batch at a time; each call begins at the first row."""

    def bytes_read(self) -> tuple[int, int] | None:
        """Return how many bytes of how many the running pass has read, where it is known: for progress."""
        return None


def nearest(name: str, names: Sequence[str]) -> str:
    """Return ``" Did you mean 'x'?"``, or nothing where no name is near.

    >>> nearest("lable", ["label", "age"])
    " Did you mean 'label'?"
    """
    by_case = {other.lower(): other for other in names}
    close = get_close_matches(name.lower(), list(by_case), n=1, cutoff=0.6)
    return f" Did you mean {by_case[close[0]]!r}?" if close else ""


def some(names: Sequence[str], most: int = 8) -> str:
    """Return names for a message: the first few, and how many more there are.

    >>> some(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def check_columns(table: Table, names: Sequence[str], what: str) -> None:
    """Refuse names that the table does not have, with the nearest one."""
    for name in names:
        if name not in table.kinds:
            raise TableError(
                f"{table.name}: {what} {name!r} is not a column.{nearest(name, table.names)} "
                f"The columns are {some(table.names)}."
            )
