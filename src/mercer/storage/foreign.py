"""What model files hold of the classes of scikit-learn; the classes of mercer declare this themselves."""

from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, make_column_selector

from mercer.state import (
    Count,
    Either,
    Flag,
    Integers,
    Kind,
    Many,
    Member,
    Names,
    OneOf,
    Real,
    Reals,
    Sizes,
    Table,
    Text,
    UnsoundError,
    require,
)
from mercer.storage import foreign_rules

MODULES: Mapping[str, Collection[str]] = {
    "sklearn.compose": ("ColumnTransformer",),
    "sklearn.feature_selection": ("VarianceThreshold",),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing": (
        "Binarizer",
        "FunctionTransformer",
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
}


@dataclass(frozen=True)
class Categories(Kind):
    """The categories of a column; after them None and NaN, for missing values.

    Numbers ascend, because scikit-learn searches them by halving. Text may have the order that a user gave.
    """

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.ndim != 1 or not len(value):
            raise UnsoundError(f"{name} must be an array of categories")
        known = value[: len(value) - foreign_rules.n_missing(value)]
        are_text = known.dtype.kind in "OU" and all(isinstance(item, str) for item in known.tolist())
        Names((None,), ascending=not are_text).check(known, name, sizes)
        require(not are_text or len(set(known.tolist())) == len(known), f"{name} must differ")


@dataclass(frozen=True)
class Items(Kind):
    """A list, or a tuple, whose items ``foreign_rules`` checks."""

    of: type = list

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        require(type(value) is self.of, f"{name} must be a {self.of.__name__}")


@dataclass(frozen=True)
class Places(Kind):
    """A slice of columns from 0 on."""

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if not isinstance(value, slice) or type(value.start) is not int or type(value.stop) is not int:
            raise UnsoundError(f"{name} must be a slice")
        require(value.step is None and 0 <= value.start <= value.stop, f"{name} must be a slice of columns")


