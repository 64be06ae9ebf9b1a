"""Rows of numbers: arrays and CSR matrices that users give."""

import numbers
from typing import TypeGuard

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from mercer._typing import Rows
from mercer.validation.csr import canonical_csr, check_csr
from mercer.validation.dates import refuse_dates
from mercer.validation.entries import block_norm
from mercer.validation.frames import collected, refuse_text

FLOATS = (np.float64, np.float32)


def check_rows(estimator: BaseEstimator, X: object, *, reset: bool) -> Rows:
    """Return X for an estimator's ``fit`` (``reset=True``) or ``transform`` as a float array or CSR matrix.

    Sets or compares ``n_features_in_`` and ``feature_names_in_``. Finiteness is left to ``block_norm``, which checks
    each block just before the work on it.
    """
    name = type(estimator).__name__
    if not reset and _is_plain(X) and _is_as_fitted(estimator, X):
        return _rows(name, "X", X)
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


def check_matrix(owner: str, name: str, X: object, *, first_row: int = 0, finite: bool = True) -> Rows:
    """Return a kernel's argument, or a block of rows from ``first_row`` on, as a finite float array or CSR matrix.

    With ``finite=False`` the caller checks by ``block_norm`` that the numbers are finite.
    """
    if not _is_plain(X):  # there are many blocks, and scikit-learn's check takes as long as the features of 50 rows
        X = _numbers(owner, name, X)
        _check_two_dimensions(owner, name, X)
        X = check_array(X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, input_name=name, estimator=owner)
    X = _rows(owner, name, X)
    if finite:
        block_norm(owner, name, X, slice(0, X.shape[0]), first_row=first_row)
    return X


def _is_plain(X: object) -> TypeGuard[np.ndarray]:
    """Return whether X is an array of floats with rows and columns: only its numbers are left to check."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in FLOATS


def _is_as_fitted(estimator: BaseEstimator, X: np.ndarray) -> bool:
    """Return whether an array has the columns of ``fit``, which had no names: scikit-learn would find nothing."""
    return not hasattr(estimator, "feature_names_in_") and X.shape[1] == getattr(estimator, "n_features_in_", -1)


def refuse_collections(owner: str, name: str, X: object) -> None:
    """Refuse a Dask collection: what works on rows of this process would pull all of them here, silently."""
    if hasattr(type(X), "__dask_graph__"):
        raise ValueError(
            f"{owner}: {name} is a Dask collection, and {owner} works on rows of this process. Give "
            f"{name}.compute() if all rows fit in memory, or a sample of them."
        )


def _numbers(owner: str, name: str, X: object) -> object:
    """Refuse text, dates and complex numbers, each with its way out; lists become arrays, which have a dtype."""
    refuse_collections(owner, name, X)
    X = np.asarray(X) if isinstance(X, list | tuple | numbers.Number) else collected(X)
    refuse_dates(owner, name, X)
    refuse_text(owner, name, X)
    dtype = getattr(X, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if kind in ("U", "S"):
        raise ValueError(
            f"{owner}: {name} holds text ({dtype}); it must hold numbers. "
            "Encode it first, with sklearn.preprocessing.OneHotEncoder or a text vectorizer."
        )
    if kind == "c":
        raise ValueError(
            f"{owner}: {name} is complex. Complex data not supported: it must hold real numbers. "
            "Pass the real and imaginary parts as columns."
        )
    return X


def _check_two_dimensions(owner: str, name: str, X: object) -> None:
    """Refuse what has no rows and columns, in the words of scikit-learn."""
    n_dims = getattr(X, "ndim", 2)
    if n_dims < 2:
        found = "1D array" if n_dims else "scalar array"
        raise ValueError(
            f"{owner}: {name} must have rows and columns. Expected 2D array, got {found} instead. Reshape your data, "
            "with array.reshape(-1, 1) for one column or array.reshape(1, -1) for one row."
        )


def _rows(owner: str, name: str, X: Rows) -> Rows:
    if sparse.issparse(X):
        check_csr(owner, name, X)
        return canonical_csr(X)
    if X.strides[1] != X.itemsize:  # the compiled core needs contiguous rows; they may lie any distance apart
        return np.ascontiguousarray(X)
    return X


def check_same_width(owner: str, X: Rows, Y: Rows) -> None:
    """Refuse two matrices of different numbers of columns."""
    if X.shape[1] != Y.shape[1]:
        raise ValueError(
            f"{owner}: X has {X.shape[1]} columns and Y has {Y.shape[1]}; both must have the same columns. "
            "Select or pad the columns of one of them."
        )
