"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO


@contextmanager
def atomic_file(path: Any, *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """Give a binary file to write, which takes its place at ``path`` when the block ends without an error.

    Until then it stands beside it under another name. An error, a full disk or Ctrl-C removes it, and what stood at
    ``path`` before stays as it was.

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
    # Opened by hand, not by tempfile: the file then gets the permissions that any new file gets.
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            beside.replace(target)
        else:
            _take_place(beside, target)
        _sync_folder(target.parent)
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()


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
