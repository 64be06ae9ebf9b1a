"""From a path to a table."""

import shutil
import tempfile
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO

from mercer.data.tables.arrow import ArrowTable
from mercer.data.tables.base import Table, TableError, check_columns
from mercer.data.tables.delimited import CsvTable
from mercer.data.tables.matrices import NpyTable, NpzTable, SvmlightTable

_SUFFIXES = {
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
FORMATS = tuple(dict.fromkeys(_SUFFIXES.values()))


def open_table(
    source: str | PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    categorical: tuple[str, ...] = (),
) -> Table:
    r"""Open a file, a folder of parquet or Arrow files, or a binary stream as a table.

    Parameters
    ----------
    source : path or binary stream
        A stream of csv is read as it comes, and once; of another format it is first copied to a temporary file.
    format : {"csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight"}, optional
        By default what the file's name says; csv for a stream.
    delimiter : str, optional
        Of csv files.
    header : bool, default=True
        Whether the first line of a csv file names the columns.
    categorical : names of columns
        Columns of numbers that are categories.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer.data.tables import open_table
    >>> path = os.path.join(tempfile.mkdtemp(), "people.csv")
    >>> _ = open(path, "w").write("age,city\n30,Rome\n40,Oslo\n")
    >>> open_table(path).kinds
    {'age': 'number', 'city': 'category'}
    """
    given = source
    if not isinstance(source, str | PathLike):
        kind = format or "csv"
        if kind not in ("csv", "tsv"):
            source = _copied(source, kind)
    else:
        kind = format or _format_of(Path(fspath(source)))
        _check_exists(Path(fspath(source)))
    if kind not in FORMATS:
        raise ValueError(f"open_table: format must be one of {', '.join(FORMATS)}, got {kind!r}.")
    path: Any = source
    if kind in ("csv", "tsv"):
        separator = delimiter or ("\t" if kind == "tsv" else ",")
        made: Table = CsvTable(path, delimiter=separator, header=header, categorical=categorical)
    elif kind in ("parquet", "arrow"):
        made = ArrowTable(path, kind, categorical=categorical)
    else:
        matrices: dict[str, type[NpyTable | NpzTable | SvmlightTable]] = {
            "npy": NpyTable,
            "npz": NpzTable,
            "svmlight": SvmlightTable,
        }
        made = matrices[kind](path, categorical=categorical)
    if not isinstance(given, str | PathLike):
        made.name = "standard input"
    check_columns(made, categorical, "the categorical column")
    return made


def _check_exists(path: Path) -> None:
    if not path.exists():
        raise TableError(f"{path}: there is no such file.")
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{path}: the file is empty.")


def _format_of(path: Path) -> str:
    if path.is_dir():
        found = {_SUFFIXES.get(file.suffix) for file in path.rglob("*")} & {"parquet", "arrow"}
        if len(found) != 1:
            raise TableError(f"{path}: the folder must hold .parquet files or .arrow files.")
        return str(found.pop())
    stem = path.name.removesuffix(".gz").removesuffix(".bz2")
    kind = _SUFFIXES.get(Path(stem).suffix)
    if kind is None:
        _check_exists(path)
        raise TableError(f"{path}: the name does not tell the format. Name one of {', '.join(FORMATS)}.")
    if stem != path.name and kind not in ("csv", "tsv", "svmlight"):
        raise TableError(f"{path}: a compressed {kind} file cannot be read. Decompress it first.")
    return kind


def _copied(stream: BinaryIO, kind: str) -> Path:
    """Copy a stream to a temporary file, which goes with the process."""
    suffix = {"svmlight": ".svm"}.get(kind, f".{kind}")
    folder = tempfile.TemporaryDirectory(prefix="mercer-")
    _folders.append(folder)
    path = Path(folder.name, f"stdin{suffix}")
    with path.open("wb") as file:
        shutil.copyfileobj(stream, file, 2**20)
    _check_exists(path)
    return path


_folders: list[Any] = []
