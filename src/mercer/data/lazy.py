"""Results of Dask collections: lazy collections with type, chunks and meta, computed partition by partition."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._typing import Array, Rows
from mercer.data.frame_columns import PandasFrame
from mercer.data.sources.collections import Collection, DaskFrame, has_csr_chunks, is_frame

if TYPE_CHECKING:
    import pandas as pd


def lazily(model: object, method: str, X: Collection) -> Array:
    """Return ``model.method`` of each partition of a Dask array or data frame, as a lazy collection.

    The type is that of the array that the collection stands for. An array gives an array. A frame gives a series, or a
    frame for results of several columns, with the index of X. The model is one task of the graph. Two rows of zeros
    tell the type and the width of the result.
    """
    import dask  # noqa: PLC0415 - optional

    name, width = type(model).__name__, len(X.columns) if is_frame(X) else X.shape[1]
    expected = getattr(model, "n_features_in_", width)
    if width != expected:
        raise ValueError(f"X has {width} features, but {name} is expecting {expected} features.")
    embedded = dask.delayed(model, pure=False, traverse=False)
    kind, has_csr_rows = _rows_of(X)
    example = _example(model, method, int(width), kind, has_csr_rows)
    options: dict[str, object] = {"dtype": example.dtype, "meta": example[:0]}
    found: Array
    if is_frame(X):
        meta = _frame_like(example, X)
        found = X.map_partitions(_of_frame, embedded, method, meta=meta, enforce_metadata=False)
    elif example.ndim == 1:
        found = X.rechunk({1: -1}).map_blocks(_of_rows, embedded, method, drop_axis=1, **options)
    else:
        chunks = (X.chunks[0], (example.shape[1],))
        found = X.rechunk({1: -1}).map_blocks(_of_rows, embedded, method, chunks=chunks, **options)
    return found


def _rows_of(X: Collection) -> tuple[DTypeLike, bool]:
    """Return the type that a model sees of a collection, and whether its rows are CSR."""
    return (_real_of(X), False) if is_frame(X) else (_real(X.dtype == np.float32), has_csr_chunks(X))


def _real_of(frame: DaskFrame | PandasFrame) -> DTypeLike:
    return _real(all(kind == np.float32 for kind in frame.dtypes))


def _real(single: bool) -> DTypeLike:
    return np.float32 if single else np.float64


def _example(model: object, method: str, width: int, kind: DTypeLike, has_csr_rows: bool) -> Rows:
    """Return the results of two rows of zeros: their shape and type are those of all results."""
    zeros = np.zeros((2, width), dtype=kind)
    rows: Rows = sparse.csr_array(zeros) if has_csr_rows else zeros
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows of zeros may lie far from the training rows, and have no names
        found: Rows = getattr(model, method)(rows)
    return found


def _of_rows(X: Rows, model: object, method: str) -> Rows:
    if X.shape[0] == 0:
        return _example(model, method, X.shape[1], _real(X.dtype == np.float32), sparse.issparse(X))[:0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning of a worker reaches nobody
        found: Rows = getattr(model, method)(X)
    return found


def _of_frame(frame: PandasFrame, model: object, method: str) -> "pd.Series | pd.DataFrame":
    kind = _real_of(frame)
    X = np.ascontiguousarray(frame.to_numpy(dtype=kind, na_value=np.nan))
    found = _of_rows(X, model, method) if len(X) else _example(model, method, X.shape[1], kind, False)
    if sparse.issparse(found):
        raise ValueError(f"{type(model).__name__}: {method} gives CSR rows. Give a Dask array in place of a frame.")
    return as_pandas(found, frame.index)


def _frame_like(example: Rows, X: DaskFrame) -> "pd.Series | pd.DataFrame":
    if sparse.issparse(example):
        raise ValueError("results in CSR rows have no data frame. Give a Dask array in place of a frame.")
    from dask.dataframe.dispatch import make_meta  # noqa: PLC0415 - optional

    return as_pandas(example, make_meta(X).index[:0])


def as_pandas(values: Array, index: Sequence[object]) -> "pd.Series | pd.DataFrame":
    """Return results as a series or a frame with an index; without rows, of the types that some rows have.

    pandas sees that labels are text only where there are some: without rows they would be objects, which no parquet
    file takes.
    """
    import pandas as pd  # noqa: PLC0415 - optional

    found = pd.Series(values) if values.ndim == 1 else pd.DataFrame(values)
    return found.iloc[: len(index)].set_axis(index, axis=0)
