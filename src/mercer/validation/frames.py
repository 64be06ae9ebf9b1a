"""Data frames where rows of numbers are needed: lazy ones are collected, text is refused in words."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


def collected(X: Any) -> Any:
    """Return X; a lazy frame of polars is collected."""
    is_lazy = type(X).__name__ == "LazyFrame" and type(X).__module__.partition(".")[0] == "polars"
    return X.collect() if is_lazy else X


def refuse_text(owner: str, name: str, X: Any) -> None:
    """Refuse text that is no number, in a data frame or in an array of objects, with its column and a way out.

    Only columns that can hold text are read, up to the first such value.
    """
    for column, values in _columns_of_objects(X):
        found = next((value for value in values if isinstance(value, str) and not _is_number(value)), None)
        if found is not None:
            raise ValueError(
                f"{owner}: {name} holds text in column {column!r}, such as {found!r}; it must hold numbers. "
                "TunedClassifier and TunedRegressor take data frames with text, categories, dates and missing values "
                "as they are, and mercer.learners.TableModel prepares such tables for any learner. Or encode the "
                "column: sklearn.preprocessing.OneHotEncoder in a ColumnTransformer."
            )


def _columns_of_objects(X: Any) -> Iterator[tuple[object, Iterable[object]]]:
    """Yield the name and the values of each column that may hold text; of categories, those that there are."""
    if isinstance(X, np.ndarray):
        if X.dtype == object and X.ndim == 2:
            yield from enumerate(X.T)
    elif hasattr(X, "iloc") and hasattr(X, "dtypes"):  # a frame of pandas
        for j, (column, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
            if hasattr(dtype, "categories"):
                yield column, dtype.categories
            elif getattr(dtype, "kind", "O") == "O":
                yield column, X.iloc[:, j]
    elif hasattr(X, "get_columns"):  # of polars
        for column in X.get_columns():
            if str(column.dtype).startswith(("String", "Categorical", "Enum", "Object")):
                yield column.name, column


def _is_number(text: str) -> bool:
    """Return whether NumPy would read text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
