"""Encoders and imputers of scikit-learn, of text and of numbers. In a column of text, "" is a missing value.

What an encoder does with each category is asked of its ``transform``, so that rare, dropped and missing categories need
no rules here. A category that was not seen has the result of ``handle_unknown``; where that is an error, a file, which
raises none, has zeros (one-hot) or NaN (numbers of categories).
"""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from mercer._typing import Array
from mercer.export.columns import Columns
from mercer.export.graph import Tensor
from mercer.export.registry import ExportError, writes_step


def texts_of_encoder(step: "OneHotEncoder | OrdinalEncoder") -> set[int]:
    """Return the columns whose categories are text."""
    return {j for j, categories in enumerate(step.categories_) if _is_text(type(step).__name__, j, categories)}


def texts_of_imputer(step: "SimpleImputer | MissingIndicator") -> set[int]:
    """Return the columns that are filled with text."""
    values = getattr(step, "statistics_", np.zeros(0))
    return {j for j, value in enumerate(values.tolist()) if isinstance(value, str)}


@writes_step(OneHotEncoder)
def one_hot(step: OneHotEncoder, X: Columns) -> Columns:
    """Write a column for each category that the encoder keeps."""
    _check_dtype(step)
    rows, first = _answers(step), np.cumsum([0, *_widths(step)])
    parts = []
    for j, categories in enumerate(step.categories_):
        width = int(first[j + 1] - first[j])
        if not width:
            continue
        own = sparse.csr_array(rows[j])[:, first[j] : first[j + 1]]
        places = np.full(len(categories) + 1, width)  # beyond the last column: OneHot then writes zeros
        places[np.repeat(np.arange(own.shape[0]), np.diff(own.indptr))] = own.indices
        numbers = X.graph.constant(places).take(_category_numbers(X.column(j), categories)).flat()
        values = np.array([0.0, 1.0], dtype=X.graph.dtype)
        made = numbers.op("OneHot", np.array([width]), values, dtype=X.graph.dtype, axis=-1)
        parts.append((made, width))
    return Columns(X.graph, parts)


@writes_step(OrdinalEncoder)
def ordinal(step: OrdinalEncoder, X: Columns) -> Columns:
    """Write the number of each category."""
    _check_dtype(step)
    rows = _answers(step)
    parts = []
    for j, categories in enumerate(step.categories_):
        table = np.full(len(categories) + 1, np.nan)
        table[: len(rows[j])] = rows[j][:, j]
        parts.append((X.graph.constant(table).take(_category_numbers(X.column(j), categories)), 1))
    return Columns(X.graph, parts)


def _check_dtype(step: "OneHotEncoder | OrdinalEncoder") -> None:
    for j, categories in enumerate(step.categories_):
        _is_text(type(step).__name__, j, categories)


def _is_text(name: str, j: int, categories: Array) -> bool:
    """Return whether categories are text; refuse mixed ones."""
    known = [value for value in categories.tolist() if not _is_missing(value)]
    if all(isinstance(value, str) for value in known) and categories.dtype.kind in "OU":
        return True
    if any(isinstance(value, str) for value in known) or categories.dtype.kind not in "fiub":
        raise ExportError(
            f"to_onnx: {name}: the categories of column {j} must be all text or all numbers, as ONNX has columns of "
            f"one type; got {categories[:3].tolist()}. Convert the column before fit, such as by astype(str)."
        )
    return False


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _category_numbers(x: Tensor, categories: Array) -> Tensor:
    """Write the number (n, 1) of the category of each entry; what was not seen has the number of categories."""
    known = categories.tolist()
    n_missing = sum(_is_missing(value) for value in known)
    if n_missing > 1:
        raise ExportError("to_onnx: an encoder tells None from NaN, which ONNX cannot. Replace one of them before fit.")
    if x.dtype == object:
        free = "" not in known
        return x.numbered([("" if free else "\0") if _is_missing(value) else value for value in known])
    values = np.asarray([0.0 if _is_missing(value) else value for value in known], dtype=x.dtype)
    same = x.equals(values[None, :])
    if n_missing:
        is_nan = np.array([[_is_missing(value) for value in known]])
        same = (
            x.op("IsNaN", dtype=bool)
            .op("And", x.graph.constant(is_nan))
            .op("Or", same.op("And", x.graph.constant(~is_nan)))
        )
    weights = np.arange(len(known))[:, None] - float(len(known))
    return (same.cast(np.float64) @ weights + float(len(known))).cast(np.int64)


