"""Models of tables, such as ``mercer train`` writes: an input for each column, prepared as in mercer."""

from collections.abc import Mapping

import numpy as np

from mercer.data import TablePreparation
from mercer.export.calendar import calendar_parts
from mercer.export.graph import Graph, Tensor
from mercer.export.registry import ExportError, results, table_results, writes_table
from mercer.learners.table_model import TableModel


@writes_table(TableModel)
def table_model(model: TableModel, graph: Graph) -> Mapping[str, Tensor]:
    """Write the results of the learner; the tuned estimators prepare their columns themselves."""
    learner, preparation = model.learner_, model.preparation_
    if preparation is None:
        found = table_results(learner, graph)
        return results(learner, graph, graph.input("X", learner.n_features_in_)) if found is None else found
    if not isinstance(preparation, TablePreparation) or preparation.is_sparse_:
        raise ExportError(
            "to_onnx: this model of a table cannot be written as ONNX: its rows are sparse or objects, and ONNX has no "
            "sparse rows and no operators that hash parts of objects. Train on dense columns, or predict in Python."
        )
    return results(learner, graph, _prepared(preparation, graph))


def _prepared(preparation: TablePreparation, graph: Graph) -> Tensor:
    """Write standardised numbers and parts of dates, then whether some are missing, then a column per category."""
    numbers = {name: graph.input(name, 1) for name in preparation.number_names_}
    dates = {name: graph.date(name) for name in preparation.date_names_}
    missing = {name: x.op("IsNaN", dtype=bool) for name, x in (numbers | dates).items()}
    values = list(numbers.items())
    for name, days in dates.items():
        known = missing[name].where(np.float64(0.0), days)  # whole numbers have no NaN
        values += [(name, part) for part in calendar_parts(known)]
    parts = []
    for (name, x), mean, scale in zip(values, preparation.mean_, preparation.scale_, strict=True):
        standard = (x - mean) / scale
        parts.append(missing[name].where(np.zeros((), x.dtype), standard).cast(graph.dtype))
    parts += [missing[name].cast(graph.dtype) for name in preparation.indicated_]
    for j, name in enumerate(preparation.category_names_):
        parts.append(_one_hot(preparation, j, graph.input(name, 1, str)))
    return graph.concatenate(parts)


def _one_hot(preparation: TablePreparation, j: int, x: Tensor) -> Tensor:
    """Write a column for each category, and one for missing text where training rows had some; "" is missing."""
    known = preparation.categories_[j]
    fill = preparation.most_frequent_[j] if preparation.missing_ == "impute" else -1
    has_level = bool(preparation.missing_levels_[j])
    rows = np.eye(len(known) + has_level)
    missing = rows[-1] if has_level else rows[fill] if fill >= 0 else np.zeros(len(known))
    table = np.vstack([rows[: len(known)], missing, np.zeros(rows.shape[1])])  # the last row is what was not seen
    texts = [*known, "\0" if "" in known else ""]
    return x.graph.constant(table).take(x.flat().numbered(texts))
