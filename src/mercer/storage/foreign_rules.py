"""Rules of scikit-learn's classes in model files that concern several attributes: no forged file may lead outside."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer._typing import Array
from mercer.state import require

# The columns and the degree of polynomial features at most: scikit-learn checks no memory.
MOST_COLUMNS, MOST_DEGREE = 2**20, 64
_WORDS = ("drop", "passthrough")


def check(estimator: BaseEstimator, *, is_fitted: bool) -> None:
    """Check parameters as ``fit`` does, and rules that concern several attributes."""
    name = type(estimator).__name__
    always = _ALWAYS.get(name)
    if always is not None:
        always(estimator)
    if is_fitted and name not in ("Pipeline", "FeatureUnion"):
        estimator._validate_params()
        rule = _FITTED.get(name)
        if rule is not None:
            rule(estimator)


def n_missing(categories: Array) -> int:
    """Return how many of the last categories are None or NaN."""
    count = 0
    for value in categories[::-1].tolist():
        if value is None or (isinstance(value, float) and np.isnan(value)):
            count += 1
        else:
            break
    return count


def _check_pipeline(pipeline: BaseEstimator) -> None:
    # A cache of joblib reads pickles.
    require(pipeline.memory is None, "Pipeline: memory must be None in a model file")
    pipeline._validate_steps()


def _check_function(transformer: BaseEstimator) -> None:
    identity = transformer.func is None and transformer.inverse_func is None
    words = "FunctionTransformer: func and inverse_func must be None in a model file, which holds no code"
    require(identity and not transformer.kw_args and not transformer.inv_kw_args, words)
    named = transformer.feature_names_out in (None, "one-to-one")
    require(named, "FunctionTransformer: feature_names_out must be None or 'one-to-one'")


def _check_weights(weights: object, names: Sequence[str]) -> None:
    require(weights is None or isinstance(weights, Mapping), "transformer_weights must be a dict")
    for name, weight in (weights or {}).items():  # type: ignore[attr-defined] # checked
        finite = isinstance(weight, int | float) and not isinstance(weight, bool) and np.isfinite(weight)
        require(name in names and finite, "transformer_weights must hold finite numbers, by the names of transformers")


def _check_members(members: object, size: int) -> None:
    sound = isinstance(members, list) and all(isinstance(one, tuple) and len(one) == size for one in members)
    require(sound, f"transformers must be a list of tuples of {size}")
    names = [one[0] for one in members]  # type: ignore[attr-defined] # checked
    require(all(isinstance(name, str) and name and "__" not in name for name in names), "names must be text without __")
    require(len(set(names)) == len(names), "the names of transformers must differ")
    for _, transformer, *_ in members:  # type: ignore[attr-defined] # checked
        is_word = isinstance(transformer, str) and transformer in _WORDS
        can = isinstance(transformer, BaseEstimator) and hasattr(transformer, "transform")
        require(is_word or can, "a transformer must be 'drop', 'passthrough' or an estimator that transforms")


def _check_jobs(estimator: BaseEstimator) -> None:
    name = type(estimator).__name__
    require(estimator.n_jobs in (None, 1), f"{name}: n_jobs must be None in a model file; set it after loading")


def _check_union(union: BaseEstimator) -> None:
    _check_members(union.transformer_list, 2)
    _check_jobs(union)
    _check_weights(union.transformer_weights, [name for name, _ in union.transformer_list])
    require(isinstance(union.verbose, bool), "FeatureUnion: verbose must be True or False")
    require(isinstance(union.verbose_feature_names_out, bool), "verbose_feature_names_out must be True or False")


def _check_columns(transformer: BaseEstimator) -> None:
    """Refuse places of columns that are not those that the specifications of columns name."""
    _check_members(transformer.transformers, 3)
    _check_jobs(transformer)
    names = [name for name, _, _ in transformer.transformers]
    _check_weights(transformer.transformer_weights, [*names, "remainder"])
    width = transformer.n_features_in_
    require(width <= MOST_COLUMNS, f"ColumnTransformer: a file holds at most {MOST_COLUMNS} columns")
    known = getattr(transformer, "feature_names_in_", None)
    labels = None if known is None else known.tolist()
    places = {name: places_of_columns(columns, labels, width) for name, _, columns in transformer.transformers}
    taken = {place for some in places.values() for place in some}
    places["remainder"] = [j for j in range(width) if j not in taken]
    found = {name: [int(j) for j in some] for name, some in transformer._transformer_to_input_indices.items()}
    require(found == places, "ColumnTransformer: the places of columns must be those of the transformers")
    require(
        _same(transformer._columns, [columns for _, _, columns in transformer.transformers]),
        "ColumnTransformer: columns must be those of the transformers",
    )
    _check_rest(transformer, places["remainder"], labels, width)
    _check_fitted_members(transformer, places)


def _check_rest(transformer: BaseEstimator, rest: list[int], labels: list[str] | None, width: int) -> None:
    remainder = transformer._remainder
    sound = len(remainder) == 3 and remainder[0] == "remainder" and remainder[1] is not None
    require(sound, "ColumnTransformer: rest must be of three parts")
    given = transformer.remainder
    is_word = isinstance(given, str) and given in _WORDS
    require(is_word or isinstance(given, BaseEstimator), "ColumnTransformer: remainder must be a transformer")
    require(isinstance(remainder[2], list), "ColumnTransformer: the columns of the rest must be a list")
    at = places_of_columns(remainder[2], labels, width) if len(remainder[2]) else []
    require(at == rest, "ColumnTransformer: the rest must be the columns that no transformer takes")


def _check_fitted_members(transformer: BaseEstimator, places: Mapping[str, list[int]]) -> None:
    fitted = transformer.transformers_
    _check_members(fitted, 3)
    given = [(name, columns) for name, _, columns in transformer.transformers]
    given += [("remainder", transformer._remainder[2])] if places["remainder"] else []
    require(
        [name for name, _, _ in fitted] == [name for name, _ in given]
        and all(_same(found, columns) for (_, _, found), (_, columns) in zip(fitted, given, strict=True)),
        "ColumnTransformer: transformers_ must be those of transformers",
    )
    for name, member, columns in fitted:
        if isinstance(member, str):
            is_used = len(places[name]) > 0
            require(member == "drop" or not is_used, f"ColumnTransformer: {name!r} must be fitted or dropped")
            continue
        taken = getattr(member, "n_features_in_", None)
        wide = taken is None or np.isscalar(columns) or taken == len(places[name]) or not places[name]
        require(wide, f"ColumnTransformer: {name!r} must take as many columns as it is given")
    require(
        set(transformer.output_indices_) <= set(places), "ColumnTransformer: output_indices_ must be of transformers"
    )


def places_of_columns(columns: object, labels: list[str] | None, width: int) -> list[int]:
    """Return the numbers of columns that a specification names, as scikit-learn reads it."""
    if isinstance(columns, str):
        return [_place(columns, labels)]
    if isinstance(columns, bool | np.bool_) or columns is None:
        require(False, "ColumnTransformer: columns must be names or numbers")
    if isinstance(columns, int | np.integer):
        return [_inside(int(columns), width)]
    if isinstance(columns, slice):
        require(
            all(end is None or type(end) is int for end in (columns.start, columns.stop, columns.step)),
            "ColumnTransformer: a slice of columns must be of numbers",
        )
        return list(range(width))[columns]
    require(isinstance(columns, list | tuple | np.ndarray), "ColumnTransformer: columns must be names or numbers")
    items: list[Any] = np.asarray(columns, dtype=object).tolist()
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        require(len(items) == width, "ColumnTransformer: a mask of columns must have an entry for each column")
        return [j for j, taken in enumerate(items) if taken]
    if items and all(isinstance(item, str) for item in items):
        return [_place(item, labels) for item in items]
    require(all(isinstance(item, int | np.integer) for item in items), "ColumnTransformer: columns must be of one kind")
    return [_inside(int(item), width) for item in items]


def _place(name: str, labels: list[str] | None) -> int:
    require(labels is not None and name in labels, f"ColumnTransformer: there is no column {name!r}")
    return labels.index(name)  # type: ignore[union-attr] # checked


def _inside(place: int, width: int) -> int:
    require(-width <= place < width, f"ColumnTransformer: there is no column {place}")
    return place % width


def _same(first: object, second: object) -> bool:
    """Compare specifications of columns, which may be arrays."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return type(first) is type(second) and np.array_equal(first, second)  # type: ignore[arg-type]
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        same_length = type(first) is type(second) and len(first) == len(second)
        return same_length and all(_same(a, b) for a, b in zip(first, second, strict=True))
    return type(first) is type(second) and bool(first == second)


