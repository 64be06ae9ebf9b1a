"""Readers: one kind of source, one file. None loads all of its source."""

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from mercer.data.readers.arrays import ArrayReader, npy_reader
from mercer.data.readers.arrow import ArrowReader, file_reader
from mercer.data.readers.base import Block, Reader, entries, own_rows, stacked
from mercer.data.readers.factory import FactoryReader, once_only
from mercer.data.readers.frames import PandasReader, PolarsReader
from mercer.data.readers.svmlight import SvmlightReader

__all__ = ["Block", "Reader", "SvmlightReader", "entries", "own_rows", "reader_of", "stacked"]

_SVMLIGHT = (".svm", ".svmlight", ".libsvm")


def reader_of(owner: str, X: Any, y: str | None = None, sample_weight: str | None = None) -> Reader:
    """Return the reader of a source; ``y`` and ``sample_weight`` name columns of it."""
    if isinstance(X, str | PathLike):
        return _reader_of_path(owner, Path(fspath(X)), y, sample_weight)
    room = type(X).__module__.partition(".")[0]
    if room == "pyarrow" and hasattr(X, "schema"):
        return ArrowReader(owner, X, y, sample_weight)
    if room in ("pandas", "polars") and hasattr(X, "columns") and hasattr(X, "__len__"):
        return (PandasReader if room == "pandas" else PolarsReader)(owner, X, y, sample_weight)
    for argument, name in (("y", y), ("sample_weight", sample_weight)):
        if name is not None:
            raise ValueError(f"{owner}: {argument} names a column, {name!r}, but X ({type(X).__name__}) has none.")
    if isinstance(X, Reader):
        return X
    if isinstance(X, Iterator):
        raise once_only(owner)
    return FactoryReader(owner, X) if callable(X) else ArrayReader(owner, X)


def _reader_of_path(owner: str, path: Path, y: str | None, sample_weight: str | None) -> Reader:
    if not path.exists():
        raise FileNotFoundError(f"{owner}: X names a file that does not exist, {str(path)!r}.")
    suffix = ".parquet" if path.is_dir() else path.suffix
    if suffix in (".parquet", ".csv"):
        return file_reader(owner, path, suffix[1:], y, sample_weight)
    if suffix == ".npy":
        return npy_reader(owner, path)
    if path.name.removesuffix(".gz").removesuffix(".bz2").endswith(_SVMLIGHT):
        return SvmlightReader(path)
    raise ValueError(
        f"{owner}: X names a file of unknown kind, {str(path)!r}; known are .npy, .parquet, .csv and "
        f"{', '.join(_SVMLIGHT)}. For svmlight under another name pass mercer.data.SvmlightReader(path)."
    )
