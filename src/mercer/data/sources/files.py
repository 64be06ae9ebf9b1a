"""From a path or a stream to a source; the list of file formats."""

import shutil
import tempfile
from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO

from mercer.data.columns import MissingFileError, TableError, check_named
from mercer.data.sources.base import Source
from mercer.data.sources.compression import uncompressed_name

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
    ".npz": "npz",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
# Text formats, which may be compressed. Other formats have their own compression, or are mapped into memory.
_TEXT = ("csv", "tsv", "svmlight")


def open_source(
    source: str | PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    categorical: tuple[str, ...] = (),
) -> Source:
    r"""Open a file, a folder of parquet or Arrow files, or a binary stream.

    Parameters
    ----------
    source : path or binary stream
        A csv stream is read once, while it arrives. A stream of another format is first copied to a temporary file.
    format : {"csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight"}, optional
        By default, the suffix of the file decides; csv for a stream.
    delimiter : str, optional
        The delimiter of csv files.
    header : bool, default=True
        Whether the first line of a csv file names the columns.
    categorical : names of columns
        Names of columns of numbers to treat as categories.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer.data import open_source
    >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> _ = open(path, "w").write("age,city\n30,Rome\n40,Oslo\n")
    >>> open_source(path).kinds
    {'age': 'number', 'city': 'category'}
    """
    if isinstance(source, str | PathLike):
        path = Path(fspath(source))
        kind = _known(format or _format_of(path))
        _check_exists(path)
        made = _opened(kind, path, delimiter, header=header, categorical=tuple(categorical))
    else:
        kind = _known(format or "csv")
        contents = source if kind in ("csv", "tsv") else _copied(source, kind)
        made = _opened(kind, contents, delimiter, header=header, categorical=tuple(categorical))
        made.name = "standard input"
    check_named(made, categorical, "the categorical column")
    return made


def _opened(kind: str, source: Any, delimiter: str | None, *, header: bool, categorical: tuple[str, ...]) -> Source:
    """Return the source of a format. Its module is imported here, because each format needs other packages."""
    if kind in ("csv", "tsv"):
        from mercer.data.sources.csv import CsvSource  # noqa: PLC0415 - see above

        separator = delimiter or ("\t" if kind == "tsv" else ",")
        return CsvSource(source, delimiter=separator, header=header, categorical=categorical)
    if kind in ("parquet", "arrow"):
        from mercer.data.sources.parquet import ArrowFiles  # noqa: PLC0415 - see above

        return ArrowFiles(source, kind, categorical=categorical)
    from mercer.data.sources.npy import NpySource, NpzSource  # noqa: PLC0415 - see above
    from mercer.data.sources.svmlight import SvmlightReader  # noqa: PLC0415 - see above

    matrices: dict[str, Callable[..., Source]] = {"npy": NpySource, "npz": NpzSource, "svmlight": SvmlightReader}
    return matrices[kind](source, categorical=categorical)


def _known(kind: str) -> str:
    if kind not in FORMATS:
        raise ValueError(f"open_source: format must be one of {', '.join(FORMATS)}, got {kind!r}.")
    return kind


def _check_exists(path: Path) -> None:
    if not path.exists():
        raise MissingFileError(f"{path}: there is no such file.")
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{path}: the file is empty.")


def _format_of(path: Path) -> str:
    if path.is_dir():
        found = {SUFFIXES.get(file.suffix) for file in path.rglob("*")} & {"parquet", "arrow"}
        if len(found) != 1:
            raise TableError(f"{path}: the folder must hold .parquet files or .arrow files.")
        return str(found.pop())
    stem = uncompressed_name(path.name)
    kind = SUFFIXES.get(Path(stem).suffix)
    if kind is None:
        _check_exists(path)
        raise TableError(
            f"{path}: the name does not tell the format; known are {', '.join(SUFFIXES)}. Rename the file, or name the "
            "format: open_source(path, format=...) and --format take one."
        )
    if stem != path.name and kind not in _TEXT:
        raise TableError(f"{path}: a compressed {kind} file cannot be read. Decompress it first.")
    return kind


def _copied(stream: BinaryIO, kind: str) -> Path:
    """Copy a stream to a temporary file, which is deleted at the end of the process."""
    suffix = {"svmlight": ".svm"}.get(kind, f".{kind}")
    folder = tempfile.TemporaryDirectory(prefix="mercer-")
    _folders.append(folder)
    path = Path(folder.name, f"stdin{suffix}")
    with path.open("wb") as file:
        shutil.copyfileobj(stream, file, 2**20)
    _check_exists(path)
    return path


_folders: list[tempfile.TemporaryDirectory[str]] = []
