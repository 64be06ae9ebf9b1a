"""Where a command writes one result per row: a file that appears when it is complete, or one that can be continued."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mercer.cli.faults import INTERRUPTED, Fault, note
from mercer.cli.output import output_file

if TYPE_CHECKING:
    from mercer._typing import Array
    from mercer.cli.library import RowWriter, UnfinishedFile

# Seconds between two records of an output that can be continued.
EVERY = 1.0


@dataclass(frozen=True)
class OutputOptions:
    """The output file, and what is printed."""

    output: str = "-"
    force: bool = False
    resume: bool = False
    quiet: bool = False
    as_json: bool = False

    def check_resume(self, model: str, data: str) -> None:
        """Refuse --resume where there is no file to begin again with, or to continue."""
        if not self.resume:
            return
        for name, value in (("MODEL", model), ("DATA", data), ("--output", self.output)):
            if value == "-":
                raise click.UsageError(f"--resume needs files; {name} is -, which cannot be read or continued later.")
        if Path(self.output).exists() and not Path(self.output).is_file():
            raise click.UsageError(f"--resume needs a file as output; {self.output} is a device.")


class RowOutput:
    """Takes the results block by block; ``n_rows`` of them are written."""

    def __init__(self, writer: "RowWriter"):
        self._writer = writer

    @property
    def n_rows(self) -> int:
        """The number of rows written, those of earlier processes included."""
        return int(self._writer.state["rows"])

    def write(self, columns: "Sequence[Array]") -> None:
        """Write some rows: one array per column."""
        self._writer.write(columns)


class ResumedOutput(RowOutput):
    """Takes the results block by block, and records how far it is."""

    def __init__(self, writer: "RowWriter", unfinished: "UnfinishedFile"):
        super().__init__(writer)
        self._unfinished = unfinished
        self._whole, self._saved = (dict(writer.state), unfinished.file.tell()), time.monotonic()

    def write(self, columns: "Sequence[Array]") -> None:
        """Write some rows, and record them from time to time."""
        super().write(columns)
        self._whole = (dict(self._writer.state), self._unfinished.file.tell())
        if time.monotonic() - self._saved >= EVERY:
            self.save()

    def save(self) -> int:
        """Record the blocks that are written as a whole; return their number of rows."""
        state, n_bytes = self._whole
        self._unfinished.save(state, n_bytes)
        self._saved = time.monotonic()
        return int(state["rows"])


@contextmanager
def row_output(to: OutputOptions, kind: str, names: Sequence[str], facts: Mapping[str, str]) -> Iterator[RowOutput]:
    """Open the output of some columns; with --resume, continue one that was made of the same facts."""
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    if to.resume:
        with _resumed(to, kind, names, facts) as output:
            yield output
        return
    with output_file(to.output, force=to.force) as file:
        writer = library.row_writer(kind, names, file)
        yield RowOutput(writer)
        writer.close()


@contextmanager
def _resumed(to: OutputOptions, kind: str, names: Sequence[str], facts: Mapping[str, str]) -> Iterator[RowOutput]:
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    unfinished = library.UnfinishedFile(to.output, facts)
    as_pieces, state = kind in library.KEPT_AS_PIECES, unfinished.state or {}
    writer = library.PiecesWriter if as_pieces else library.writer_of(kind)
    output = ResumedOutput(opened := writer(unfinished.file, names, state), unfinished)
    if output.n_rows:
        note(f"{to.output}: {output.n_rows:,} rows are there already; going on after them.")
    try:
        yield output
        opened.close()
        if as_pieces:
            _assemble(to, kind, names, unfinished)
        else:
            unfinished.finish(overwrite=to.force)
    except (KeyboardInterrupt, SystemExit) as error:
        code = error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else INTERRUPTED
        if unfinished.file.closed:  # the output is complete
            raise
        raise Fault(f"interrupted; {_kept(output, unfinished)}", code) from None
    except (OSError, MemoryError):
        if not unfinished.file.closed:
            note(_kept(output, unfinished))
        raise
    except BaseException:  # rows that cannot be used: mended ones would be refused as another input
        unfinished.discard()
        raise


def _assemble(to: OutputOptions, kind: str, names: Sequence[str], unfinished: "UnfinishedFile") -> None:
    """Write the output from its pieces, and remove these."""
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    unfinished.file.seek(0)
    with library.atomic_file(to.output, overwrite=to.force) as whole:
        library.assemble(kind, names, unfinished.file, whole)
    unfinished.discard()


def _kept(output: ResumedOutput, unfinished: "UnfinishedFile") -> str:
    """Record what is written, and say how to go on."""
    try:
        n_rows = output.save()
    except OSError:  # a full disk: the record before this one stays
        n_rows = -1
    unfinished.close()
    kept = "the rows so far are" if n_rows < 0 else f"{n_rows:,} rows are"
    return f"{kept} kept in {unfinished.path}. Run the same command again to go on."


def file_facts(path: str) -> dict[str, str]:
    """Return what identifies the content of a file."""
    digest = blake2b(digest_size=8)
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return {f"the content of {path}": digest.hexdigest()}
