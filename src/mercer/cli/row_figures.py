"""How a model does on rows with known targets: its score, residuals or calibration, and the error of its kernel."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._typing import Array
from mercer.bench.figures import Drawn
from mercer.cli import facts
from mercer.cli.model_figures import figure, histogram
from mercer.data import Blocks, Choice, TableError
from mercer.data.target import encoder
from mercer.gram import approximation_error
from mercer.plots import grouped_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mercer.data import Source
    from mercer.learners.table_model import TableModel

# Rows per block of a reading, rows that the kernel's error is measured on, and groups of rows of similar probability.
_PIECE_ROWS, _KERNEL_ROWS, _GROUPS = 16384, 2000, 10


@dataclass(frozen=True)
class OnRows:
    """What was found on rows: facts by name, and figures."""

    facts: dict[str, str]
    figures: list[Drawn]


def on_rows(model: "TableModel", source: "Source", path: str, target: str) -> OnRows:
    """Measure a model on the rows of a source, which holds its target."""
    y = _targets(model, source, target)
    results = list(model.results(path, scores=True))
    predicted = np.concatenate([result.predicted for result in results])
    found = {"rows": f"{len(y):,}"}
    if model.task_ == "classification":
        found["accuracy"] = f"{np.mean(predicted == y):.4f}"
        figures = _calibration(model, y, results)
    else:
        residuals = y - predicted
        found["R2"] = f"{1 - np.mean(residuals**2) / max(np.var(y), np.finfo(float).tiny):.4f}"
        found["root mean square error"] = f"{np.sqrt(np.mean(residuals**2)):.4g}"
        figures = [histogram(residuals, "How far off is it here?", "Residuals of these rows")]
    return OnRows(found | _kernel_error(model, path), figures)


def _targets(model: "TableModel", source: "Source", target: str) -> Array:
    """Return the targets of a source, as the model learned them."""
    chosen = source.choose(Choice(target or None).of(source))
    if chosen.columns.target is None:
        raise TableError(f"{source.name}: which column is the target? Name it with --target.")
    pieces = [np.asarray(piece.y) for piece in chosen.pieces(_PIECE_ROWS)]
    return np.asarray(encoder(model.task_)(np.concatenate(pieces)))


def _calibration(model: "TableModel", y: Array, results: list[Any]) -> list[Drawn]:
    """Return how often the most probable class is right, against its probability."""
    if not hasattr(model.learner_, "predict_proba"):
        return []
    chances = np.concatenate([result.scores for result in results])
    right = model.classes_[chances.argmax(axis=1)] == y
    centres, shares, bounds = grouped_shares(chances.max(axis=1), right, _GROUPS)
    least = float(min(centres.min(), bounds.min()))

    def paint(axes: "Axes", colours: list[str]) -> None:
        axes.plot([least, 1], [least, 1], "--", color=colours[1])
        axes.errorbar(centres, shares, np.abs(bounds.T - shares), fmt="o-", color=colours[0], capsize=3)
        axes.set_xlabel("predicted probability")
        axes.set_ylabel("share that is right")

    largest = float(np.abs(shares - centres).max())
    spoken = f"the largest difference from the probability is {largest:.3f}, in {len(centres)} groups of rows"
    caption = f"How often the most probable class is right, with intervals of 95 %: {spoken}. Dashed: as it should be."
    return [figure("Are probabilities right?", caption, paint, spoken, (5.2, 3.0))]


def _kernel_error(model: "TableModel", path: str) -> dict[str, str]:
    """Return the error of the Gram matrix of some rows, with its interval, for learners with a map of rows."""
    feature_map = getattr(model.learner_, "feature_map_", None)
    if feature_map is None or feature_map.domain != "rows":
        return {}
    for piece in model.rows(path):
        rows: Any = next(iter(piece)) if isinstance(piece, Blocks) else piece
        error = approximation_error(feature_map, rows[:_KERNEL_ROWS]).frobenius
        return {"error of the kernel": facts.error_in_words(error.value, error.low, error.high)}
    return {}