def _answers(step: "OneHotEncoder | OrdinalEncoder") -> list[Any]:
    """Return, for each column, what ``transform`` makes of its categories, then of one that was not seen if it may.

    The other columns hold their first category.
    """
    base = [categories[0] for categories in step.categories_]
    found = []
    for j, categories in enumerate(step.categories_):
        sees = step.handle_unknown != "error"
        values = [*categories.tolist(), _unseen(categories)] if sees else categories.tolist()
        rows = np.empty((len(values), len(base)), dtype=object)
        rows[:] = np.array(base, dtype=object)
        rows[:, j] = values
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names of columns, and of a category that was not seen
            made = step.transform(rows)
        found.append(made)
    return found


def _unseen(categories: Array) -> object:
    known = [value for value in categories.tolist() if not _is_missing(value)]
    if all(isinstance(value, str) for value in known):
        return "".join(known) + "."
    return max(known) + 1


def _widths(step: OneHotEncoder) -> list[int]:
    """Return the number of columns that each column becomes."""
    rare = getattr(step, "infrequent_categories_", [None] * len(step.categories_))
    dropped = [None] * len(step.categories_) if step.drop_idx_ is None else step.drop_idx_
    return [
        len(categories) - (0 if few is None else len(few) - 1) - (drop is not None)
        for categories, few, drop in zip(step.categories_, rare, dropped, strict=True)
    ]


@writes_step(SimpleImputer)
def imputer(step: SimpleImputer, X: Columns) -> Columns:
    """Write the columns with their missing entries filled, then whether entries were missing where asked for."""
    values = step.statistics_.tolist()
    kept = [j for j, value in enumerate(values) if not _is_missing(value)]  # others had no values in ``fit``
    if values and isinstance(values[kept[0]] if kept else 0.0, str):
        if step.add_indicator:
            raise ExportError(
                "to_onnx: SimpleImputer(add_indicator=True) of text makes columns of text and numbers in one array, "
                "which ONNX cannot hold. Leave add_indicator out: OneHotEncoder knows missing values by itself."
            )
        return Columns(X.graph, [(_filled_text(X.column(j), step.missing_values, values[j]), 1) for j in kept])
    fill = np.array([values[j] for j in kept], dtype=np.float64)
    some = X.take(kept)
    filled = some.mapped(lambda x: _missing(x, step.missing_values).where(fill.astype(x.dtype), x))
    return filled.then([indicator(step.indicator_, X)]) if step.add_indicator else filled


def _filled_text(x: Tensor, missing_values: object, value: str) -> Tensor:
    if x.dtype != object:
        raise ExportError("to_onnx: SimpleImputer of text stands behind a step that makes numbers.")
    gap = missing_values if isinstance(missing_values, str) else ""
    return x.numbered([gap]).equals(0).where(np.array(value, dtype=object), x)


@writes_step(MissingIndicator)
def indicator(step: MissingIndicator, X: Columns) -> Columns:
    """Write 1 where an entry is missing, 0 elsewhere, of the columns that the indicator keeps."""
    return X.take(step.features_.tolist()).mapped(lambda x: _missing(x, step.missing_values).cast(x.dtype))


def _missing(x: Tensor, missing_values: Any) -> Tensor:
    if _is_missing(missing_values):
        return x.op("IsNaN", dtype=bool)
    return x.equals(float(missing_values))
