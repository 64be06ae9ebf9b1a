"""Files that appear whole or not at all."""

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
    """Give a binary file to write, which takes its place at ``path`` when the block ends without an error.

    Until then it stands beside it under another name. An error, a full disk or Ctrl-C removes it, and what stood at
    ``path`` before stays as it was. If the process is killed, the next write to ``path`` removes what it left.

    Parameters
    ----------
    path : path
        A symbolic link is followed.
    overwrite : bool, default=True
        False: ``FileExistsError`` where ``path`` exists, at the start or by the time the file is written.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file.")
    if not overwrite and target.exists():
        raise FileExistsError(f"{path} exists already.")
    _sweep(target)
    beside, descriptor = _created(target)
    lock = os.dup(descriptor)  # held until the file has its place: unlocked, it could be swept
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if fcntl is None:  # Windows moves no open file
            os.close(lock)
            lock = -1
        if overwrite:
            beside.replace(target)
        else:
            _take_place(beside, target)
        _sync_folder(target.parent)
    finally:
        if lock >= 0:
            os.close(lock)
        with suppress(FileNotFoundError):
            beside.unlink()


def _created(target: Path) -> tuple[Path, int]:
    """Create the file beside a target, locked for as long as this process writes it."""
    while True:
        # Opened by hand, not by tempfile: the file then gets the permissions that any new file gets.
        beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        _lock(descriptor, wait=True)  # a process that looks for leftovers may hold it for a moment
        if os.fstat(descriptor).st_nlink > 0 or fcntl is None:
            return beside, descriptor
        os.close(descriptor)  # swept by another process before it was locked


def _sweep(target: Path) -> None:
    """Remove what writers of the same target left that were killed: files whose lock nobody holds.

    The system gives a lock back when its process ends, however it ends. On Windows a file that is being written cannot
    be removed. A file system without locks keeps everything.
    """
    left = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{8}\.part")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if left.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_unlocked(entry.path)


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
    """Lock a file, if nobody else has it locked or after waiting for them; return whether that was done."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _take_place(beside: Path, target: Path) -> None:
    """Move without overwriting: a hard link fails where another process was first."""
    try:
        os.link(beside, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: what is left is to look once more
        if target.exists():
            raise FileExistsError(f"{target} exists already.") from None
        beside.replace(target)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system lets a folder be opened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
