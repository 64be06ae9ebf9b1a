"""``mercer inspect``."""

from collections.abc import Sequence
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mercer.cli.faults import MODEL, Fault, printable, standard_input
from mercer.cli.options import json_option
from mercer.cli.output import console, print_json

if TYPE_CHECKING:
    from rich.text import Text

    from mercer.learners.table_model import TableModel


@click.command()
@click.argument("model")
@json_option
def command(model: str, *, as_json: bool) -> None:
    """Show what a MODEL file holds: task, columns, kernel, parameters and versions."""
    from mercer.storage import describe, load  # noqa: PLC0415 - not for --help

    if model != "-" and not Path(model).is_file():
        raise Fault(f"{model}: there is no such model file.", MODEL)
    file = BytesIO(standard_input().read() if model == "-" else Path(model).read_bytes())
    file.name = "standard input" if model == "-" else model
    about = describe(file)
    result: dict[str, object] = {"model": model, **asdict(about)}
    file.seek(0)
    loaded = load(file)
    if hasattr(loaded, "preparation_"):
        result |= _table_facts(loaded)
    if as_json:
        print_json(result)
        return
    _show(result)


def _table_facts(model: "TableModel") -> dict[str, object]:
    preparation, learner = model.preparation_, model.learner_
    return {
        "class_name": type(learner).__name__,
        "parameters": {name: repr(value) for name, value in learner.get_params(deep=False).items()},
        "kernel": repr(getattr(learner.feature_map_, "kernel_", getattr(learner, "kernel", None))),
        "feature_map": type(learner.feature_map_).__name__,
        "n_components": int(learner.coef_.shape[-1]),
        "task": model.task_,
        "target": model.target_,
        "classes": [str(label) for label in model.classes_] if model.task_ == "classification" else None,
        "score": model.score_,
        "train_rows": model.n_train_,
        "test_rows": model.n_test_,
        "numbers": preparation.number_names_,
        "categories": dict(zip(preparation.category_names_, preparation.categories_, strict=True)),
        "left_out": preparation.left_out_,
        "imputes": preparation.imputes_,
    }


def _show(result: dict[str, object]) -> None:
    from rich.table import Table  # noqa: PLC0415 - not for --help

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in result.items():
        if value is None or value in ({}, []) or name == "arrays":
            continue
        table.add_row(name.replace("_", " "), _text(name, value))
    console().print(table)


def _text(name: str, value: object) -> "Text":
    from rich.text import Text  # noqa: PLC0415 - not for --help

    if name == "n_bytes":
        text = f"{value:,}"
    elif isinstance(value, dict) and name == "categories":
        text = "\n".join(f"{column}: {_few(values)}" for column, values in value.items())
    elif isinstance(value, dict):
        between = " " if name == "versions" else "="
        text = ", ".join(f"{key}{between}{item}" for key, item in value.items())
    else:
        text = _few(value) if isinstance(value, list) else str(value)
    return Text(printable(text))


def _few(values: Sequence[object], most: int = 20) -> str:
    shown = ", ".join(str(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"
