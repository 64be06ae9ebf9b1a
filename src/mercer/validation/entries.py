"""Entries of rows, and what is computed from them: finite, and not negative where histograms are needed."""

from collections.abc import Callable

import numpy as np

from mercer._typing import Array, Rows
from mercer.validation.numbering import row_number


def block_norm(owner: str, name: str, X: Rows, rows: slice, *, first_row: int = 0) -> float:
    """Return the Frobenius norm of a block of rows; refuse NaN and inf, naming their row and column.

    One pass serves the check for finiteness and the bounds on overflow. A norm of inf means that all entries are finite
    and their squares overflow.
    """
    values = X[rows] if isinstance(X, np.ndarray) else X.data[X.indptr[rows.start] : X.indptr[rows.stop]]
    if values.flags.c_contiguous:
        square = float(np.vdot(values, values))
    else:
        square = float(np.einsum("ij,ij->", values, values))
    if not np.isfinite(square) and not np.isfinite(values).all():
        raise ValueError(_where_not_finite(owner, name, X, first_row))
    return float(np.sqrt(square)) if np.isfinite(square) else np.inf


def refuse_infinity(owner: str, name: str, X: Rows, *, first_row: int = 0) -> None:
    """Refuse infinity in a block of rows whose NaN stand for missing values, naming its row and column."""
    if np.isinf(X if isinstance(X, np.ndarray) else X.data).any():
        row, column, _ = _first(X, np.isinf)
        raise ValueError(
            f"{owner}: {name} contains infinity (inf) at row {row_number(first_row + row)}, column {column}. Clip it "
            "or replace it by NaN, which stands for a missing value."
        )


def _where_not_finite(owner: str, name: str, X: Rows, first_row: int) -> str:
    row, column, value = _first(X, lambda values: ~np.isfinite(values))
    kind = "NaN" if np.isnan(value) else "infinity (inf)"
    return (
        f"{owner}: {name} contains {kind} at row {row_number(first_row + row)}, column {column}; every entry must be a "
        f"finite number of {X.dtype}. Impute it (sklearn.impute.SimpleImputer), clip it, or drop the row."
    )


def _first(X: Rows, is_wrong: Callable[[Array], Array]) -> tuple[int, int, float]:
    """Return the row, the column and the value of the first wrong entry."""
    if isinstance(X, np.ndarray):
        row, column = (int(i) for i in np.argwhere(is_wrong(X))[0])
        return row, column, float(X[row, column])
    entry = int(np.flatnonzero(is_wrong(X.data))[0])
    return int(np.searchsorted(X.indptr, entry, side="right")) - 1, int(X.indices[entry]), float(X.data[entry])


def check_non_negative(owner: str, name: str, X: Rows, first_row: int = 0) -> None:
    """Refuse negative entries, which histograms do not have, naming their row and column."""
    values = X if isinstance(X, np.ndarray) else X.data
    if values.size == 0 or values.min() >= 0:
        return
    row, column, value = _first(X, lambda values: values < 0)
    where = f"row {row_number(first_row + row)}, column {column}"
    raise ValueError(
        f"{owner}: Negative values in data: {name} holds {value:g} at {where}, and must be >= 0, as histograms are. "
        "Clip it, shift it (sklearn.preprocessing.MinMaxScaler), or use a kernel of real numbers such as Gaussian."
    )


def check_finite_features(owner: str, Z: Array, first_row: int) -> None:
    """Refuse features that overflowed, naming the row and the way out."""
    if np.isfinite(Z).all():
        return
    row = row_number(first_row + int(np.argwhere(~np.isfinite(Z))[0][0]))
    raise ValueError(
        f"{owner}: the features of row {row} of X overflow {Z.dtype}: its entries are too large for this kernel. "
        "Scale X down (sklearn.preprocessing.StandardScaler or Normalizer), lower gamma or the degree, or pass float64."
    )


def check_finite_result(owner: str, what: str, values: Array) -> Array:
    """Return values that were computed from rows, one per row, or name the first row that overflowed."""
    if np.isfinite(values).all():
        return values
    row = row_number(int(np.argwhere(~np.isfinite(values))[0][0]))
    raise ValueError(
        f"{owner}: the {what} of row {row} of X overflows {values.dtype}. Scale X down "
        "(sklearn.preprocessing.StandardScaler), or pass float64."
    )
