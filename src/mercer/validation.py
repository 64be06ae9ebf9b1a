"""The one place that words input errors: the argument, the rule, the value, the way out."""

import numbers
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from mercer._typing import Array
from mercer.config import cores, get_config, memory_budget

FLOATS = (np.float64, np.float32)
_LARGEST_INDEX = 2**31 - 1

# Bytes below which the system is not asked whether it has them: asking takes as long as a small transform.
_NOT_MEASURED = 2**24

_first_row: ContextVar[int] = ContextVar("mercer_first_row", default=0)


@contextmanager
def rows_from(first_row: int) -> Iterator[None]:
    """Count rows from ``first_row`` in the errors raised inside: those of a block then have their numbers in X."""
    token = _first_row.set(first_row)
    try:
        yield
    finally:
        _first_row.reset(token)


def row_number(row: int) -> int:
    """Return the number to call a row by in an error."""
    return _first_row.get() + row


def check_integer(owner: str, name: str, value: Any, *, least: int = 1, most: float = np.inf, way_out: str = "") -> int:
    """Return ``value`` as an int, or say that it must be an integer >= ``least`` and <= ``most``."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and least <= int(value) <= most:
        return int(value)
    rule = f"an integer >= {least}{f' and <= {most}' if np.isfinite(most) else ''}"
    raise ValueError(f"{owner}: {name} must be {rule}, got {value!r}.{_spaced(way_out)}")


def check_real(owner: str, name: str, value: Any, *, least: float, strict: bool = False, way_out: str = "") -> float:
    """Return ``value`` as a float, or say that it must be a finite number >= (or >) ``least``."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        with suppress(OverflowError):  # of an integer beyond all floats
            number = float(value)
            if np.isfinite(number) and (number > least if strict else number >= least):
                return number
    rule = f"a finite number {'>' if strict else '>='} {least:g}"
    raise ValueError(f"{owner}: {name} must be {rule}, got {value!r}.{_spaced(way_out)}")


def check_jobs(owner: str, n_jobs: Any) -> int | None:
    """Return the threads that ``n_jobs`` means, None for those of the configuration.

    No more than there are cores, or than ``config_context`` sets: further threads would take memory and save no time.
    """
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(
            f"{owner}: n_jobs must be None, an integer >= 1 or a negative one, got {n_jobs!r}. None takes the threads "
            "of config_context, -1 all of these, -2 all but one."
        )
    number, threads = int(n_jobs), get_config().threads
    return min(number, max(threads, cores())) if number > 0 else max(1, threads + 1 + number)


def _spaced(sentence: str) -> str:
    return f" {sentence}" if sentence else ""


def check_finite_y(owner: str, y: Array) -> Array:
    """Return y, or name the first row of it that is not finite (in scikit-learn's words, which its checks look for)."""
    if y.dtype.kind != "f" or np.isfinite(y).all():
        return y
    row = row_number(int(np.argmin(np.isfinite(y).reshape(len(y), -1).all(axis=1))))
    what = "NaN" if np.isnan(y).any() else f"infinity or a value too large for {y.dtype!r}"
    raise ValueError(f"{owner}: Input y contains {what}. The first is in row {row}. Leave such rows out.")


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X for an estimator's ``fit`` (``reset=True``) or ``transform`` as a float array or CSR matrix.

    Sets or compares ``n_features_in_`` and ``feature_names_in_``. Finiteness is left to ``block_norm``, which reads
    each block while the work on it does.
    """
    name = type(estimator).__name__
    X = validate_data(
        estimator,
        _numbers(name, "X", X),
        reset=reset,
        accept_sparse="csr",
        dtype=FLOATS,
        ensure_all_finite=False,
        accept_large_sparse=True,
    )
    return _rows(name, "X", X)


def check_matrix(owner: str, name: str, X: Any, *, first_row: int = 0, finite: bool = True) -> Any:
    """Return a kernel's argument, or a block of rows from ``first_row`` on, as a finite float array or CSR matrix.

    With ``finite=False`` the caller sees to it that the numbers are finite, by ``block_norm``.
    """
    if not _is_plain(X):  # scikit-learn's check takes as long as the features of 50 rows, and blocks are many
        X = _numbers(owner, name, X)
        _check_two_dimensions(owner, name, X)
        X = check_array(X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, input_name=name, estimator=owner)
    X = _rows(owner, name, X)
    if finite:
        block_norm(owner, name, X, slice(0, X.shape[0]), first_row=first_row)
    return X


def _is_plain(X: Any) -> bool:
    """Whether X is an array of floats with rows and columns, in which nothing is left to check but the numbers."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in FLOATS


