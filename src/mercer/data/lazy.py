"""Results of Dask collections: lazy collections with type, chunks and meta, computed partition by partition."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from mercer._typing import Array
from mercer.data.sources.collections import Collection, is_frame


def lazily(model: Any, method: str, X: Collection) -> Array:
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
    example = _example(model, method, X, int(width))
    options: dict[str, Any] = {"dtype": example.dtype, "meta": example[:0]}
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


def _example(model: Any, method: str, X: Collection, width: int) -> Any:
    if is_frame(X):
        single = all(kind == np.float32 for kind in X.dtypes)
        rows: Any = np.zeros((2, width), dtype=np.float32 if single else np.float64)
    else:
        rows = np.zeros((2, width), dtype=np.float32 if X.dtype == np.float32 else np.float64)
        rows = sparse.csr_array(rows) if sparse.issparse(X._meta) else rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows of zeros may lie far from the training rows, and have no names
        return getattr(model, method)(rows)


def _of_rows(X: Any, model: Any, method: str) -> Any:
    if X.shape[0] == 0:
        return _example(model, method, _Like(X), X.shape[1])[:0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning of a worker reaches nobody
        return getattr(model, method)(X)


def _of_frame(frame: Any, model: Any, method: str) -> Any:
    single = all(kind == np.float32 for kind in frame.dtypes)
    X = np.ascontiguousarray(frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan))
    found = _of_rows(X, model, method) if len(X) else _example(model, method, _Like(X), X.shape[1])
    if sparse.issparse(found):
        raise ValueError(f"{type(model).__name__}: {method} gives CSR rows. Give a Dask array in place of a frame.")
    return _as_pandas(found, frame.index)


def _frame_like(example: Any, X: Collection) -> Any:
    if sparse.issparse(example):
        raise ValueError("results in CSR rows have no data frame. Give a Dask array in place of a frame.")
    return _as_pandas(example, X._meta.index[:0])


def _as_pandas(values: Any, index: Any) -> Any:
    """Return results as a series or a frame with an index; without rows, of the types that some rows have.

    pandas sees that labels are text only where there are some: without rows they would be objects, which no parquet
    file takes.
    """
    import pandas as pd  # noqa: PLC0415 - optional

    found = pd.Series(values) if values.ndim == 1 else pd.DataFrame(values)
    return found.iloc[: len(index)].set_axis(index, axis=0)


class _Like:
    """What ``_example`` reads of a collection, for an empty chunk."""

    def __init__(self, X: Any) -> None:
        self.dtype, self._meta = X.dtype, X
