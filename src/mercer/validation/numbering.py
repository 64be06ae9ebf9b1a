"""Numbers of rows in errors: counted from the start of the data, not of a block."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_first_row: ContextVar[int] = ContextVar("mercer_first_row", default=0)


@contextmanager
def rows_from(first_row: int) -> Iterator[None]:
    """Count rows from ``first_row`` in the errors raised inside: rows of a block then have their numbers in X."""
    token = _first_row.set(first_row)
    try:
        yield
    finally:
        _first_row.reset(token)


def row_number(row: int) -> int:
    """Return the number of a row to name in an error."""
    return _first_row.get() + row
