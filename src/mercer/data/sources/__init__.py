"""Sources of rows: one file per kind of source. No source loads all of its rows at once.

``source_of`` returns the source of any X of ``as_blocks``; ``open_source`` opens files of all formats.
"""

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from mercer.data.sources.arrays import ArraySource
from mercer.data.sources.base import Block, Reader, Source, entries, own_rows, stacked
from mercer.data.sources.files import FORMATS, open_source
from mercer.data.sources.generator import GeneratorSource, once_only
from mercer.data.sources.objects import ObjectSource
from mercer.data.sources.rows_after import RowsAfter
from mercer.structures import Ragged
from mercer.validation import collected

__all__ = [
    "FORMATS",
    "Block",
    "Reader",
    "RowsAfter",
    "Source",
    "entries",
    "open_source",
    "own_rows",
    "source_of",
    "stacked",
]


def source_of(owner: str, X: Any) -> Reader:
    """Return the source of a path, a frame, a pyarrow table or dataset, a function, an array, or a reader itself."""
    X = collected(X)
    if isinstance(X, str | PathLike):
        return open_source(Path(fspath(X)))
    if isinstance(X, Reader):
        return X
    if isinstance(X, Ragged):
        return ObjectSource(X)
    package = type(X).__module__.partition(".")[0]
    if package == "pyarrow" and hasattr(X, "schema"):
        from mercer.data.sources.arrow import TableSource  # noqa: PLC0415 - pyarrow is optional

        return TableSource(owner, X)
    if package in ("pandas", "polars") and hasattr(X, "columns") and hasattr(X, "__len__"):
        from mercer.data.sources.frames import PandasSource, PolarsSource  # noqa: PLC0415 - frames are rare here

        return (PandasSource if package == "pandas" else PolarsSource)(owner, X)
    if isinstance(X, Iterator):
        raise once_only(owner)
    return GeneratorSource(owner, X) if callable(X) else ArraySource(owner, X)
