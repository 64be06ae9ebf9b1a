"""The comparison in a terminal: a small plot and ten lines of what it says; all maps as a table where asked for."""

from collections.abc import Sequence
from textwrap import fill

import click
from rich.table import Table
from rich.text import Text

from mercer.bench.comparison import Result, Rows
from mercer.bench.growth import MERCER, TREES, TUNED, Growth, Step, exact_name, of, projected
from mercer.bench.text_plot import Series, text_plot
from mercer.cli.output import console

_WIDTH, _HEIGHT = 72, 11
_COLUMNS = 80
_MARKERS = {MERCER: "m", TUNED: "t", TREES: "b"}
_FORMATS = {
    "n_components": "d",
    "score": ".4f",
    "fit_seconds": ".3f",
    "predict_seconds": ".3f",
    "kernel_error": ".4f",
    "megabytes": ".1f",
}


def print_growth(grown: Growth) -> None:
    """Print training time against rows as a plot, and the sentences."""
    series = _series(grown.rows, grown.steps)
    click.echo(text_plot(series, title="training time in s, against rows", width=_WIDTH, height=_HEIGHT))
    _print_lines([grown.rows.about, *grown.sentences])


def print_other_growth(grown: Growth) -> None:
    """Print the scores on another set: the page has its plot."""
    _print_lines([f"{grown.rows.name}: {grown.sentences[2]}"])


def _print_lines(lines: Sequence[str]) -> None:
    """Print lines, broken between words at 80 columns or the width of the terminal."""
    width = min(console().width, _COLUMNS)
    for line in lines:
        click.echo(fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))


def _series(rows: Rows, steps: Sequence[Step]) -> list[Series]:
    name = exact_name(rows.task)
    exact = of(steps, name)
    beyond = [step.n_rows for step in of(steps, MERCER) if step.n_rows > exact[-1].n_rows]
    found = [Series(".", f"{name}, projected", [(n, projected(exact, n)) for n in beyond])] if beyond else []
    found.append(Series("e", name, _points(exact)))
    return [*found, *(Series(_MARKERS[m], m, _points(of(steps, m))) for m in _MARKERS if of(steps, m))]


def _points(steps: Sequence[Step]) -> list[tuple[float, float]]:
    return [(float(step.n_rows), max(step.fit_seconds, 1e-4)) for step in steps]


def print_results(rows: Rows, results: Sequence[Result], *, show_all: bool) -> None:
    """Print all maps where asked for, and which of them were left out."""
    if show_all:
        _print_lines(["", f"Maps on {rows.about}:"])
        console().print(results_table(results, metric_name(rows.task)))
    for reason in dict.fromkeys(f"{result.model}: {result.reason}" for result in results if result.reason):
        _print_lines([f"left out: {reason}"])


def metric_name(task: str) -> str:
    """Return the name of the score of a task."""
    return "accuracy" if task == "classification" else "R2"


def results_table(results: Sequence[Result], metric: str) -> Table:
    """Return the table of all models, by kernel."""
    table = Table(box=None, pad_edge=False)
    table.add_column("model", no_wrap=True)
    for name in ("D", metric, "train s", "predict s", "kernel error", "memory MB"):
        table.add_column(name, justify="right", no_wrap=True)
    kernel = ""
    for result in results:
        if result.reason:
            continue
        if result.kernel != kernel:
            kernel = result.kernel
            table.add_row(Text(kernel, style="bold"))
        indent = "  " if kernel else ""
        table.add_row(Text(f"{indent}{result.model}"), *_cells(result))
    return table


def _cells(result: Result) -> list[str]:
    values = [(getattr(result, name), form) for name, form in _FORMATS.items()]
    return ["" if value is None else format(value, form) for value, form in values]
