"""Atomic writes: a file appears whole or not at all."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def atomic_file(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """Open a binary file for writing, which is renamed to ``path`` when the block ends without an error.

    Until then, the file has another name in the same folder. An error, a full disk or Ctrl-C removes it, and an older
    file at ``path`` stays. If the process is killed, the next write to ``path`` removes the unfinished file.

    Parameters
    ----------
    path : path
        A symbolic link is followed.
    overwrite : bool, default=True
        False: ``FileExistsError`` if ``path`` exists, at the start or when the file is complete.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file.")
    if not overwrite and target.exists():
        raise FileExistsError(f"{path} exists already.")
    _sweep(target)
    unfinished, descriptor = _created(target)
    lock = os.dup(descriptor)  # held until the file is renamed: another process removes files without a lock
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if fcntl is None:  # Windows moves no open file
            os.close(lock)
            lock = -1
        if overwrite:
            unfinished.replace(target)
        else:
            take_place(unfinished, target)
        _sync_folder(target.parent)
    finally:
        if lock >= 0:
            os.close(lock)
        with suppress(FileNotFoundError):
            unfinished.unlink()


def _created(target: Path) -> tuple[Path, int]:
    """Create the unfinished file in the folder of the target, locked while this process writes it."""
    while True:
        # Opened by hand, not by tempfile: the file then gets the permissions that any new file gets.
        unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        _lock(descriptor, wait=True)  # a process that looks for leftovers may hold it for a moment
        if os.fstat(descriptor).st_nlink > 0 or fcntl is None:
            return unfinished, descriptor
        os.close(descriptor)  # removed by another process before it was locked


def _sweep(target: Path) -> None:
    """Remove unfinished files of killed processes with the same target: files that no process has locked.

    The system releases a lock when its process ends, in whatever way. On Windows, a file that is being written cannot
    be removed. On a file system without locks, nothing is removed.
    """
    _remove_matching(target.parent, re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{8}\.part"))


def remove_unfinished(folder: Path, prefix: str) -> None:
    """Remove the unfinished files of killed processes in a folder, of all targets whose names begin with a prefix."""
    _remove_matching(folder, re.compile(re.escape(f".{prefix}") + r".*\.[0-9a-f]{8}\.part"))


def _remove_matching(folder: Path, left: "re.Pattern[str]") -> None:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if left.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_unlocked(entry.path)


class Lock:
    """A file that one process holds; the system lets it go when the process ends, in whatever way."""

    def __init__(self, path: Path, descriptor: int):
        self._path, self._descriptor = path, descriptor

    @classmethod
    def of(cls, path: Path) -> "Lock | None":
        """Return the lock of a path, or None where another process, or another part of this one, holds it.

        A file system without locks lets everybody have it.
        """
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            if fcntl is None:
                return cls(path, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return None
            except OSError:  # no locks here
                return cls(path, descriptor)
            if os.fstat(descriptor).st_nlink > 0:
                return cls(path, descriptor)
            os.close(descriptor)  # its last holder has removed it in between

    def release(self, *, remove: bool) -> None:
        """Let the lock go, and remove its file."""
        if self._descriptor < 0:
            return
        if remove and fcntl is not None:
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        if remove and fcntl is None:  # Windows removes no open file
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
        self._descriptor = -1


def _remove_unlocked(path: str) -> None:
    if fcntl is None:
        os.unlink(path)
        return
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if _lock(descriptor):
            os.unlink(path)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock a file, at once or after waiting for another process; return whether the file is locked now."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def take_place(unfinished: Path, target: Path) -> None:
    """Move without overwriting: a hard link fails if another process was first."""
    try:
        os.link(unfinished, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: check once more
        if target.exists():
            raise FileExistsError(f"{target} exists already.") from None
        unfinished.replace(target)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system lets a folder be opened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
