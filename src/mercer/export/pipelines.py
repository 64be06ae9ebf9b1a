"""Pipelines of scikit-learn: scalers and imputers of numbers before a model of mercer."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

from mercer.export.graph import Graph, Tensor
from mercer.export.registry import ExportError, features, results, writes_model
from mercer.features import FeatureMap
from mercer.features.registry import of_nearest_ancestor


@writes_model(Pipeline)
def pipeline(model: Pipeline, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the steps one after another."""
    for _, step in model.steps[:-1]:
        X = _transformed(step, graph, X)
    return results(model.steps[-1][1], graph, X)


def _transformed(step: Any, graph: Graph, X: Tensor) -> Tensor:
    if isinstance(step, str) or step is None:  # "passthrough"
        return X
    if isinstance(step, FeatureMap):
        return features(step, graph, X)
    writer = of_nearest_ancestor(_STEPS, step)
    if writer is None:
        known = ", ".join(sorted(cls.__name__ for cls in _STEPS))
        raise ExportError(
            f"to_onnx: the step {type(step).__name__} of the pipeline cannot be written as ONNX here. Steps that can: "
            f"{known} and mercer's maps. Convert other steps with the package skl2onnx, and the last step with to_onnx."
        )
    return writer(step, X)


def _standard(step: StandardScaler, X: Tensor) -> Tensor:
    return _scaled(X, step.mean_ if step.with_mean else None, step.scale_ if step.with_std else None)


def _robust(step: RobustScaler, X: Tensor) -> Tensor:
    centre, scale = step.center_ if step.with_centering else None, step.scale_ if step.with_scaling else None
    return _scaled(X, centre, scale)


def _scaled(X: Tensor, centre: "np.ndarray[Any, Any] | None", scale: "np.ndarray[Any, Any] | None") -> Tensor:
    X = X if centre is None else X - centre
    return X if scale is None else X / scale


def _min_max(step: MinMaxScaler, X: Tensor) -> Tensor:
    scaled = X * step.scale_ + step.min_
    low, high = step.feature_range
    return scaled.at_least(low).at_most(high) if step.clip else scaled


def _normalizer(step: Normalizer, X: Tensor) -> Tensor:
    sizes = {
        "l1": lambda: X.op("Abs").sum(1),
        "l2": lambda: X.square().sum(1).op("Sqrt"),
        "max": lambda: X.op("Abs").max(1),
    }[step.norm]()
    return X / (sizes > 0.0).where(sizes, 1.0)


def _imputer(step: SimpleImputer, X: Tensor) -> Tensor:
    if step.add_indicator or not np.isnan(np.float64(step.missing_values)) or np.isnan(step.statistics_).any():
        raise ExportError(
            "to_onnx: SimpleImputer is written for missing_values=NaN without add_indicator, and for columns that have "
            "values. Impute before the model, or use a tuned estimator, which takes missing values itself."
        )
    return X.op("IsNaN", dtype=bool).where(np.asarray(step.statistics_, dtype=X.dtype), X)


_STEPS: dict[type, Callable[[Any, Tensor], Tensor]] = {
    MaxAbsScaler: lambda step, X: X / step.scale_,
    MinMaxScaler: _min_max,
    Normalizer: _normalizer,
    RobustScaler: _robust,
    SimpleImputer: _imputer,
    StandardScaler: _standard,
}