@dataclass(frozen=True)
class Arrays(Kind):
    """An array of arrays of finite numbers in ascending order, one for each column."""

    def _check(self, value: object, name: str, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype != object or value.ndim != 1:
            raise UnsoundError(f"{name} must be an array of arrays")
        sizes.match("d", len(value), f"len({name})")
        for i, item in enumerate(value):
            Reals((None,)).check(item, f"{name}[{i}]", sizes)
            require(np.all(np.diff(item) > 0), f"{name}[{i}] must ascend")


_COLUMNS: Mapping[str, Kind] = {
    "n_features_in_": Count("d", least=1),
    "feature_names_in_": Names(("d",), ascending=False, text=True, optional=True),
}
# NaN occurs here if the rows had missing values and scikit-learn allows them.
_COLUMN = Reals(("d",), finite=False, nullable=True)
_SCALE = Reals(("d",), finite=False, positive=True, nullable=True)
_SEEN = Either((Real(0.0), Reals(("d",), 0.0), Integers(("d",), least=0)))
_DTYPES = tuple(np.dtype(name) for name in ("f8", "f4", "i8", "i4", "O"))
_GROUPS = Many(Integers((None,), least=0, nullable=True), "d")
_DROPPED = Names(("d",), ascending=False, nullable=True)
_INFREQUENT: Mapping[str, Kind] = {
    "has_infrequent": OneOf((True, False), attribute="_infrequent_enabled"),
    "infrequent": Many(_GROUPS.kind, "d", attribute="_infrequent_indices", optional=True),
    "groups": Many(_GROUPS.kind, "d", attribute="_default_to_infrequent_mappings", optional=True),
}

STORED: Mapping[str, Mapping[str, Kind]] = {
    "Pipeline": {},
    "FeatureUnion": {},
    "ColumnTransformer": {
        **_COLUMNS,
        "columns": Items(attribute="_columns"),
        "places": Table(Text(), Many(Count()), attribute="_transformer_to_input_indices"),
        "rest": Items(tuple, attribute="_remainder"),
        "transformers_": Items(),
        "output_indices_": Table(Text(), Places()),
        "sparse_output_": Flag(),
    },
    "Binarizer": _COLUMNS,
    "FunctionTransformer": _COLUMNS,
    "KBinsDiscretizer": {
        **_COLUMNS,
        "bin_edges_": Arrays(),
        "n_bins_": Integers(("d",), (np.int64,), least=1),
        "encoder": Member(BaseEstimator, attribute="_encoder", optional=True),
    },
    "Normalizer": _COLUMNS,
    "MaxAbsScaler": {**_COLUMNS, "n_samples_seen_": _SEEN, "max_abs_": _COLUMN, "scale_": _SCALE},
    "MinMaxScaler": {
        **_COLUMNS,
        "n_samples_seen_": _SEEN,
        "scale_": _SCALE,
        **dict.fromkeys(("min_", "data_min_", "data_max_", "data_range_"), _COLUMN),
    },
    "MissingIndicator": {
        **_COLUMNS,
        "features_": Integers((None,), (np.int64,), least=0, below="d"),
        "width": Count("d", attribute="_n_features"),
        "precomputed": Flag(attribute="_precomputed"),
    },
    "OrdinalEncoder": {
        **_COLUMNS,
        "categories_": Many(Categories(), "d"),
        "missing": Table(Count(), Count(), attribute="_missing_indices"),
        **_INFREQUENT,
    },
    "PolynomialFeatures": {
        **_COLUMNS,
        "n_output_features_": Count(least=0, most=foreign_rules.MOST_COLUMNS),
        "full_width": Count(least=1, most=foreign_rules.MOST_COLUMNS, attribute="_n_out_full"),
        "least_degree": Count(most=foreign_rules.MOST_DEGREE, attribute="_min_degree"),
        "greatest_degree": Count(most=foreign_rules.MOST_DEGREE, attribute="_max_degree"),
    },
    "PowerTransformer": {
        **_COLUMNS,
        "lambdas_": Reals(("d",)),
        "scaler": Member(BaseEstimator, attribute="_scaler", optional=True),
    },
    "QuantileTransformer": {
        **_COLUMNS,
        "n_quantiles_": Count("q", least=1),
        "quantiles_": Reals(("q", "d")),
        "references_": Reals(("q",), 0.0, most=1.0),
    },
    "RobustScaler": {**_COLUMNS, "center_": _COLUMN, "scale_": _SCALE},
    "StandardScaler": {**_COLUMNS, "n_samples_seen_": _SEEN, "mean_": _COLUMN, "var_": _COLUMN, "scale_": _SCALE},
    "SimpleImputer": {
        **_COLUMNS,
        "statistics_": Either((Reals(("d",), finite=False), Names(("d",), ascending=False))),
        "indicator_": Member(BaseEstimator, nullable=True),
        "fit_dtype": OneOf(_DTYPES, attribute="_fit_dtype"),
        "fill_dtype": OneOf(_DTYPES, attribute="_fill_dtype", optional=True),
    },
    "OneHotEncoder": {
        **_COLUMNS,
        "categories_": Many(Categories(), "d"),
        "drop_idx_": _DROPPED,
        "dropped": Names(("d",), ascending=False, nullable=True, attribute="_drop_idx_after_grouping"),
        **_INFREQUENT,
        "widths": Many(Count(least=0), "d", attribute="_n_features_outs"),
    },
    "VarianceThreshold": {**_COLUMNS, "variances_": Reals(("d",), 0.0)},
}


def stored_value(estimator: BaseEstimator, name: str) -> Any:
    """Return what a model file holds of a fitted estimator of scikit-learn under a name."""
    return vars(estimator)[STORED[type(estimator).__name__][name].attribute or name]


def with_named_columns(estimator: BaseEstimator) -> BaseEstimator:
    """Return a ``ColumnTransformer`` that names the columns which ``make_column_selector`` found in ``fit``.

    The selector looks at the types of the columns of ``fit`` alone: a fitted transformer has no more use for it.
    Others are returned as they are.
    """
    if not isinstance(estimator, ColumnTransformer) or not hasattr(estimator, "transformers_"):
        return estimator
    found = stored_value(estimator, "columns")
    named = [
        (name, member, list(columns) if isinstance(given, make_column_selector) else given)
        for (name, member, given), columns in zip(estimator.transformers, found, strict=True)
    ]
    twin = copy(estimator)
    twin.transformers = named
    return twin


def check(estimator: BaseEstimator, *, is_fitted: bool) -> None:
    """Check parameters as ``fit`` does, and rules that concern several attributes."""
    foreign_rules.check(estimator, is_fitted=is_fitted)
