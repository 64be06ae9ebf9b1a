"""What model files hold of the classes of scikit-learn; the classes of mercer declare this themselves."""

from collections.abc import Collection, Mapping

import numpy as np
from sklearn.base import BaseEstimator

from mercer.state import Count, Either, Integers, Kind, Many, Names, OneOf, Real, Reals, require

MODULES: Mapping[str, Collection[str]] = {
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.impute": ("SimpleImputer",),
    "sklearn.preprocessing": (
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "RobustScaler",
        "StandardScaler",
    ),
}

_COLUMNS: Mapping[str, Kind] = {
    "n_features_in_": Count("d", least=1),
    "feature_names_in_": Names(("d",), ascending=False, text=True, optional=True),
}
# NaN occurs here if the rows had missing values and scikit-learn allows them.
_COLUMN = Reals(("d",), finite=False, nullable=True)
_SCALE = Reals(("d",), finite=False, positive=True, nullable=True)
_SEEN = Either((Real(0.0), Reals(("d",), 0.0), Integers(("d",), least=0)))
_DTYPE = OneOf(tuple(np.dtype(name) for name in ("f8", "f4", "i8", "i4")))
_GROUPS = Many(Integers((None,), least=0, nullable=True), "d")
_DROPPED = Names(("d",), ascending=False, nullable=True)

STORED: Mapping[str, Mapping[str, Kind]] = {
    "Pipeline": {},
    "Normalizer": _COLUMNS,
    "MaxAbsScaler": {**_COLUMNS, "n_samples_seen_": _SEEN, "max_abs_": _COLUMN, "scale_": _SCALE},
    "MinMaxScaler": {
        **_COLUMNS,
        "n_samples_seen_": _SEEN,
        "scale_": _SCALE,
        **dict.fromkeys(("min_", "data_min_", "data_max_", "data_range_"), _COLUMN),
    },
    "RobustScaler": {**_COLUMNS, "center_": _COLUMN, "scale_": _SCALE},
    "StandardScaler": {**_COLUMNS, "n_samples_seen_": _SEEN, "mean_": _COLUMN, "var_": _COLUMN, "scale_": _SCALE},
    "SimpleImputer": {
        **_COLUMNS,
        "statistics_": Reals(("d",), finite=False),
        "indicator_": OneOf((None,)),
        "fit_dtype": OneOf(_DTYPE.values, attribute="_fit_dtype"),
        "fill_dtype": OneOf(_DTYPE.values, attribute="_fill_dtype", optional=True),
    },
    "OneHotEncoder": {
        **_COLUMNS,
        "categories_": Many(Names((None,)), "d"),
        "drop_idx_": _DROPPED,
        "dropped": Names(("d",), ascending=False, nullable=True, attribute="_drop_idx_after_grouping"),
        "has_infrequent": OneOf((True, False), attribute="_infrequent_enabled"),
        "infrequent": Many(_GROUPS.kind, "d", attribute="_infrequent_indices", optional=True),
        "groups": Many(_GROUPS.kind, "d", attribute="_default_to_infrequent_mappings", optional=True),
        "widths": Many(Count(least=0), "d", attribute="_n_features_outs"),
    },
}


def _is_type_of_numbers(value: object) -> bool:
    try:
        return np.dtype(value).kind in "fiub"  # type: ignore[call-overload]
    except TypeError:
        return False


def _check_encoder(encoder: BaseEstimator) -> None:
    """Refuse widths, groups and dropped categories outside the columns: SciPy would access memory there."""
    require(_is_type_of_numbers(encoder.dtype), "OneHotEncoder: dtype must be a type of numbers")
    for j, (categories, width) in enumerate(zip(encoder.categories_, encoder._n_features_outs, strict=True)):
        n_kept = len(categories)
        group = encoder._default_to_infrequent_mappings[j] if encoder._infrequent_enabled else None
        if group is not None:
            n_kept = n_kept - len(encoder._infrequent_indices[j]) + 1
            require(len(group) == len(categories) and group.max() < n_kept, f"groups[{j}] lead outside")
        dropped = None if encoder._drop_idx_after_grouping is None else encoder._drop_idx_after_grouping[j]
        inside = dropped is None or (isinstance(dropped, int | np.integer) and 0 <= dropped < n_kept)
        require(inside and width == n_kept - (dropped is not None), f"widths[{j}] is not that of the categories")


def check(estimator: BaseEstimator, *, is_fitted: bool) -> None:
    """Check parameters as ``fit`` does, and rules that concern several attributes."""
    name = type(estimator).__name__
    if name == "Pipeline":
        # A cache of joblib reads pickles.
        require(estimator.memory is None, "Pipeline: memory must be None in a model file")
        estimator._validate_steps()
    elif is_fitted:
        estimator._validate_params()
        if name == "OneHotEncoder":
            _check_encoder(estimator)