def _is_type_of_numbers(value: object) -> bool:
    try:
        return np.dtype(value).kind in "fiub"  # type: ignore[call-overload]
    except TypeError:
        return False


def _check_groups(encoder: BaseEstimator) -> list[int]:
    """Refuse groups of rare categories outside the categories; return the width of each column."""
    name = type(encoder).__name__
    require(_is_type_of_numbers(encoder.dtype), f"{name}: dtype must be a type of numbers")
    widths = []
    for j, categories in enumerate(encoder.categories_):
        n_kept = len(categories)
        group = encoder._default_to_infrequent_mappings[j] if encoder._infrequent_enabled else None
        if group is not None:
            rare = encoder._infrequent_indices[j]
            require(rare is not None and len(rare) and rare.max() < len(categories), f"infrequent[{j}] lead outside")
            n_kept = n_kept - len(rare) + 1
            require(len(group) == len(categories) and group.max() < n_kept, f"groups[{j}] lead outside")
        widths.append(n_kept)
    return widths


def _check_one_hot(encoder: BaseEstimator) -> None:
    """Refuse widths, groups and dropped categories outside the columns: SciPy would access memory there."""
    of_columns = encoder._drop_idx_after_grouping
    for j, (n_kept, width) in enumerate(zip(_check_groups(encoder), encoder._n_features_outs, strict=True)):
        dropped = None if of_columns is None else of_columns[j]
        inside = dropped is None or (isinstance(dropped, int | np.integer) and 0 <= dropped < n_kept)
        require(inside and width == n_kept - (dropped is not None), f"widths[{j}] is not that of the categories")


