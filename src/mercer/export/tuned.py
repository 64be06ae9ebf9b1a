"""Tuned estimators: the columns of a table prepared, then the model in leaves and the model of low order."""

from collections.abc import Mapping, Sequence

import numpy as np

from mercer.export.calendar import calendar_parts
from mercer.export.graph import Graph, Tensor
from mercer.export.interpolation import interpolated
from mercer.export.linear_models import class_labels
from mercer.export.local import leaf_scores, probabilities
from mercer.export.registry import features, writes_model, writes_table
from mercer.learners import TunedClassifier, TunedRegressor
from mercer.learners.local.boosted_trees import BoostedTrees
from mercer.learners.local.preparation import ColumnPreparation
from mercer.learners.local.scaling import BEND, FAR, ColumnScaling
from mercer.learners.local.table_columns import TableColumn
from mercer.learners.local.target_statistics import MISSING_CODE, MISSING_TEXT, TargetStatistics
from mercer.learners.local.tuned_base import TunedEstimator


@writes_model(ColumnPreparation)
def preparation(model: ColumnPreparation, graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the prepared columns of rows of numbers."""
    return {"transformed": _prepared(model, graph, _split(X, model.n_features_in_)).cast(graph.dtype)}


@writes_model(TunedRegressor, TunedClassifier)
def tuned(model: "TunedRegressor | TunedClassifier", graph: Graph, X: Tensor) -> Mapping[str, Tensor]:
    """Write the results for rows of numbers."""
    return _results(model, graph, _split(X, model.n_features_in_))


@writes_table(TunedRegressor, TunedClassifier)
def tuned_table(model: "TunedRegressor | TunedClassifier", graph: Graph) -> Mapping[str, Tensor] | None:
    """Write the results for a table with text or dates, with an input for each column."""
    columns = model.preparation_.encoding_.columns
    if all(column.kind == "number" for column in columns):
        return None
    names = model.preparation_.column_names
    return _results(model, graph, [_input(graph, name, c.kind) for name, c in zip(names, columns, strict=True)])


def _input(graph: Graph, name: str, kind: str) -> Tensor:
    return graph.date(name) if kind == "date" else graph.input(name, 1, str if kind == "categories" else None)


def _results(
    model: "TunedRegressor | TunedClassifier", graph: Graph, columns: Sequence[Tensor]
) -> Mapping[str, Tensor]:
    numbers = _encoded(model.preparation_, graph, columns)
    scores = _scores(model, graph, _scaled_columns(model.preparation_, graph, numbers))
    if model.boosted_ is not None:
        boosted = _tree_scores(model.boosted_, graph, graph.concatenate(numbers))
        scores = scores + (boosted - scores) * model.boosted_share_
    if isinstance(model, TunedRegressor):
        narrow = scores.cast(graph.dtype)
        return {"prediction": narrow.flat() if model.is_flat else narrow}
    chances = probabilities(model.calibration_, scores).cast(graph.dtype)
    return {"label": class_labels(model.classes_, scores), "probabilities": chances}


def _scores(model: "TunedEstimator[object]", graph: Graph, rows: Tensor) -> Tensor:  # type: ignore[type-var]
    scores, low_order = leaf_scores(model.model_, graph, rows), model.low_order_
    if low_order is None:
        return scores
    other = (features(low_order.feature_map, graph, rows) @ low_order.coef).cast(np.float64) + low_order.intercept
    return scores + (other - scores) * model.low_order_share_


def _split(X: Tensor, n_columns: int) -> list[Tensor]:
    return [X.columns(j, j + 1) for j in range(n_columns)]


def _prepared(model: ColumnPreparation, graph: Graph, columns: Sequence[Tensor]) -> Tensor:
    """Write the prepared columns in float64."""
    return _scaled_columns(model, graph, _encoded(model, graph, columns))


def _scaled_columns(model: ColumnPreparation, graph: Graph, numbers: Sequence[Tensor]) -> Tensor:
    return graph.concatenate([_scaled(model.scaling_, j, x) for j, x in enumerate(numbers)])


def _encoded(model: ColumnPreparation, graph: Graph, columns: Sequence[Tensor]) -> list[Tensor]:
    """Write the columns of numbers, not scaled, in float64."""
    encoding = model.encoding_
    parts = [part for column, x in zip(encoding.columns, columns, strict=True) for part in _numbers(column, x)]
    numbers = [parts[j] for j in encoding.kept.tolist()]
    for statistics in encoding.statistics:
        means = _means(statistics, columns[statistics.column])
        numbers += _split(means, statistics.n_targets)
    if encoding.trees is not None:
        numbers += _split(_tree_scores(encoding.trees, graph, graph.concatenate(numbers)), encoding.trees.n_targets)
    return numbers


def _tree_scores(trees: BoostedTrees, graph: Graph, rows: Tensor) -> Tensor:
    """Write the predictions (n, k) of boosted trees, whose cells are numbered by the answers to their questions."""
    depth = trees.columns.shape[1]
    total = graph.constant(trees.intercept[None, :], np.float64)
    place = graph.constant(np.zeros((1, trees.n_trees)), np.float64)
    for level in range(depth):  # columns (n_trees,) of rows at a time
        answers = rows.take(trees.columns[:, level].astype(np.int64), axis=1) > trees.thresholds[None, :, level]
        place = place * 2.0 + answers.cast(np.float64)
    first = np.arange(trees.n_trees) * trees.values.shape[1]
    cells = (place + first[None, :].astype(np.float64)).cast(np.int64)
    values = graph.constant(trees.values.reshape(-1, trees.n_targets), np.float64).take(cells)
    total = total + values.sum(1, keep=False)
    return total.op("Tanh") if trees.is_logistic else total


def _numbers(column: TableColumn, x: Tensor) -> list[Tensor]:
    """Write the columns of numbers of one column, each (n, 1)."""
    if column.kind == "categories":
        missing_text = MISSING_TEXT if "" in column.categories else ""
        code = x.numbered([*column.categories, missing_text])
        n_columns = len(column.categories) + column.has_missing
        return [code.equals(j).cast(np.float64) for j in range(n_columns)]
    x = x.cast(np.float64)
    missing = x.op("IsNaN", dtype=bool)
    filled = missing.where(np.float64(column.fill), x)
    own = [filled] if column.kind == "number" else calendar_parts(filled)
    return [*own, missing.cast(np.float64)] if column.has_missing else own


def _means(statistics: TargetStatistics, x: Tensor) -> Tensor:
    """Write the mean targets of the level of each value (n, k), and the overall mean of values that were not seen."""
    if statistics.texts:
        texts = statistics.texts
        places = x.flat().numbered(["" if text == MISSING_TEXT and "" not in texts else text for text in texts])
        unseen = "".join(texts) + "."
        table = statistics.means(np.array([*texts, unseen], dtype=object))
        return x.graph.constant(table, np.float64).take(places)
    codes, x = statistics.codes, x.cast(np.float64)
    filled = x.op("IsNaN", dtype=bool).where(np.float64(MISSING_CODE), x)
    overall = statistics.means(codes[-1:] + 0.5)
    return filled.equals(codes[None, :]).cast(np.float64) @ (statistics.means(codes) - overall) + overall


def _scaled(scaling: ColumnScaling, j: int, x: Tensor) -> Tensor:
    """Write one scaled column."""
    if len(scaling.knots[j]):
        return interpolated(x, scaling.knots[j], scaling.scores[j])
    t = ((x - scaling.centre[j]) / scaling.scale[j]).at_least(-FAR).at_most(FAR)
    if scaling.method == "common":
        return t
    return t / (((t * (1 / BEND)).square() + 1.0).op("Sqrt") * scaling.spread[j])
