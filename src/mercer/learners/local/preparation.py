"""Columns of arrays and data frames made ready for a kernel."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._typing import Array
from mercer.fresh_fit import adopt, unfitted
from mercer.learners.local.scaling import METHODS, ColumnScaling
from mercer.learners.local.table_columns import TableColumn, is_frame, raw_columns
from mercer.state import Count, Integers, Many, Member, Names, OneOf, Sizes, Stored, Text, require
from mercer.validation import check_integer, check_memory


class ColumnPreparation(TransformerMixin, BaseEstimator):
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
    columns_ : list of TableColumn
        How each column of X becomes columns of numbers.
    sources_ : ndarray of int
        The column of X that each column of the result comes from. Columns of one value are left out.
    scaling_ : ColumnScaling
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
        columns_=Many(Member(TableColumn), "d"),
        kept=Integers(("out",), (np.int64,), least=0, attribute="_kept"),
        sources_=Integers(("out",), (np.int64,), least=0, below="d"),
        names=Many(Text(), "out", attribute="_names"),
        scaling_=Member(ColumnScaling, {"n_columns": "out"}),
        dtype=OneOf((np.dtype(np.float64), np.dtype(np.float32)), attribute="_dtype"),
    )

    columns_: list[TableColumn]
    scaling_: ColumnScaling

    def __init__(self, *, method: str = "rank", max_categories: int = 32, random_state: Any = None):
        self.method = method
        self.max_categories = max_categories
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of X.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : ignored
        """
        fitted = unfitted(self)
        fitted._check_params()
        rows = fitted._checked(X, reset=True)
        expanded = fitted._learn_columns(raw_columns(type(self).__name__, rows))
        fitted._dtype = np.dtype(np.float32 if getattr(rows, "dtype", None) == np.float32 else np.float64)
        fitted.scaling_ = ColumnScaling.of(expanded, self.method, check_random_state(self.random_state))
        adopt(self, fitted)
        return self

    def transform(self, X: Any) -> Array:
        """Return the prepared rows: float32 for arrays of float32 in ``fit``, float64 otherwise."""
        check_is_fitted(self)
        return self.scaling_.transform(self._expanded(X), self._dtype)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of the result."""
        check_is_fitted(self)
        return np.asarray(self._names, dtype=object)

    def _learn_columns(self, raw: tuple[list[Array], list[str]], sample_weight: Array | None = None) -> Array:
        """Learn how raw columns become numbers, and return the numbers that are kept, not scaled."""
        values, kinds = raw
        weight = np.ones(len(values[0])) if sample_weight is None else sample_weight
        most = self.max_categories
        self.columns_ = [TableColumn.of(column, kind, most, weight) for column, kind in zip(values, kinds, strict=True)]
        expanded = self._numbers(values)
        self._kept = np.flatnonzero(np.ptp(expanded, axis=0) > 0)
        if not len(self._kept):  # all columns are constant: the first stands for them
            self._kept = np.zeros(1, dtype=np.int64)
        own = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        names = [column.names(name) for column, name in zip(self.columns_, own, strict=True)]
        sources = np.repeat(np.arange(len(names)), [len(some) for some in names])
        flat = [one for some in names for one in some]
        self.sources_ = sources[self._kept].astype(np.int64)
        self._names = [flat[j] for j in self._kept]
        return expanded[:, self._kept]

    def _expanded(self, X: Any, owner: str = "ColumnPreparation") -> Array:
        """Return the numbers of X that are kept, not scaled."""
        X = self._checked(X, reset=False)
        values, kinds = raw_columns(owner, X)
        for j, (column, kind) in enumerate(zip(self.columns_, kinds, strict=True)):
            if column.kind != kind:
                raise ValueError(
                    f"{owner}: column {j} of X held {column.kind} in fit and holds {kind} now. Convert "
                    "it to the type that it had."
                )
        return self._numbers(values)[:, self._kept]

    def _numbers(self, values: list[Array]) -> Array:
        return np.column_stack([column.numbers(x) for column, x in zip(self.columns_, values, strict=True)])

    def _checked(self, X: Any, *, reset: bool) -> Any:
        if is_frame(X):
            if not X.shape[0] or not X.shape[1]:
                raise ValueError(
                    f"{type(self).__name__}: X has {X.shape[0]} rows and {X.shape[1]} columns; it needs one of each."
                )
            return validate_data(self, X, reset=reset, skip_check_array=True)
        rule = {"dtype": (np.float64, np.float32), "ensure_all_finite": "allow-nan"}
        X = validate_data(self, X, reset=reset, accept_sparse="csr", **rule)
        if not sparse.issparse(X):
            return X
        n_bytes = X.shape[0] * X.shape[1] * X.dtype.itemsize
        check_memory(type(self).__name__, "X", X.shape, n_bytes, "sparse rows made dense", way_out="Leave columns out.")
        return X.toarray()

    def _check_params(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"{type(self).__name__}: method must be one of {list(METHODS)}, got {self.method!r}.")
        check_integer(type(self).__name__, "max_categories", self.max_categories)

    def _check_stored(self, sizes: Sizes) -> None:
        self._check_params()
        check_random_state(self.random_state)
        width = sum(len(column.names("")) for column in self.columns_)
        require(len(self._kept) and self._kept.max() < width, "kept must be numbers of columns")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