def _numbers(owner: str, name: str, X: Any) -> Any:
    """Refuse text, dates and complex numbers in words; lists become arrays so that they can be asked."""
    X = np.asarray(X) if isinstance(X, list | tuple | numbers.Number) else X
    refuse_dates(owner, name, X)
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in "US" and kind:
        raise ValueError(
            f"{owner}: {name} holds text ({X.dtype}); it must hold numbers. "
            "Encode it first, with sklearn.preprocessing.OneHotEncoder or a text vectorizer."
        )
    if kind == "c":
        raise ValueError(
            f"{owner}: {name} is complex. Complex data not supported: it must hold real numbers. "
            "Pass the real and imaginary parts as columns."
        )
    return X


def _check_two_dimensions(owner: str, name: str, X: Any) -> None:
    """Refuse what has no rows and columns, in the words that scikit-learn's users know."""
    if getattr(X, "ndim", 2) < 2:
        found = "1D array" if X.ndim else "scalar array"
        raise ValueError(
            f"{owner}: {name} must have rows and columns. Expected 2D array, got {found} instead. Reshape your data, "
            "with array.reshape(-1, 1) for one column or array.reshape(1, -1) for one row."
        )


def refuse_dates(owner: str, name: str, X: Any) -> None:
    """Refuse dates and times, which NumPy would take for counts of their unit; in a data frame, by the column."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):  # of pandas or polars
        for column, dtype in zip(X.columns, X.dtypes, strict=True):
            if is_date(dtype):
                raise dates_refused(owner, name, f" in column {column!r} ({dtype})")
    elif is_date(getattr(X, "dtype", None)):
        raise dates_refused(owner, name, f" ({X.dtype})")


def dates_refused(owner: str, name: str, where: str) -> ValueError:
    """Return the error of dates where numbers are needed."""
    return ValueError(
        f"{owner}: {name} holds dates or times{where}; it must hold numbers. Convert them to numbers of a unit of your "
        "choice: (dates - dates.min()) / np.timedelta64(1, 'D') are days. Or leave them out."
    )


def is_date(dtype: Any) -> bool:
    """Tell NumPy's, pandas' and polars' types of dates, times and durations."""
    return getattr(dtype, "kind", "") in ("m", "M") or (hasattr(dtype, "is_temporal") and bool(dtype.is_temporal()))


def _rows(owner: str, name: str, X: Any) -> Any:
    if sparse.issparse(X):
        check_csr(owner, name, X)
        return canonical_csr(X)
    if X.strides[1] != X.itemsize:  # the core reads along rows; any row stride will do
        return np.ascontiguousarray(X)
    return X


def check_csr(owner: str, name: str, X: Any) -> None:
    """Refuse a CSR matrix whose pointers or columns lead outside its arrays: the core would follow them."""
    in_range = X.nnz == 0 or (X.indices.min() >= 0 and X.indices.max() < X.shape[1])
    pointers = X.indptr
    n_stored = min(len(X.data), len(X.indices))
    in_order = pointers[0] == 0 and pointers[-1] <= n_stored and bool(np.all(pointers[1:] >= pointers[:-1]))
    if not (in_range and in_order):
        fault = "its indptr is not in order" if in_range else f"its indices leave the range 0 to {X.shape[1] - 1}"
        raise ValueError(f"{owner}: {name} is not a valid CSR matrix: {fault}. Build it anew from its rows.")


def canonical_csr(X: Any) -> Any:
    """Return a valid CSR matrix as a csr_array: columns ascend in each row, none twice, by 32-bit numbers if they fit.

    X itself where it is so already, else a copy of what must change: the caller's matrix stays as it is. X's own flags
    are not asked, on purpose: they are stale in a matrix whose arrays were filled again. Reads the indices once.
    """
    n_entries = int(X.indptr[-1])
    narrow = n_entries <= _LARGEST_INDEX and X.shape[1] <= _LARGEST_INDEX
    index_type = np.dtype(np.int32) if narrow else np.dtype(np.int64)
    indices, pointers = X.indices[:n_entries], X.indptr
    in_order = _rows_ascend(indices, pointers)
    is_tight = len(X.data) == len(X.indices) == n_entries
    if in_order and is_tight and indices.dtype == pointers.dtype == index_type and isinstance(X, sparse.sparray):
        return X
    data, indices = X.data[:n_entries], indices.astype(index_type, copy=not in_order)
    pointers = pointers.astype(index_type, copy=not in_order)
    rows = sparse.csr_array((data if in_order else data.copy(), indices, pointers), shape=X.shape)
    if not in_order:
        rows.sum_duplicates()  # which also sorts them
    return rows


def _rows_ascend(indices: Array, pointers: Array) -> bool:
    """Tell whether the column numbers ascend within each row; three times as fast as SciPy's own check."""
    ascends = np.ones(len(indices), dtype=bool)
    np.greater(indices[1:], indices[:-1], out=ascends[1:])
    starts = pointers[:-1]
    ascends[starts[starts < len(indices)]] = True  # the first of a row follows nothing
    return bool(ascends.all())


