"""Results of streams in chunks of many rows: scores as sums, and predictions written to a file."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, RowsLike
from mercer.data import Block, Blocks, as_blocks
from mercer.data.lazy import lazily
from mercer.data.sources.collections import Collection
from mercer.data.writers import NpyWriter
from mercer.engines import engine_for
from mercer.learners.far_rows import GatheredFarRows
from mercer.stats import Statistic
from mercer.validation import check_weights

# Rows per chunk, and the most bytes of them: the threads of a prediction share a chunk.
_CHUNK_ROWS, _CHUNK_BYTES = 2**16, 2**26


class Predicting(Protocol):
    """An estimator that predicts rows of blocks."""

    def predict(self, X: Blocks) -> Array:
        """Return the prediction for each row."""


class Score(Statistic, Protocol):
    """A statistic of targets, predictions and weights."""


S = TypeVar("S", bound=Score)
# Where results are written: an array of their shape, or the path of a .npy file.
Out: TypeAlias = "Array | str | os.PathLike[str] | None"


def required(owner: str, y: ArrayLike | None) -> ArrayLike:
    """Return the y that predictions are scored with; it must be given."""
    if y is None:
        raise ValueError(f"{owner}: score needs y: score(X, y), or score(as_blocks(X, y)).")
    return y


def score_of(estimator: Predicting, blocks: Blocks, total: S) -> S:
    """Add the predictions for all blocks to a score; one chunk of predictions is in memory."""
    name = type(estimator).__name__
    if not blocks.is_labelled:
        raise ValueError(f"{name}: score needs y: score(X, y), or score(as_blocks(X, y)).")
    engine = engine_for(blocks)
    if not engine.shares_memory:
        return engine.reduce(_ScoreOfBlock(estimator, total), blocks.recut(_block_rows(blocks), name), total)
    for block, predicted in _results(estimator, "predict", blocks):
        _add(name, total, block, predicted)
    return total


@dataclass(frozen=True)
class _ScoreOfBlock(Generic[S]):
    """The score of one block, as work that travels."""

    estimator: Predicting
    empty: S

    def __call__(self, block: Block) -> S:
        name, part = type(self.estimator).__name__, self.empty.zero()
        _add(name, part, block, self.estimator.predict(as_blocks(block.X, owner=name)))
        return part


def _add(name: str, total: Score, block: Block, predicted: Array) -> None:
    assert block.y is not None  # noqa: S101 - the blocks are labelled
    weight = block.sample_weight
    if weight is not None:
        weight = check_weights(name, weight, block.n_rows, all_zero=True)
    total.update(block.y, predicted, weight)


def lazy_results(estimator: object, method: str, X: Collection, out: Out = None) -> Array:
    """Return the results of a method for a Dask collection, as a lazy collection."""
    check_is_fitted(estimator)
    if out is not None:
        raise ValueError(
            f"{type(estimator).__name__}: out takes no results of a Dask collection, which stay on its workers. Leave "
            "out away, and write the collection that is returned (to_parquet, to_zarr)."
        )
    return lazily(estimator, method, X)


def written(estimator: object, method: str, X: RowsLike | Blocks, out: Out) -> Array:
    """Write the results of a method for all rows of X into an array, or to a .npy file, which is returned mapped."""
    name = type(estimator).__name__
    blocks = as_blocks(X, owner=name)
    if isinstance(out, np.ndarray):
        return _filled(estimator, method, blocks, out)
    path = Path(os.fspath(out)) if isinstance(out, str | os.PathLike) else None
    if path is None or path.suffix != ".npy":
        raise ValueError(f"{name}: out must be an array, or the path of a .npy file, got {out!r}.")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("wb") as file:
            writer: NpyWriter | None = None
            for _, found in _results(estimator, method, blocks):
                columns = list(_storable(estimator, found).T) if found.ndim == 2 else [_storable(estimator, found)]
                writer = writer or NpyWriter(file, [""] * len(columns), {})
                writer.write(columns)
            if writer is not None:
                writer.close()
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()
    mapped: Array = np.load(path, mmap_mode="r")
    return mapped


def _filled(estimator: object, method: str, blocks: Blocks, out: Array) -> Array:
    n_rows = 0
    for block, found in _results(estimator, method, blocks):
        n_rows += block.n_rows
        place = out[block.first_row : block.first_row + block.n_rows]
        if place.shape != found.shape:
            raise ValueError(
                f"{type(estimator).__name__}: out has shape {out.shape}, and {method} gives rows of shape "
                f"{found.shape[1:]} at row {block.first_row} of {blocks.n_rows or 'an unknown number'}. Make out of "
                "the shape of the result."
            )
        place[...] = found
    if n_rows != len(out):
        raise ValueError(f"{type(estimator).__name__}: out has {len(out)} rows, and X has {n_rows}.")
    return out


def _results(estimator: object, method: str, blocks: Blocks) -> Iterator[tuple[Block, Array]]:
    """Yield the rows in chunks, each with the results of a method; far rows are warned of once."""
    name, far = type(estimator).__name__, GatheredFarRows()
    for block in blocks.recut(_block_rows(blocks), name).labelled():
        with far.collecting():
            found = getattr(estimator, method)(as_blocks(block.X, owner=name))
        yield block, found
    far.warn(name)


def _block_rows(blocks: Blocks) -> int:
    row_bytes = blocks.width * blocks.dtype.itemsize
    return _CHUNK_ROWS if blocks.is_sparse else max(min(_CHUNK_ROWS, _CHUNK_BYTES // row_bytes), 1)


def _storable(estimator: object, found: Array) -> Array:
    """Return labels that are Python texts as NumPy's texts: a .npy file holds no objects."""
    if found.dtype != object:
        return found
    texts: Array = np.asarray(getattr(estimator, "classes_", found).tolist())
    if texts.dtype.kind != "U":
        raise ValueError(f"{type(estimator).__name__}: a .npy file holds numbers or texts, not labels of mixed types.")
    return found.astype(texts.dtype)
