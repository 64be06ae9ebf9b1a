"""From a path or a stream to a source; the list of file formats."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
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
    ".fasta": "fasta",
    ".fa": "fasta",
    ".fna": "fasta",
    ".faa": "fasta",
}
# The suffix .txt stands for csv: lines are asked for by name. A folder with the file NAME_A.txt is a TU data set.
FORMATS = (*dict.fromkeys(SUFFIXES.values()), "lines", "tu")
# Text formats, which may be compressed. Other formats have their own compression, or are mapped into memory.
_TEXT = ("csv", "tsv", "svmlight", "fasta")


def open_source(
    source: str | PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    categorical: tuple[str, ...] = (),
    types: Mapping[str, str] | None = None,
) -> Source:
    r"""Open a file, a folder of parquet or Arrow files or of a TU data set of graphs, or a binary stream.

    Parameters
    ----------
    source : path or binary stream
        A csv stream is read once, while it arrives. A stream of another format is first copied to a temporary file.
    format : {"csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight", "fasta", "lines", "tu"}, optional
        By default, the suffix of the file decides; csv for a stream. "lines": each line of a text file is an object.
    delimiter : str, optional
        The delimiter of csv files.
    header : bool, default=True
        Whether the first line of a csv file names the columns.
    categorical : names of columns
        Names of columns of numbers to treat as categories.
    types : dict from names of columns to {"number", "category", "date"}, optional
        How columns are read, whatever their first values look like. In a column of text that is read as numbers, what
        is not a number is missing.

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
    if types:
        check_named(made, list(types), "the column of types")
        made.read_as(types)
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
    if kind in ("fasta", "lines", "tu"):
        return _opened_objects(kind, source, categorical)
    from mercer.data.sources.npy import NpySource, NpzSource  # noqa: PLC0415 - see above
    from mercer.data.sources.svmlight import SvmlightReader  # noqa: PLC0415 - see above

    matrices: dict[str, Callable[..., Source]] = {"npy": NpySource, "npz": NpzSource, "svmlight": SvmlightReader}
    return matrices[kind](source, categorical=categorical)


def _opened_objects(kind: str, source: Any, categorical: tuple[str, ...]) -> Source:
    """Return the source of a format of objects."""
    from mercer.data.sources.fasta import FastaSource  # noqa: PLC0415 - see above
    from mercer.data.sources.lines import LinesSource  # noqa: PLC0415 - see above
    from mercer.data.sources.tu import TuSource  # noqa: PLC0415 - see above

    sources: dict[str, Callable[..., Source]] = {"fasta": FastaSource, "lines": LinesSource, "tu": TuSource}
    return sources[kind](source, categorical=categorical)


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
        from mercer.data.sources.tu import is_tu_folder  # noqa: PLC0415 - see above

        if is_tu_folder(path):
            return "tu"
        found = {SUFFIXES.get(file.suffix) for file in path.rglob("*")} & {"parquet", "arrow"}
        if len(found) != 1:
            raise TableError(
                f"{path}: the folder must hold .parquet files, .arrow files, or the text files of a TU data set."
            )
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
    if kind == "tu":
        raise TableError("standard input: a TU data set is a folder of files. Name the folder.")
    suffix = {"svmlight": ".svm"}.get(kind, f".{kind}")
    folder = tempfile.TemporaryDirectory(prefix="mercer-")
    _folders.append(folder)
    path = Path(folder.name, f"stdin{suffix}")
    with path.open("wb") as file:
        shutil.copyfileobj(stream, file, 2**20)
    _check_exists(path)
    return path


_folders: list[tempfile.TemporaryDirectory[str]] = []
