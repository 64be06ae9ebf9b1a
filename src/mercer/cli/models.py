"""Model files as the command line takes them."""

import sys
from pathlib import Path
from typing import Any

from mercer.cli.faults import MODEL, Fault


def load_model(path: str) -> Any:
    """Return the table model of a file; ``-`` is standard input."""
    from mercer.learners.table_model import TableModel  # noqa: PLC0415 - not for --help

    model = read_model(path)
    if not isinstance(model, TableModel):
        raise Fault(
            f"{path}: it holds a {type(model).__name__}, which knows no column names; load it in Python with "
            "mercer.load. mercer train makes models of tables.",
            MODEL,
        )
    return model


def read_model(path: str) -> Any:
    """Return whatever a model file holds."""
    from mercer.storage import load  # noqa: PLC0415 - not for --help

    if path == "-":
        return load(sys.stdin.buffer)
    if not Path(path).exists():
        raise Fault(f"{path}: there is no such model file.", MODEL)
    if Path(path).is_dir():
        raise Fault(f"{path}: this is a folder, not a model file.", MODEL)
    return load(path)
