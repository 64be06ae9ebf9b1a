"""``mercer compare``."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from mercer.cli.faults import USAGE, Fault, note
from mercer.cli.options import (
    KernelExpression,
    data_options,
    force_option,
    json_option,
    machine_options,
    open_data,
    seed_option,
)
from mercer.cli.output import check_output, console, output_file, print_json

_REPORT = "mercer-compare.html"
_WIDTHS = (128, 512, 1024)


@click.command()
@click.argument("data", required=False)
@click.option("--target", "-t", help="Column to predict, in DATA.")
@click.option("--task", type=click.Choice(["auto", "classification", "regression"]), default="auto", show_default=True)
@click.option("--kernel", "kernels", type=KernelExpression(), multiple=True, help="Repeatable; Gaussian by default.")
@click.option("--n-components", "-D", "widths", type=click.IntRange(min=1), multiple=True, help="Repeatable.")
@click.option("--rows", type=click.IntRange(min=10), default=5000, show_default=True, help="Drawn from DATA.")
@click.option("--C", "C", type=float, default=1.0, show_default=True, help="Of the support vector machines.")
@click.option("--impute", is_flag=True, help="Put mean or most frequent category for missing values.")
@click.option("--report", help=f"The HTML page; {_REPORT} by default, which is overwritten.")
@click.option("--no-report", is_flag=True, help="Write no page.")
@force_option
@seed_option
@data_options
@machine_options
@json_option
def command(data: str | None, report: str | None, *, no_report: bool, **options: Any) -> None:
    """Compare an exact kernel SVM, a linear model and every feature map of a kernel.

    On scikit-learn's digits, or on rows drawn from DATA, a file as for train or the name of a data set. Prints accuracy
    (R^2 for regression), times, kernel error and memory at several numbers of features, and writes an HTML page with
    plots.
    """
    check_output(report, force=options["force"])
    start = time.perf_counter()
    from mercer.config import config_context  # noqa: PLC0415 - not for --help

    with config_context(threads=options["threads"], memory=options["memory"]):
        rows, kernels = _rows(data, options)
        results = _run(rows, kernels, options)
    page = None if no_report else _written(report, rows, results)
    seconds = time.perf_counter() - start
    if options["as_json"]:
        facts = {"data": rows.name, "task": rows.task, "train_rows": len(rows.y_train), "test_rows": len(rows.y_test)}
        print_json(facts | {"results": [asdict(result) for result in results], "report": page, "seconds": seconds})
        return
    click.echo(
        f"{_metric(rows)}: on the test rows; kernel error: |ZZ' - K| / |K| on them; memory: Gram matrix or features.\n"
        f"{seconds:.1f} s" + (f"; plots in {page}" if page else "")
    )


def _rows(data: str | None, options: dict[str, Any]) -> Any:
    from mercer.cli import comparison  # noqa: PLC0415 - not for --help
    from mercer.kernels import Gaussian, Polynomial  # noqa: PLC0415 - not for --help

    kernels = list(options["kernels"])
    if data is None:
        if options["target"] is not None:
            raise Fault("--target names a column of DATA, and no DATA is given.", USAGE)
        return comparison.digits(options["seed"]), kernels or [Polynomial(3, coef0=1.0), Gaussian(gamma=2.0)]
    if not Path(data).suffix and not Path(data).exists() and data != "-":
        return comparison.named(data, options["rows"], options["seed"]), kernels or [Gaussian()]
    table = open_data(data, **options)
    if options["target"] is None and table.own_target is None:
        raise Fault(f"--target is missing: it names one of the columns of {table.name}.", USAGE)
    rows = comparison.sampled(
        table, options["target"], options["task"], options["rows"], options["seed"], impute=options["impute"]
    )
    return rows, kernels or [Gaussian()]


def _run(rows: Any, kernels: list[Any], options: dict[str, Any]) -> list[Any]:
    """Measure, with a table that grows as results come."""
    from mercer.cli.comparison import compare  # noqa: PLC0415 - not for --help

    widths = list(options["widths"]) or list(_WIDTHS)
    found = compare(rows, kernels, widths, C=options["C"], seed=options["seed"])
    if options["as_json"]:
        return list(found)
    from rich.live import Live  # noqa: PLC0415 - not for --help

    results: list[Any] = []
    screen = console()
    screen.print(rows.about, markup=False)
    with Live(console=screen, refresh_per_second=8) as live:
        for result in found:
            results.append(result)
            live.update(_table(results, _metric(rows)))
    if not screen.is_terminal:  # where the table is printed at the end, without a line break
        click.echo()
    for reason in dict.fromkeys(f"{result.model}: {result.reason}" for result in results if result.reason):
        click.echo(f"left out: {reason}")
    return results


def _metric(rows: Any) -> str:
    return "accuracy" if rows.task == "classification" else "R2"


def _table(results: list[Any], metric: str) -> Any:
    from rich.table import Table  # noqa: PLC0415 - not for --help
    from rich.text import Text  # noqa: PLC0415 - not for --help

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


def _cells(result: Any) -> list[str]:
    formats = {
        "n_components": "d",
        "score": ".4f",
        "fit_seconds": ".3f",
        "predict_seconds": ".3f",
        "kernel_error": ".4f",
        "megabytes": ".1f",
    }
    values = [(getattr(result, name), form) for name, form in formats.items()]
    return ["" if value is None else format(value, form) for value, form in values]


def _written(report: str | None, rows: Any, results: list[Any]) -> str | None:
    """Write the page; one that was not asked for is left out where it cannot be written."""
    from mercer.cli.page import render  # noqa: PLC0415 - not for --help

    try:
        text = render(rows, results, _metric(rows))
    except ImportError as missing:
        if report is not None:
            raise Fault(f"the page needs {missing.name}. Install with: pip install 'mercer[cli]'") from None
        note(f"no page with plots: {missing.name} is not installed; pip install 'mercer[cli]'.")
        return None
    path = report or _REPORT
    with output_file(path, force=True) as file:
        file.write(text.encode())
    return str(Path(path))
