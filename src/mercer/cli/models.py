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
    if not isinstance(model, library.TableModel):
        raise Fault(
            f"{path}: it holds a {type(model).__name__}, which knows no column names; load it in Python with "
            "mercer.load. mercer train makes models of tables.",
            MODEL,
        )
    return model
