"""Compressed files, by their suffixes."""

import bz2
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import BinaryIO

from mercer.data.columns import TableError

COMPRESSED = (".gz", ".bz2", ".zst")


def uncompressed_name(name: str) -> str:
    """Return the name of a file without the suffix of its compression.

    >>> uncompressed_name("rows.csv.gz")
    'rows.csv'
    """
    return next((name.removesuffix(suffix) for suffix in COMPRESSED if name.endswith(suffix)), name)


@contextmanager
def opened(path: str | PathLike[str]) -> Iterator[tuple[io.BufferedIOBase, BinaryIO]]:
    """Return the decompressed contents of a file, and the file on disk, whose position says how much has been read."""
    name = fspath(path)
    with open(name, "rb") as raw:
        if name.endswith(".gz"):
            with gzip.open(raw) as contents:
                yield contents, raw
        elif name.endswith(".bz2"):
            with bz2.open(raw) as contents:
                yield contents, raw
        elif name.endswith(".zst"):
            with _zstandard(name, raw) as contents:
                yield contents, raw
        else:
            yield raw, raw


def _zstandard(name: str, raw: BinaryIO) -> io.BufferedReader:
    from mercer.data.sources.arrow import pyarrow  # noqa: PLC0415 - optional

    pa = pyarrow(name)
    if not pa.Codec.is_available("zstd"):
        raise TableError(f"{name}: this pyarrow reads no .zst files. Decompress it first.")
    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"), 2**20)
