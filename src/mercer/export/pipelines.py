"""Pipelines of scikit-learn: transformers before a model of mercer, on rows of numbers or on the columns of a table."""

from collections.abc import Callable, Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder

from mercer.export.columns import Columns, TableInputs, width_of
from mercer.export.encoders import texts_of_encoder, texts_of_imputer
from mercer.export.graph import Graph, Tensor
from mercer.export.registry import (
    ExportError,
    features,
    is_step,
    results,
    transformed,
    writes_model,
    writes_step,
    writes_table,
)
from mercer.features import FeatureMap
from mercer.storage.foreign_rules import places_of_columns


@writes_model(Pipeline, ColumnTransformer, FeatureUnion, OneHotEncoder, OrdinalEncoder)
def pipeline(model: Any, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the steps one after another, on rows of numbers."""
    return _results(model, Columns(graph, [(X, width_of(model))]))


@writes_table(Pipeline, ColumnTransformer, FeatureUnion, OneHotEncoder, OrdinalEncoder)
def table_pipeline(model: Any, graph: Graph) -> Mapping[str, Tensor] | None:
    """Write the steps on a table with columns of text, with an input for each column that a step takes."""
    texts = _texts(model)
    if not texts:
        return None
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(width_of(model))])]
    return _results(model, TableInputs(graph, names, texts))


def _results(model: Any, X: Columns) -> Mapping[str, Tensor]:
    """Write the last step as a model; a pipeline that ends in a transformer writes ``transformed``."""
    if not isinstance(model, Pipeline):
        return {"transformed": transformed(model, X).numbers()}
    for _, step in model.steps[:-1]:
        X = transformed(step, X)
    last = model.steps[-1][1]
    if isinstance(last, Pipeline) or is_step(last):
        return _results(last, X)
    return results(last, X.graph, X.numbers())


@writes_step(str, type(None))
def passed_through(step: object, X: Columns) -> Columns:
    """Write the columns as they are."""
    return X


@writes_step(FeatureMap)
def map_of_rows(step: FeatureMap, X: Columns) -> Columns:
    """Write the features of one of mercer's maps."""
    return X.mapped(lambda x: features(step, x.graph, x), step.n_features_out_)


@writes_step(Pipeline)
def inner_pipeline(step: Pipeline, X: Columns) -> Columns:
    """Write a pipeline that transforms."""
    for _, one in step.steps:
        X = transformed(one, X)
    return X


@writes_step(FunctionTransformer)
def function(step: FunctionTransformer, X: Columns) -> Columns:
    """Write the columns as they are; a function of Python cannot be written."""
    if step.func is not None:
        raise ExportError(
            f"to_onnx: FunctionTransformer holds the function {step.func!r}, which cannot be written as ONNX. Apply it "
            "before the pipeline, in the program that calls the model."
        )
    return X


@writes_step(FeatureUnion)
def union(step: FeatureUnion, X: Columns) -> Columns:
    """Write the results of all members next to each other."""
    weights = step.transformer_weights or {}
    parts = [
        _weighted(transformed(member, X), weights.get(name))
        for name, member in step.transformer_list
        if member != "drop"
    ]
    return Columns(X.graph, []).then(parts)


@writes_step(ColumnTransformer)
def columns(step: ColumnTransformer, X: Columns) -> Columns:
    """Write what each member makes of its columns, next to each other."""
    weights = step.transformer_weights or {}
    parts = []
    for name, member, places in _members(step):
        if places:
            parts.append(_weighted(transformed(member, X.take(places)), weights.get(name)))
    return Columns(X.graph, []).then(parts)


def _weighted(X: Columns, weight: float | None) -> Columns:
    return X if weight is None else X.mapped(lambda x: x * float(weight))


def _members(step: ColumnTransformer) -> list[tuple[str, Any, list[int]]]:
    """Return the fitted members that are not dropped, with the places of their columns."""
    labels = step.feature_names_in_.tolist() if hasattr(step, "feature_names_in_") else None
    fitted = [(name, member, columns) for name, member, columns in step.transformers_ if not _is_dropped(member)]
    return [
        (name, member, places_of_columns(columns, labels, int(step.n_features_in_))) for name, member, columns in fitted
    ]


def _is_dropped(member: object) -> bool:
    return isinstance(member, str) and member == "drop"


def _texts(step: Any) -> set[int]:
    """Return the columns that a step takes as text."""
    if isinstance(step, Pipeline):
        kept = [one for _, one in step.steps if not _keeps(one)]
        return _texts(kept[0]) if kept else set()
    if isinstance(step, FeatureUnion):
        return set().union(*(_texts(member) for _, member in step.transformer_list))
    if isinstance(step, ColumnTransformer):
        return {places[j] for _, member, places in _members(step) for j in _texts(member)}
    readers: dict[type, Callable[[Any], set[int]]] = {
        OneHotEncoder: texts_of_encoder,
        OrdinalEncoder: texts_of_encoder,
        SimpleImputer: texts_of_imputer,
        MissingIndicator: texts_of_imputer,
    }
    reader = readers.get(type(step))
    return set() if reader is None else reader(step)


def _keeps(step: BaseEstimator | str | None) -> bool:
    """Return whether a step leaves the columns as they are."""
    return step is None or isinstance(step, str) or (isinstance(step, FunctionTransformer) and step.func is None)
