"""Model files of tables, for the command line."""

from pathlib import Path
from typing import TYPE_CHECKING

from mercer.cli.faults import MODEL, Fault, standard_input

if TYPE_CHECKING:
    from mercer.learners.table_model import TableModel


def load_model(path: str) -> "TableModel":
    """Return the table model of a file; ``-`` is standard input."""
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    if path != "-" and not Path(path).exists():
        raise Fault(f"{path}: there is no such model file.", MODEL)
    if path != "-" and Path(path).is_dir():
        raise Fault(f"{path}: this is a folder, not a model file.", MODEL)
    model = library.load(standard_input() if path == "-" else path)
    return model if isinstance(model, library.TableModel) else of_learner(path, model)


def of_learner(path: str, model: object) -> "TableModel":
    """Return the model of a table that a learner fitted in Python is."""
    from sklearn.base import BaseEstimator, is_classifier, is_regressor  # noqa: PLC0415 - not for --help

    from mercer.cli import library  # noqa: PLC0415 - not for --help

    if isinstance(model, BaseEstimator) and (is_classifier(model) or is_regressor(model)):
        return library.TableModel.of(model)
    raise Fault(
        f"{path}: it holds a {type(model).__name__}, which predicts no target; load it in Python with mercer.load. "
        "mercer train, and classifiers and regressors fitted in Python, make models of tables.",
        MODEL,
    )
