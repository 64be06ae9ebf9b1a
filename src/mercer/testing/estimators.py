"""Rows, targets and outputs that suit any estimator, for laws that hold for all."""

from collections.abc import Callable
from functools import partial
from inspect import isabstract
from typing import TypeVar
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import get_tags

import mercer
from mercer import features, gram, kernels
from mercer._typing import Array, Rows
from mercer.features import FeatureMap
from mercer.gram import GramOperator
from mercer.structures import Ragged
from mercer.testing.samples import sample_rows

_Base = TypeVar("_Base")

# Kernels and maps of objects.
_OF_OBJECTS = (
    kernels.PartKernel,
    kernels.Convolution,
    kernels.Subsequence,
    features.PartFeatures,
    features.PartTensorSketch,
    features.SubsequenceSketch,
    features.ConvolutionFeatures,
)
_METHODS = ("transform", "predict", "decision_function", "predict_proba", "score_samples")


def public_classes(base: type[_Base], *, of_objects: bool = False) -> dict[str, type[_Base]]:
    """Return the concrete public classes that derive from a base, by name: of ``mercer`` and of its packages.

    Classes that take objects in place of rows of numbers are left out, unless ``of_objects``.

    >>> from mercer.gram import GramOperator
    >>> sorted(public_classes(GramOperator))
    ['BlockGram', 'ExactGram', 'LowRankGram', 'MEKA']
    """
    values = [getattr(module, name) for module in (mercer, kernels, features, gram) for name in module.__all__]
    classes = [value for value in values if isinstance(value, type) and issubclass(value, base)]
    wanted = [found for found in classes if of_objects or not issubclass(found, _OF_OBJECTS)]
    return {found.__name__: found for found in wanted if found is not base and not isabstract(found)}


def seeded(estimator: BaseEstimator) -> BaseEstimator:
    """Return an unfitted copy, with a seed if the estimator takes one."""
    copy = clone(estimator)
    return copy.set_params(random_state=0) if "random_state" in copy.get_params(deep=False) else copy


def fitted_quietly(estimator: BaseEstimator, X: Rows, y: Array | None) -> BaseEstimator:
    """Fit an estimator without warnings, on rows alone if y is None."""
    with catch_warnings():
        simplefilter("ignore")
        return estimator.fit(X) if y is None else estimator.fit(X, y)


def rows_for(estimator: BaseEstimator, n_rows: int = 40, n_features: int = 10) -> Array:
    """Return rows that every kernel takes: entries not below 0, as histograms have, and lengths below one."""
    return np.asarray(np.abs(sample_rows(n_rows, n_features)))


def as_double(X: Rows) -> Rows:
    """Return rows, or packed objects, of float64."""
    return X.astype(np.float64) if isinstance(X, Ragged) else np.asarray(X, dtype=np.float64)


def targets_for(estimator: BaseEstimator, X: Rows, *, other: bool = False) -> Array | None:
    """Return targets of the kind that an estimator needs, or of the other kind that it takes; None if it takes no y.

    Kinds: three classes or two; numbers in one column or in two; a second view of the rows.
    """
    if isinstance(X, Ragged):
        X = np.column_stack([X.sizes, np.arange(len(X))]).astype(np.float64)
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    numbers = dense[:, 0] + dense[:, -1] ** 2
    tags = get_tags(estimator).target_tags
    if is_classifier(estimator):
        order = np.argsort(np.argsort(numbers))
        return order % 2 if other else np.array(["low", "middle", "top"])[order * 3 // len(order)]
    if is_regressor(estimator):
        if other:
            return np.column_stack([numbers, dense[:, 1]]) if tags.multi_output else None
        return np.asarray(numbers)
    return dense[:, ::-1] ** 2 if tags.required and not other else None


def outputs(estimator: BaseEstimator, X: Rows) -> dict[str, object]:
    """Return the results of each method of a fitted estimator, or the message of a method that refuses the rows."""
    calls: dict[str, Callable[[], object]] = {
        name: partial(getattr(estimator, name), X) for name in _METHODS if hasattr(estimator, name)
    }
    if isinstance(estimator, FeatureMap) and not sparse.issparse(X):
        few = X[:5].astype(np.float64)
        calls["variance"] = lambda: estimator.exact_variance(few, few)
        calls["bias"] = lambda: estimator.bias(few, few)
    if isinstance(estimator, GramOperator):
        calls |= {"product": lambda: estimator @ np.eye(estimator.shape[0]), "diagonal": estimator.diagonal}
    return {name: _called(call) for name, call in calls.items()}


def _called(call: Callable[[], object]) -> object:
    with catch_warnings():
        simplefilter("ignore")
        try:
            return call()
        except ValueError as error:
            return str(error)