def block_norm(owner: str, name: str, X: Any, rows: slice, *, first_row: int = 0) -> float:
    """Return the Frobenius norm of a block of rows, refusing NaN and inf by row and column.

    One pass serves both finiteness and the bounds on overflow; inf means finite entries whose squares overflow.
    """
    values = X.data[X.indptr[rows.start] : X.indptr[rows.stop]] if sparse.issparse(X) else X[rows]
    if values.flags.c_contiguous:
        square = float(np.vdot(values, values))
    else:
        square = float(np.einsum("ij,ij->", values, values))
    if not np.isfinite(square) and not np.isfinite(values).all():
        raise ValueError(_where_not_finite(owner, name, X, first_row))
    return float(np.sqrt(square)) if np.isfinite(square) else np.inf


def _where_not_finite(owner: str, name: str, X: Any, first_row: int) -> str:
    if sparse.issparse(X):
        entry = int(np.flatnonzero(~np.isfinite(X.data))[0])
        row, column = int(np.searchsorted(X.indptr, entry, side="right")) - 1, int(X.indices[entry])
        value = X.data[entry]
    else:
        row, column = (int(i) for i in np.argwhere(~np.isfinite(X))[0])
        value = X[row, column]
    kind = "NaN" if np.isnan(value) else "infinity (inf)"
    return (
        f"{owner}: {name} contains {kind} at row {row_number(first_row + row)}, column {column}; every entry must be a "
        f"finite number of {X.dtype}. Impute it (sklearn.impute.SimpleImputer), clip it, or drop the row."
    )


def check_non_negative(owner: str, name: str, X: Any, first_row: int = 0) -> None:
    """Refuse negative entries, which histograms do not have, by row and column."""
    values = X.data if sparse.issparse(X) else X
    if values.size == 0 or values.min() >= 0:
        return
    if sparse.issparse(X):
        entry = int(np.flatnonzero(X.data < 0)[0])
        row, column, value = (
            int(np.searchsorted(X.indptr, entry, side="right")) - 1,
            int(X.indices[entry]),
            X.data[entry],
        )
    else:
        row, column = (int(i) for i in np.argwhere(X < 0)[0])
        value = X[row, column]
    where = f"row {row_number(first_row + row)}, column {column}"
    raise ValueError(
        f"{owner}: Negative values in data: {name} holds {value:g} at {where}, and must be >= 0, as histograms are. "
        "Clip it, shift it (sklearn.preprocessing.MinMaxScaler), or use a kernel of real numbers such as Gaussian."
    )


def check_same_width(owner: str, X: Any, Y: Any) -> None:
    """Refuse two matrices of different numbers of columns."""
    if X.shape[1] != Y.shape[1]:
        raise ValueError(
            f"{owner}: X has {X.shape[1]} columns and Y has {Y.shape[1]}; both must have the same columns. "
            "Select or pad the columns of one of them."
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
    """Return what was computed of rows, one row for each, or name the first that overflowed."""
    if np.isfinite(values).all():
        return values
    row = row_number(int(np.argwhere(~np.isfinite(values))[0][0]))
    raise ValueError(
        f"{owner}: the {what} of row {row} of X overflows {values.dtype}. Scale X down "
        "(sklearn.preprocessing.StandardScaler), or pass float64."
    )


def check_weights(owner: str, weights: Any, n_rows: int, *, all_zero: bool = False) -> Array:
    """Return sample weights as float64: one finite number >= 0 a row, and unless ``all_zero`` not all of them 0."""
    values: Array = np.asarray(weights)
    if values.ndim == 0 and isinstance(weights, numbers.Real):
        values = np.full(n_rows, weights)
    if values.shape != (n_rows,):
        raise ValueError(
            f"{owner}: sample_weight.shape == {values.shape}, expected {(n_rows,)}: each row needs one weight."
        )
    if values.dtype.kind not in "biufO":
        raise ValueError(
            f"{owner}: sample_weight must hold finite numbers >= 0, got an array of {values.dtype}. Convert it first."
        )
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{owner}: sample_weight must hold finite numbers >= 0, but {error}.") from None
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{owner}: sample_weight must hold finite numbers >= 0, got {values[row]} at row {row_number(row)}."
        )
    if not all_zero and not values.any():
        raise ValueError(f"{owner}: sample_weight must not be all zero. Leave it out for equal weights.")
    return values


def check_memory(owner: str, name: str, value: Any, n_bytes: int, what: str, *, way_out: str = "") -> None:
    """Refuse, before it is tried, what cannot fit the memory budget."""
    if n_bytes <= _NOT_MEASURED and get_config().memory is None:
        return
    budget = memory_budget()
    if n_bytes > budget.n_bytes:
        raise MemoryError(
            f"{owner}: {name}={value} needs {_gib(n_bytes)} for {what}, and {budget.source} is "
            f"{_gib(budget.n_bytes)}. {way_out or f'Lower {name}, or work on fewer rows at a time.'}"
        )


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 2**30 // 10 else f"{n_bytes / 2**30:.2g} GiB"
