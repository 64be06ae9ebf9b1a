"""Columns of arrays and data frames made ready for a kernel."""

from collections import Counter
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._typing import Array, RowsLike, Seed
from mercer.array_api import FollowsArrays
from mercer.data.frame_columns import Frame, is_frame
from mercer.data.raw_table import RawTable
from mercer.fresh_fit import adopt, unfitted
from mercer.learners.local.encoding import TableEncoding
from mercer.learners.local.scaling import METHODS, ColumnScaling
from mercer.state import Count, Member, Names, OneOf, Sizes, Stored
from mercer.validation import check_integer, check_memory, collected, refuse_collections


class ColumnPreparation(FollowsArrays, TransformerMixin, BaseEstimator):
    """Numbers scaled, categories one-hot, dates and missing values as columns of their own.

    Parameters
    ----------
    method : {"rank", "clip", "common"}, default="rank"
        How numbers are scaled: "rank" by normal scores of their ranks; "clip" standardised, and bent so that no value
        is beyond 4 standard deviations; "common" centred and all divided by one number, for columns in one unit. With
        the first two a row cannot lie far outside the training rows, and columns of two values stay 0 and 1.
    max_categories : int, default=32
        The most frequent categories of a column have columns of their own; the others share a row of zeros.
    random_state : int, RandomState or None
        Chooses the 20,000 rows that ranks are taken from, where there are more.

    Attributes
    ----------
    encoding_ : TableEncoding
        How the columns of X become columns of numbers. Those of one value are left out.
    scaling_ : ColumnScaling
        How these are scaled.
    dtype_ : dtype
        The type of the result.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, for data frames

    Notes
    -----
    Arrays hold numbers, NaN where one is missing; sparse matrices become dense. Data frames of pandas and polars may
    also hold text, categories, booleans and dates.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learners import ColumnPreparation
    >>> preparation = ColumnPreparation(method="common")
    >>> preparation.fit_transform([[0.0, 1.0], [2.0, np.nan], [4.0, 1.0]]).round(2)
    array([[-1.66, -0.28],
           [ 0.  ,  0.55],
           [ 1.66, -0.28]])
    >>> preparation.get_feature_names_out().tolist()  # the second column is constant where it is not missing
    ['x0', 'x1 is missing']
    """

    _stored = Stored(
        n_features_in_=Count("d", least=1),
        feature_names_in_=Names(("d",), ascending=False, text=True, optional=True),
        encoding_=Member(TableEncoding, {"n_sources": "d", "n_columns": "out"}),
        scaling_=Member(ColumnScaling, {"n_columns": "out"}),
        dtype_=OneOf((np.dtype(np.float64), np.dtype(np.float32))),
    )

    n_features_in_: int
    encoding_: TableEncoding
    scaling_: ColumnScaling
    dtype_: np.dtype[np.floating]

    def __init__(self, *, method: str = "rank", max_categories: int = 32, random_state: Seed = None):
        self.method = method
        self.max_categories = max_categories
        self.random_state = random_state

    def fit(self, X: RowsLike | Frame, y: object = None) -> Self:
        """Learn from the rows of X.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : ignored
        """
        fitted = unfitted(self)
        fitted._check_params()
        rows = fitted.checked(X, reset=True)
        table = RawTable.of(type(self).__name__, rows)
        fitted.encoding_ = TableEncoding.of(table, fitted.column_names, self.max_categories)
        numbers = fitted.encoding_.numbers(table)
        fitted.scaling_ = ColumnScaling.of(numbers, self.method, check_random_state(self.random_state))
        fitted.dtype_ = np.dtype(np.float32 if getattr(rows, "dtype", None) == np.float32 else np.float64)
        adopt(self, fitted)
        return self

    def transform(self, X: RowsLike | Frame) -> Array:
        """Return the prepared rows: float32 for arrays of float32 in ``fit``, float64 otherwise."""
        check_is_fitted(self)
        owner = type(self).__name__
        numbers = self.encoding_.numbers(RawTable.of(owner, self.checked(X, reset=False)), owner)
        return self.scaling_.transform(numbers, self.dtype_)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Return the names of the columns of the result."""
        check_is_fitted(self)
        return np.asarray(self.encoding_.names, dtype=object)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns of X; x0, x1, ... for arrays."""
        unnamed = [f"x{j}" for j in range(self.n_features_in_)]
        return [str(name) for name in getattr(self, "feature_names_in_", unnamed)]

    def checked(self, X: RowsLike | Frame, *, reset: bool) -> Array | Frame:
        """Return X as a dense array or a data frame; with ``reset`` keep the number and the names of its columns."""
        if isinstance(X, RawTable):
            return self._checked_table(X, reset=reset)
        X = collected(X)
        refuse_collections(type(self).__name__, "X", X)
        if is_frame(X):
            if not X.shape[0] or not X.shape[1]:
                raise ValueError(
                    f"{type(self).__name__}: X has {X.shape[0]} rows and {X.shape[1]} columns; it needs one of each."
                )
            frame: Frame = validate_data(self, X, reset=reset, skip_check_array=True)
            return frame
        rule = {"dtype": (np.float64, np.float32), "ensure_all_finite": "allow-nan"}
        rows = validate_data(self, X, reset=reset, accept_sparse="csr", **rule)
        if not sparse.issparse(rows):
            return np.asarray(rows)
        n_bytes = rows.shape[0] * rows.shape[1] * rows.dtype.itemsize
        what = "sparse rows made dense"
        check_memory(type(self).__name__, "X", rows.shape, n_bytes, what, way_out="Leave columns out.")
        return np.asarray(rows.toarray())

    def _checked_table(self, table: RawTable, *, reset: bool) -> RawTable:
        if reset:
            self.n_features_in_ = len(table.values)
            if table.names is not None:
                self.feature_names_in_ = np.asarray(table.names, dtype=object)
            return table
        return table.matched(type(self).__name__, self.kinds)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column of X in ``fit``: "number", "date" or "categories"."""
        return {name: column.kind for name, column in zip(self.column_names, self.encoding_.columns, strict=True)}

    def count_unseen(self, table: RawTable, unseen: dict[str, Counter[str]]) -> None:
        """Count, by column, the categories of new rows that ``fit`` has not seen, where it knows all it has seen."""
        for name, values, column in zip(self.column_names, table.values, self.encoding_.columns, strict=True):
            if column.kind == "categories" and len(column.categories) < self.max_categories:
                new = Counter(value for value in values.tolist() if value is not None)
                for value in set(new) - set(column.categories):
                    unseen.setdefault(name, Counter())[value] += new[value]

    def _check_params(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"{type(self).__name__}: method must be one of {list(METHODS)}, got {self.method!r}.")
        check_integer(type(self).__name__, "max_categories", self.max_categories)

    def _check_stored(self, sizes: Sizes) -> None:
        self._check_params()
        check_random_state(self.random_state)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
