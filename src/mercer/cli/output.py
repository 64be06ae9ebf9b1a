"""Results: JSON or text on standard output, files that appear whole or not at all, and progress bars."""

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, BinaryIO

import click

from mercer.cli.faults import OUTPUT, Fault, notes_so_far

if TYPE_CHECKING:
    from rich.console import Console

    from mercer.data import Source


def print_json(result: Mapping[str, object]) -> None:
    """Print a result as one JSON object, with the notes of the command."""
    click.echo(json.dumps({**result, "notes": notes_so_far() or []}, default=_plain, indent=2))


def _plain(value: object) -> object:
    """Return scalars and arrays of NumPy, and paths, as types of JSON."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def console(*, stderr: bool = False) -> "Console":
    """Return a console of rich, with 132 columns if the output is not a terminal."""
    from rich.console import Console  # noqa: PLC0415 - not for --help

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else 132, highlight=False, soft_wrap=False)


def fitted_to_terminal(line: str, indent: int) -> str:
    """Return a line broken between words at the width of the terminal; as it is where the output is no terminal."""
    if not sys.stdout.isatty():
        return line
    return fill(line, console().width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def check_output(path: str | None, *, force: bool) -> None:
    """Raise an error, before any work, if the output exists or cannot be written."""
    if path in (None, "-"):
        return
    target = Path(str(path))
    if target.is_dir():
        raise Fault(f"{path}: this is a folder; give the name of a file.", OUTPUT)
    if target.exists() and not force:
        raise Fault(f"{path}: the file exists; --force overwrites it.", OUTPUT)
    folder = target.parent
    if not folder.is_dir():
        raise Fault(f"{path}: there is no folder {str(folder)!r}.", OUTPUT)
    if not os.access(target if _is_device(target) else folder, os.W_OK):
        raise Fault(f"{path}: no permission to write there.", OUTPUT)


@contextmanager
def output_file(path: str, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file for writing: standard output for ``-``, else a file that appears when it is complete."""
    if path == "-":
        stream = sys.stdout.buffer
        yield stream
        stream.flush()
        return
    if _is_device(Path(path)):
        with open(path, "wb") as device:
            yield device
        return
    from mercer.storage import atomic_file  # noqa: PLC0415 - not for --help

    try:
        with atomic_file(path, overwrite=force) as file:
            yield file
    except FileExistsError:
        raise Fault(f"{path}: the file exists; --force overwrites it.", OUTPUT) from None
    except PermissionError as error:
        raise Fault(f"{path}: {error.strerror or error}.", OUTPUT) from None


def _is_device(path: Path) -> bool:
    """Return whether a path is a device or a named pipe, which is written to and not replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def progress(source: "Source", *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Show progress on a terminal: of the pass over a source, and of the stages of a fit that follow.

    Yields a function of the number of rows read.
    """
    if not shown or not sys.stderr.isatty():
        yield lambda rows: None
        return
    from mercer.fitting.progress import showing  # noqa: PLC0415 - not for --help
    from mercer.watching import State  # noqa: PLC0415 - not for --help

    done = 0
    with showing(console(stderr=True)) as show:

        def advance(rows: int) -> None:
            nonlocal done
            done += rows
            place, total = source.bytes_read() or (done, source.n_rows)
            show(State("reading", note=f"{done:,} rows", fraction=place / total if total else None))

        yield advance
