"""Models that are linear in features: regression, classes and probabilities, with far rows shrunk as in mercer."""

from collections.abc import Mapping
from functools import reduce
from operator import add

import numpy as np

from mercer.export.expansions import expanded
from mercer.export.graph import Graph, Tensor
from mercer.export.registry import features, labels, writes_model
from mercer.learners import KernelLogisticRegression, KernelOneClassSVM
from mercer.learners.base import LinearLearner
from mercer.learners.classification import ClassScores
from mercer.learners.online.tracking import TrackingClassifier
from mercer.learners.predictions import LinearScores
from mercer.learners.regression import OneTarget
from mercer.learners.shrinkage import Leverage, Shrinker


@writes_model(OneTarget)
def regression(model: OneTarget, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the predictions, in the shape of y."""
    scores = scores_of(model, graph, X)
    return {"prediction": scores.flat() if model.coef_.ndim == 1 else scores}


@writes_model(ClassScores)
def classification(model: ClassScores, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the labels, and the scores as ``decision_function`` returns them."""
    scores = scores_of(model, graph, X)
    return {"label": class_labels(model.classes_, scores), "scores": scores.flat() if _is_flat(model) else scores}


@writes_model(KernelLogisticRegression)
def logistic(model: KernelLogisticRegression, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the labels and the probabilities of all classes."""
    scores = scores_of(model, graph, X)
    both = graph.concatenate([(-scores).op("Sigmoid"), scores.op("Sigmoid")]) if _is_flat(model) else None
    probabilities = scores.op("Softmax", axis=1) if both is None else both
    return {"label": class_labels(model.classes_, scores), "probabilities": probabilities}


@writes_model(KernelOneClassSVM)
def one_class(model: KernelOneClassSVM, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write -1 for outliers and 1 for the others, and the scores less the offset."""
    scores = scores_of(model, graph, X).flat()
    label = (scores.op("Less", np.zeros(()), dtype=bool)).where(np.array(-1), np.array(1))
    return {"label": label, "scores": scores}


def class_labels(classes: "np.ndarray[tuple[int], np.dtype[np.generic]]", scores: Tensor) -> Tensor:
    """Write the class of each row of scores (n, k): the sign decides for two classes, else the largest score."""
    if len(classes) == 2:
        return labels(classes, (scores.flat() > 0.0).cast(np.int64))
    return labels(classes, scores.op("ArgMax", axis=1, keepdims=0, dtype=np.int64))


def scores_of(model: LinearScores, graph: Graph, X: Tensor) -> Tensor:
    """Write the features, or kernel values, times the coefficients, plus the intercept: (n, k)."""
    if isinstance(model, TrackingClassifier):
        return _mixed(model, graph, X)
    values = expanded(model, graph, X)
    if values is not None:
        return (values @ np.atleast_2d(model.coef_).T + np.atleast_1d(model.intercept_)).cast(graph.dtype)
    Z = features(model.feature_map_, graph, X)
    scores = Z @ np.atleast_2d(model.coef_).T + np.atleast_1d(model.intercept_)
    shrinker = model.shrinker() if isinstance(model, LinearLearner) else None
    return scores if shrinker is None else _shrunk(shrinker, X, Z, scores)


def _mixed(model: TrackingClassifier, graph: Graph, X: Tensor) -> Tensor:
    """Write the mean of the experts' scores between -1 and 1, by their weights."""
    parts = [scores_of(expert, graph, X).at_least(-1.0).at_most(1.0) * float(w) for expert, w in _experts(model)]
    return reduce(add, parts)


def _experts(model: TrackingClassifier) -> "zip[tuple[LinearScores, float]]":
    return zip(model.experts_, model.weights_, strict=True)


def _is_flat(model: ClassScores) -> bool:
    return len(model.classes_) == 2


def _shrunk(shrinker: Shrinker, X: Tensor, Z: Tensor, scores: Tensor) -> Tensor:
    """Write prior + s (score - prior) of ``mercer.learners.shrinkage``."""
    factors = _by_columns(shrinker, X)
    if shrinker.leverage is not None:
        by_leverage = _by_leverage(shrinker.leverage, Z)
        factors = by_leverage if factors is None else factors.at_most(by_leverage)
    return scores if factors is None else factors * (scores - shrinker.prior) + shrinker.prior


def _by_columns(shrinker: Shrinker, X: Tensor) -> Tensor | None:
    low, high = shrinker.limits
    limited = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    if not len(limited):
        return None
    some = X if len(limited) == len(low) else X.take(limited, axis=1)
    beyond = (low[limited] - some).at_least(some - high[limited]) / shrinker.margins[limited]
    u = beyond.max(1).at_least(0.0).at_most(1.0)
    return 1.0 - u.square() * (3.0 - u * 2.0)


def _by_leverage(leverage: Leverage, Z: Tensor) -> Tensor:
    squares = (Z @ leverage.sketch - leverage.mean).square().sum(1)
    largest = float(np.finfo(np.float32).max)
    return (np.minimum(leverage.limits, largest) / squares.at_least(np.finfo(np.float32).tiny)).at_most(1.0)
