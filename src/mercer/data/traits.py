"""What a source looks like without a pass over its rows: a checkpoint refuses to go on with another source."""

import os
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

import numpy as np

from mercer._typing import Array
from mercer.data.blocks import Blocks
from mercer.data.sources import Reader, Source
from mercer.data.sources.arrays import ArraySource
from mercer.data.sources.generator import GeneratorSource
from mercer.data.sources.objects import ObjectSource
from mercer.structures import Ragged


def traits_of(blocks: Blocks) -> dict[str, str]:
    """Return facts about rows, by name: other rows have other facts, as far as these can be known without a pass.

    The size and the time of change of files, the hash of rows in memory; of a function that returns iterators, the hash
    of the first block.

    >>> import numpy as np
    >>> from mercer.data import as_blocks
    >>> traits_of(as_blocks(np.eye(2)))["the number of columns"]
    '2'
    """
    facts = {
        "the number of columns": str(blocks.width),
        "the type of X": str(blocks.dtype),
        "the layout of X": "CSR" if blocks.is_sparse else "dense",
    }
    if blocks.names is not None:
        facts["the names of the columns"] = _hash(repr(blocks.names).encode())
    if blocks.plan is not None:
        facts["the rows of the partitions"] = _hash(repr(blocks.plan).encode())
    if blocks.reader.n_rows is not None:
        facts["the number of rows"] = str(blocks.reader.n_rows)
    return facts | _content(blocks)


def traits_of_source(source: Source) -> dict[str, str]:
    """Return facts about a table: its columns, and the size and the time of change of its files."""
    return {"the columns": _hash(repr(dict(source.kinds)).encode()), **_of_files(source)}


def _content(blocks: Blocks) -> dict[str, str]:
    reader = blocks.reader
    if files := _of_files(reader):
        given = blocks.given_y
        return files if given is None else files | {"the hash of y": _hash(_bytes(given))}
    if isinstance(reader, ArraySource | ObjectSource):
        return {"the hash of X, y and the weights": blocks.fingerprint}
    if blocks.reader.plan is not None:  # the partitions of a collection may be large, and elsewhere
        return {}
    first = next(blocks.labelled()).X
    if isinstance(first, Ragged):
        return {}
    rows = first if isinstance(first, np.ndarray) else first.toarray()
    return {"the hash of the first rows": _hash(_bytes(rows))}


def _of_files(reader: Reader) -> dict[str, str]:
    """Return the size and the time of change of the file or the files of a folder; nothing for other sources."""
    name = getattr(reader, "name", None)
    in_memory = type(reader) in (ArraySource, GeneratorSource)  # named after the estimator
    if not isinstance(name, str) or in_memory or not os.path.exists(name):
        return {}
    path = Path(name)
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    states = [file.stat() for file in files]
    newest = max(state.st_mtime_ns for state in states)
    said = datetime.fromtimestamp(newest / 1e9, tz=UTC).isoformat(timespec="microseconds")
    facts = {f"the size of {name}": f"{sum(state.st_size for state in states):,} bytes", f"the time of {name}": said}
    return facts if path.is_file() else facts | {f"the number of files in {name}": str(len(files))}


def _bytes(values: Array) -> bytes:
    return repr(values.tolist()).encode() if values.dtype.kind == "O" else np.ascontiguousarray(values).tobytes()


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