def _check_ordinal(encoder: BaseEstimator) -> None:
    _check_groups(encoder)
    is_real = np.dtype(encoder.dtype).kind == "f"
    for name in ("unknown_value", "encoded_missing_value"):
        value = getattr(encoder, name)
        require(is_real or value is None or not np.isnan(value), f"OrdinalEncoder: {name} must be of the type dtype")
    known = encoder.handle_unknown != "use_encoded_value" or encoder.unknown_value is not None
    require(known, "OrdinalEncoder: unknown_value must be a number for handle_unknown='use_encoded_value'")
    for j, place in encoder._missing_indices.items():
        inside = j < len(encoder.categories_) and len(encoder.categories_[j]) - place in (1, 2)
        require(inside and n_missing(encoder.categories_[j]), "missing must be the place of a missing value")


def _check_imputer(imputer: BaseEstimator) -> None:
    indicator = imputer.indicator_
    named = indicator is None or type(indicator).__name__ == "MissingIndicator"
    require(
        named and bool(imputer.add_indicator) == (indicator is not None), "indicator_ must be there if it is asked for"
    )
    wide = indicator is None or indicator.n_features_in_ == imputer.n_features_in_
    require(wide, "indicator_ must be of as many columns as statistics_")
    is_object = imputer.statistics_.dtype == object
    of_rows = imputer._fit_dtype
    types = {of_rows, getattr(imputer, "_fill_dtype", of_rows)}
    require(is_object == (np.dtype(object) in types), "SimpleImputer: statistics_ must be of the type of the rows")
    require(len({np.dtype(object)} & types) == is_object and (not is_object or len(types) == 1), "types must agree")


def _check_polynomial(features: BaseEstimator) -> None:
    degree = features.degree
    least, most = (0, degree) if isinstance(degree, int | np.integer) else tuple(degree)
    require((features._min_degree, features._max_degree) == (least, most), "PolynomialFeatures: degrees must be degree")
    require(least <= most, "PolynomialFeatures: degrees must ascend")
    common = {"n_features": features.n_features_in_, "interaction_only": features.interaction_only}
    require(common["n_features"] <= MOST_COLUMNS, "PolynomialFeatures: there are too many columns")
    common |= {"include_bias": features.include_bias, "max_degree": most}
    widths = [features._num_combinations(min_degree=start, **common) for start in (least, 0)]
    found = [features.n_output_features_, features._n_out_full]
    require(found == widths, "PolynomialFeatures: n_output_features_ must count the features")


def _check_power(transformer: BaseEstimator) -> None:
    scaler = getattr(transformer, "_scaler", None)
    require(
        bool(transformer.standardize) == (scaler is not None), "PowerTransformer: scaler must be there if asked for"
    )
    sound = scaler is None or type(scaler).__name__ == "StandardScaler"
    require(
        sound and (scaler is None or getattr(scaler, "n_features_in_", None) == transformer.n_features_in_),
        "PowerTransformer: scaler must be a StandardScaler of the same columns",
    )


def _check_quantiles(transformer: BaseEstimator) -> None:
    require(np.all(np.diff(transformer.quantiles_, axis=0) >= 0), "QuantileTransformer: quantiles_ must ascend")
    require(np.all(np.diff(transformer.references_) >= 0), "QuantileTransformer: references_ must ascend")


def _check_bins(transformer: BaseEstimator) -> None:
    sizes = [len(edges) - 1 for edges in transformer.bin_edges_]
    require(sizes == transformer.n_bins_.tolist(), "KBinsDiscretizer: bin_edges_ must have an edge more than bins")
    encoder = getattr(transformer, "_encoder", None)
    require((transformer.encode != "ordinal") == (encoder is not None), "KBinsDiscretizer: encoder must follow encode")
    if encoder is not None:
        sound = type(encoder).__name__ == "OneHotEncoder" and hasattr(encoder, "categories_")
        require(sound, "KBinsDiscretizer: encoder must be a fitted OneHotEncoder")
        of_bins = [np.array_equal(own, np.arange(n)) for own, n in zip(encoder.categories_, sizes, strict=True)]
        require(all(of_bins), "KBinsDiscretizer: encoder must be of the numbers of bins")


_ALWAYS: Mapping[str, Callable[[BaseEstimator], None]] = {
    "FeatureUnion": _check_union,
    "FunctionTransformer": _check_function,
    "Pipeline": _check_pipeline,
}
_FITTED: Mapping[str, Callable[[BaseEstimator], None]] = {
    "ColumnTransformer": _check_columns,
    "KBinsDiscretizer": _check_bins,
    "OneHotEncoder": _check_one_hot,
    "OrdinalEncoder": _check_ordinal,
    "PolynomialFeatures": _check_polynomial,
    "PowerTransformer": _check_power,
    "QuantileTransformer": _check_quantiles,
    "SimpleImputer": _check_imputer,
}
