"""Failures, as one line and an exit code."""

import errno
import json
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import BinaryIO, NoReturn

import click

USAGE, DATA, MODEL, OUTPUT, INTERRUPTED, CLOSED_PIPE = 2, 3, 4, 5, 130, 141

EXIT_CODES = (
    "Exit codes: 0 done; 1 failed; 2 wrong use; 3 data that cannot be used; 4 a model file that cannot be used; "
    "5 output that cannot be written; 130 interrupted; 141 the reader of the output has gone."
)


class Fault(Exception):  # noqa: N818 - what went wrong may be the user's disk
    """A failure with its exit code, and lines that point to the place of the error."""

    def __init__(self, message: str, code: int = 1, pointer: Sequence[str] = ()):
        super().__init__(message)
        self.code, self.pointer = code, pointer


class ClosedPipe(Exception):  # noqa: N818 - no error: the reader has seen enough
    """The reader of the output has gone."""


class Interrupted(Exception):  # noqa: N818 - no error: the user has seen enough
    """Ctrl-C was pressed."""


def guarded(run: Callable[[Sequence[str]], object], args: Sequence[str] | None) -> NoReturn:
    """Run the command line and end the process, with no unfinished file and no traceback.

    ``MERCER_TRACEBACK=1`` shows the traceback of a failure.
    """
    given = list(sys.argv[1:] if args is None else args)
    as_json = "--json" in given
    try:
        if sys.stdout is None:
            raise Fault("standard output is closed. Open it, or send it to /dev/null.", OUTPUT)
        with warnings.catch_warnings(), _terminable():
            warnings.simplefilter("default")
            warnings.showwarning = _note  # type: ignore[assignment]
            code = run(given)
            sys.stdout.flush()
    except BaseException as error:
        if os.environ.get("MERCER_TRACEBACK") == "1" and not isinstance(error, SystemExit | click.exceptions.Exit):
            raise
        code, message = _verdict(error)
        if message:
            _say(message, code, () if as_json else getattr(error, "pointer", ()), as_json=as_json)
    raise SystemExit(code if isinstance(code, int) else 0)


def standard_input() -> BinaryIO:
    """Return standard input; an error if the shell has closed it."""
    if sys.stdin is None:
        raise Fault("standard input is closed, and - asks to read it.", DATA)
    return sys.stdin.buffer


def note(message: str) -> None:
    """Print a note to the user, which is not a failure; once per command, however often it is said."""
    notes = notes_so_far()
    if notes is not None and message in notes:
        return
    sys.stderr.write(f"mercer: note: {printable(message)}\n")
    if notes is not None:
        notes.append(message)


def notes_so_far() -> list[str] | None:
    """Return the notes of the running command, which its JSON repeats."""
    context = click.get_current_context(silent=True)
    notes: list[str] | None = None if context is None else context.find_root().meta.setdefault("notes", [])
    return notes


def _note(message: Warning | str, category: type[Warning], *place: object) -> None:
    if not issubclass(category, DeprecationWarning | PendingDeprecationWarning | ImportWarning | ResourceWarning):
        note(_one_line(message))


class _terminable:  # noqa: N801 - used as a context
    """SIGTERM ends the process like Ctrl-C, with clean-up."""

    def __enter__(self) -> None:
        self._before: signal.Handlers | int | Callable[[int, FrameType | None], object] | None = None
        with suppress(ValueError):  # only the main thread may
            self._before = signal.signal(signal.SIGTERM, self._stop)

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)

    @staticmethod
    def _stop(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)


def _verdict(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the message of a failure; the message may be empty."""
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, KeyboardInterrupt | SystemExit):
        # Python 3.11 wraps what a signal raises while a class is made, that is, during an import.
        error = error.__cause__
    if isinstance(error, Interrupted | click.Abort) and isinstance(error.__cause__, KeyboardInterrupt):
        error = error.__cause__
    if isinstance(error, SystemExit | click.exceptions.Exit):
        code = error.code if isinstance(error, SystemExit) else error.exit_code
        return (code if isinstance(code, int) else int(code is not None)), ""
    if isinstance(error, KeyboardInterrupt | Interrupted | click.Abort):
        return _of_interruption(error)
    if isinstance(error, BrokenPipeError | ClosedPipe):
        # What is still buffered must not be written when the interpreter ends.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE, ""
    if isinstance(error, click.ClickException):
        return error.exit_code, _one_line(error.format_message())
    if isinstance(error, Fault):
        return error.code, str(error)
    return _of_library(error)


def _of_interruption(error: BaseException) -> tuple[int, str]:
    stopped = getattr(sys.modules.get("mercer.checkpoints"), "FitInterrupted", None)
    if stopped is None or not isinstance(error, stopped):
        return INTERRUPTED, "interrupted; nothing was written."
    kept = f"interrupted; the fit so far is kept in {error.place}. Run the same command again to go on."
    return 128 + error.signal, kept


def _of_library(error: BaseException) -> tuple[int, str]:
    message = _one_line(error)
    for module, name, code in _KNOWN:
        kind = getattr(sys.modules.get(module), name, None)  # a class that was not imported was not raised
        if kind is not None and isinstance(error, kind):
            return code, message
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, ValueError | ImportError):
        return (USAGE if isinstance(error, ValueError) else 1), message
    if isinstance(error, MemoryError):
        return 1, message or "there is not enough memory. Take fewer components, or fewer rows."
    return 1, f"{type(error).__name__}: {message}. MERCER_TRACEBACK=1 shows where; please report it."


_KNOWN = (
    ("mercer.data.columns", "TableError", DATA),
    ("mercer.storage.errors", "ModelFileError", MODEL),
    ("mercer.bench.errors", "NotWrittenError", OUTPUT),
    ("mercer.bench.errors", "BenchError", DATA),
    ("mercer.datasets.errors", "DatasetError", DATA),
)


def _of_system(error: OSError) -> tuple[int, str]:
    place = f"{error.filename}: " if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return OUTPUT, f"{place}the disk is full ({error.strerror}); nothing was written."
    if error.errno is None:
        return (OUTPUT if isinstance(error, FileExistsError | IsADirectoryError) else 1), _one_line(error)
    return (OUTPUT if error.errno in (errno.EROFS, errno.EEXIST) else DATA), f"{place}{error.strerror}."


def _say(message: str, code: int, pointer: Sequence[str], *, as_json: bool) -> None:
    message = printable(message)
    line = json.dumps({"error": message, "exit_code": code}) if as_json else f"mercer: error: {message}"
    with suppress(OSError, ValueError):
        sys.stderr.write("\n".join([line, *pointer]) + "\n")
        sys.stderr.flush()


def printable(text: str) -> str:
    """Return text without control characters of terminals: names in a foreign file may contain anything."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)


def _one_line(message: object) -> str:
    return " ".join(str(message).split())
