"""Which function writes which class: a table for maps, for models, for models of tables and for steps of pipelines."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from mercer.export.graph import Graph, Tensor
from mercer.features import FeatureMap
from mercer.features.registry import of_nearest_ancestor

if TYPE_CHECKING:
    from mercer.export.columns import Columns

# Writes the features of rows.
MapWriter = Callable[[Any, Graph, Tensor], Tensor]
# Writes the named results of a model for rows.
ModelWriter = Callable[[Any, Graph, Tensor], Mapping[str, Tensor]]

# Writes the named results of a model that declares inputs of its own; None where rows of numbers are enough.
TableWriter = Callable[[Any, Graph], Mapping[str, Tensor] | None]
# Writes what a step of a pipeline makes of columns.
StepWriter = Callable[[Any, "Columns"], "Columns"]

_maps: dict[type, MapWriter] = {}
_models: dict[type, ModelWriter] = {}
_tables: dict[type, TableWriter] = {}
_steps: dict[type, StepWriter] = {}
_refused: dict[type, str] = {}

_Writer = TypeVar("_Writer", MapWriter, ModelWriter, TableWriter, StepWriter)


class ExportError(ValueError):
    """A model that ONNX has no arithmetic for."""


def writes_map(*classes: type) -> Callable[[MapWriter], MapWriter]:
    """Register the function that writes a map's features, for classes and their subclasses."""
    return lambda writer: _register(_maps, classes, writer)


def writes_model(*classes: type) -> Callable[[ModelWriter], ModelWriter]:
    """Register the function that writes a model's results, for classes and their subclasses."""
    return lambda writer: _register(_models, classes, writer)


def writes_table(*classes: type) -> Callable[[TableWriter], TableWriter]:
    """Register the function that writes a model of tables, with inputs of its own."""
    return lambda writer: _register(_tables, classes, writer)


def writes_step(*classes: type) -> Callable[[StepWriter], StepWriter]:
    """Register the function that writes a step of a pipeline, for classes and their subclasses."""
    return lambda writer: _register(_steps, classes, writer)


def refuse(cls: type, reason: str) -> None:
    """Register what ONNX lacks for a class, and what to use instead."""
    _refused[cls] = reason


def features(feature_map: FeatureMap, graph: Graph, X: Tensor) -> Tensor:
    """Write the features of a map."""
    writer = of_nearest_ancestor(_maps, feature_map)
    _check(writer, feature_map)
    return writer(feature_map, graph, X)  # type: ignore[misc] # checked


def results(model: BaseEstimator, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the results of a model, by their names."""
    if isinstance(model, FeatureMap):
        return {"features": features(model, graph, X)}
    writer = of_nearest_ancestor(_models, model)
    _check(writer, model)
    return writer(model, graph, X)  # type: ignore[misc] # checked


def table_results(model: BaseEstimator, graph: Graph) -> Mapping[str, Tensor] | None:
    """Write the results of a model with inputs of its own; None if its input is rows of numbers."""
    writer = of_nearest_ancestor(_tables, model)
    return None if writer is None else writer(model, graph)


def is_step(step: object) -> bool:
    """Return whether an object is a transformer of scikit-learn that can be written as a step of a pipeline."""
    return isinstance(step, BaseEstimator | str) and not isinstance(step, FeatureMap) and _writer_of(step) is not None


def transformed(step: object, X: "Columns") -> "Columns":
    """Write what a step of a pipeline makes of columns."""
    writer = _writer_of(step)
    if writer is None:
        known = ", ".join(sorted(cls.__name__ for cls in _steps if cls.__module__.startswith("sklearn.")))
        raise ExportError(
            f"to_onnx: the step {type(step).__name__} of the pipeline cannot be written as ONNX here. Steps that can: "
            f"{known} and mercer's maps. Convert other steps with the package skl2onnx, and the last step with to_onnx."
        )
    return writer(step, X)


def _writer_of(step: object) -> StepWriter | None:
    return of_nearest_ancestor(_steps, step)


def _register(table: dict[type, _Writer], classes: tuple[type, ...], writer: _Writer) -> _Writer:
    table.update(dict.fromkeys(classes, writer))
    return writer


def _check(writer: object, model: BaseEstimator) -> None:
    """Refuse a class without a writer."""
    reason = of_nearest_ancestor(_refused, model)
    if reason is not None:
        raise ExportError(f"to_onnx: {type(model).__name__} cannot be written as ONNX: {reason}")
    if writer is None:
        known = sorted({cls.__name__ for cls in (*_maps, *_models)})
        raise ExportError(
            f"to_onnx: {type(model).__name__} cannot be written as ONNX: no arithmetic is known for it. mercer.save "
            f"keeps any model for Python. Classes with ONNX: {', '.join(known)}."
        )


def labels(classes: np.ndarray[Any, Any], numbers: Tensor) -> Tensor:
    """Return the classes of given numbers: whole numbers, text, reals or truth values as the classes are."""
    return numbers.graph.constant(classes).take(numbers)
