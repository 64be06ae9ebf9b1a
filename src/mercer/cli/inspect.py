"""``mercer inspect``."""

from collections.abc import Sequence
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mercer.cli.faults import MODEL, Fault, printable, standard_input
from mercer.cli.options import SourceOptions, force_option, json_option
from mercer.cli.output import check_output, console, output_file, print_json

if TYPE_CHECKING:
    from rich.text import Text

    from mercer.learners.table_model import TableModel


@click.command()
@click.argument("model")
@click.option("--report", metavar="PAGE", help="Write a page with plots instead: an .html file.")
@click.option("--data", metavar="FILE", help="Rows with known targets, on which the page measures the model.")
@click.option("--target", "-t", help="Target in --data, for models that do not name it.")
@force_option
@json_option
def command(
    model: str, *, report: str | None, data: str | None, target: str | None, force: bool, as_json: bool
) -> None:
    """Show what a MODEL file holds: task, columns, kernel, parameters and versions.

    With --report, the page also shows scores next to baselines, importances, leave-one-out residuals, calibration,
    penalties, widths, and the error of the kernel, as far as the model holds them. With --data, it shows the score,
    residuals or calibration, and the error of the kernel on those rows. A model file holds no learning curve, which
    takes several more fits: mercer.plots.learning_curve draws it in Python.
    """
    check_output(report, force=force)
    if report is None and (data or target or force):
        raise click.UsageError("--data, --target and --force belong to --report.")
    from sklearn.base import is_classifier, is_regressor  # noqa: PLC0415 - not for --help

    from mercer.learners.table_model import TableModel  # noqa: PLC0415 - not for --help
    from mercer.storage import describe, load  # noqa: PLC0415 - not for --help

    if model != "-" and not Path(model).is_file():
        raise Fault(f"{model}: there is no such model file.", MODEL)
    file = BytesIO(standard_input().read() if model == "-" else Path(model).read_bytes())
    file.name = "standard input" if model == "-" else model
    about = describe(file)
    result: dict[str, object] = {"model": model, **asdict(about)}
    file.seek(0)
    loaded = load(file)
    if not isinstance(loaded, TableModel) and (is_classifier(loaded) or is_regressor(loaded)):
        loaded = TableModel.of(loaded)
    if isinstance(loaded, TableModel):
        result |= _table_facts(loaded)
    if report is not None:
        _write_page(loaded, result, report, data, target, force=force)
        return
    if as_json:
        print_json(result)
        return
    _show(result)


def _write_page(
    loaded: object, result: dict[str, object], report: str, data: str | None, target: str | None, *, force: bool
) -> None:
    from mercer.cli.models import of_learner  # noqa: PLC0415 - not for --help
    from mercer.cli.report_page import render  # noqa: PLC0415 - needs jinja2 and matplotlib
    from mercer.cli.row_figures import on_rows  # noqa: PLC0415 - needs jinja2 and matplotlib
    from mercer.learners.table_model import TableModel  # noqa: PLC0415 - not for --help

    path = str(result["model"])
    model = loaded if isinstance(loaded, TableModel) else of_learner(path, loaded)
    source = None if data is None else SourceOptions().open(data)
    rows = None if source is None else on_rows(model, source, str(data), target or model.target_)
    about = {
        "file": path,
        "bytes of arrays": f"{result['n_bytes']:,}",
        "versions": str(_text("versions", result["versions"])),
        "parameters": str(_text("parameters", result["parameters"])),
    }
    with output_file(report, force=force) as file:
        file.write(render(model, "", about, rows).encode())
    click.echo(f"a page written to {printable(report)}")


def _table_facts(model: "TableModel") -> dict[str, object]:
    from mercer.cli import facts  # noqa: PLC0415 - not for --help

    learner = model.learner_
    return {
        "class_name": type(learner).__name__,
        "parameters": {name: _plain(value) for name, value in learner.get_params(deep=False).items()},
        **facts.learner_facts(model),
        "task": model.task_,
        "target": model.target_ or None,
        "classes": model.classes_.tolist() if model.task_ == "classification" else None,
        **facts.score_facts(model),
        "train_rows": model.n_train_ or None,
        "test_rows": model.n_test_,
        "kernel_error": facts.kernel_error(model),
        "importances": facts.importances(model),
        **facts.column_facts(model),
    }


def _plain(value: object) -> object:
    """Return numbers and text as they are, for JSON, and other values as they print."""
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


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
