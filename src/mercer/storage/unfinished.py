"""Outputs that a new process continues: the file so far, and a record of how far it is and what it is made of."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

from mercer.checkpoints import CheckpointError, changes
from mercer.storage.files import Lock, atomic_file, take_place

State: TypeAlias = Mapping[str, int | str]


class UnfinishedFile:
    """A file that is being written, under another name than its target, with a record in JSON.

    The record names the facts that the file depends on, such as the size and the time of the input. It is written after
    the bytes that it counts are on the disk. A process that continues the file cuts off what was written after the last
    record. A file is written by one process at a time.

    Parameters
    ----------
    target : path
        The name of the file when it is complete.
    facts : mapping
        What must be the same in every process that writes a part of the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer.storage.unfinished import UnfinishedFile
    >>> target = Path(tempfile.mkdtemp(), "rows.csv")
    >>> begun = UnfinishedFile(target, {"the size of the input": "5"})
    >>> _ = begun.file.write(b"one line, ")
    >>> begun.save({"rows": 1})
    >>> _ = begun.file.write(b"a line without a record")
    >>> begun.close()
    >>> again = UnfinishedFile(target, {"the size of the input": "5"})
    >>> again.state, again.file.write(b"and the next one")
    ({'rows': 1}, 16)
    >>> again.finish()
    >>> target.read_text()
    'one line, and the next one'
    """

    def __init__(self, target: str | os.PathLike[str], facts: Mapping[str, str]):
        self._target, self._facts = Path(os.path.realpath(target)), dict(facts)
        self.path = self._target.with_name(f".{self._target.name}.unfinished")
        self._record = self.path.with_name(f"{self.path.name}.json")
        remove_lost_record(self._target)
        self._lock = self._locked()
        try:
            self.state, n_bytes = self._known()
            self.file: BinaryIO = open(self.path, "r+b" if self.path.exists() else "w+b")  # noqa: SIM115 - closed below
            self.file.truncate(n_bytes)
            self.file.seek(n_bytes)
        except BaseException:
            self._lock.release(remove=True)
            raise

    def save(self, state: State, n_bytes: int | None = None) -> None:
        """Record that all bytes so far, or the first of them, are part of the file, and what its writer needs."""
        self.file.flush()
        os.fsync(self.file.fileno())
        n_bytes = self.file.tell() if n_bytes is None else n_bytes
        record = {"facts": self._facts, "bytes": n_bytes, "state": dict(state)}
        with atomic_file(self._record) as file:
            file.write(json.dumps(record).encode())

    def close(self) -> None:
        """Close the file; what is recorded stays for another process."""
        with suppress(OSError):  # a full disk: the bytes after the last record are lost anyway
            self.file.close()
        self._lock.release(remove=True)

    def discard(self) -> None:
        """Close and remove the file and its record."""
        self.close()
        self._remove()

    def finish(self, *, overwrite: bool = False) -> None:
        """Give the file its name; ``FileExistsError`` if there is one and ``overwrite`` is False."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        try:
            if overwrite:
                self.path.replace(self._target)
            else:
                take_place(self.path, self._target)
            self._remove()
        finally:
            self._lock.release(remove=True)

    def _remove(self) -> None:
        self.path.unlink(missing_ok=True)  # the file first: a record without a file is removed by the next process
        self._record.unlink(missing_ok=True)

    def _locked(self) -> Lock:
        lock = Lock.of(self.path.with_name(f"{self.path.name}.lock"))
        if lock is None:
            raise CheckpointError(
                f"{self._target}: another process is writing it. Wait until it has ended, or name another output."
            )
        return lock

    def _known(self) -> tuple[State | None, int]:
        """Return the recorded state and the number of bytes that it stands for."""
        if not self._record.exists():
            return None, 0
        try:
            record = json.loads(self._record.read_text())
            facts, state, n_bytes = dict(record["facts"]), dict(record["state"]), int(record["bytes"])
            is_whole = self.path.stat().st_size >= n_bytes
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{self._record}: this record is damaged ({error}). {self._way_out}") from error
        if not is_whole:
            raise CheckpointError(f"{self.path}: it has fewer bytes than its record says. {self._way_out}")
        if changed := changes(facts, self._facts):
            raise CheckpointError(
                f"{self._target}: what an earlier run has written of it was made of something else: {changed}. "
                f"Repeat the command as it was. {self._way_out}"
            )
        return state, n_bytes

    @property
    def _way_out(self) -> str:
        return f"To begin again, delete {self.path}."


def remove_lost_record(target: str | os.PathLike[str]) -> None:
    """Remove the record of an output whose process was killed after the output had its name."""
    path = Path(os.path.realpath(target))
    if not path.with_name(f".{path.name}.unfinished").exists():
        path.with_name(f".{path.name}.unfinished.json").unlink(missing_ok=True)
