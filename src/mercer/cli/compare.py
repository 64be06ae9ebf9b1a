"""``mercer compare``."""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mercer.cli.faults import USAGE, Fault, note
from mercer.cli.options import (
    KernelExpression,
    MachineOptions,
    SourceOptions,
    force_option,
    gathered,
    json_option,
    machine_options,
    seed_option,
    source_options,
)
from mercer.cli.output import check_output, console, output_file, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from mercer.bench.comparison import Result, Rows
    from mercer.kernels import Kernel

_REPORT = "mercer-compare.html"


@dataclass(frozen=True)
class CompareOptions:
    """What is compared."""

    target: str | None = None
    task: str = "auto"
    kernels: "tuple[Kernel, ...]" = ()
    widths: tuple[int, ...] = ()
    rows: int = 5000
    C: float = 1.0
    impute: bool = False
    seed: int = 0


_compare_options = gathered(
    "asked",
    CompareOptions,
    click.option("--target", "-t", help="Column to predict, in DATA."),
    click.option(
        "--task", type=click.Choice(["auto", "classification", "regression"]), default="auto", show_default=True
    ),
    click.option(
        "--kernel", "kernels", type=KernelExpression(), multiple=True, help="Repeatable; Gaussian by default."
    ),
    click.option("--n-components", "-D", "widths", type=click.IntRange(min=1), multiple=True, help="Repeatable."),
    click.option(
        "--rows", type=click.IntRange(min=10), default=5000, show_default=True, help="Number of rows to draw from DATA."
    ),
    click.option(
        "--C", "C", type=float, default=1.0, show_default=True, help="Cost parameter of the support vector machines."
    ),
    click.option("--impute", is_flag=True, help="Replace missing values by the mean or the most frequent category."),
    seed_option,
)
_DEFAULT_WIDTHS = (128, 512, 1024)


@click.command()
@click.argument("data", required=False)
@_compare_options
@click.option("--report", help=f"The HTML page; {_REPORT} by default, which is overwritten.")
@click.option("--no-report", is_flag=True, help="Write no page.")
@force_option
@source_options
@machine_options
@json_option
def command(
    data: str | None,
    *,
    asked: CompareOptions,
    reading: SourceOptions,
    machine: MachineOptions,
    report: str | None,
    no_report: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Compare an exact kernel SVM, a linear model and every feature map of a kernel.

    On scikit-learn's digits, or on rows drawn from DATA, a file as for train or the name of a data set. Prints accuracy
    (R^2 for regression), times, kernel error and memory at several numbers of features, and writes an HTML page with
    plots.
    """
    check_output(report, force=force)
    start = time.perf_counter()
    from mercer.bench.comparison import compare  # noqa: PLC0415 - not for --help
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    with library.config_context(**asdict(machine)):
        rows, kernels = _rows(data, asked, reading)
        widths = list(asked.widths or _DEFAULT_WIDTHS)
        found = compare(rows, kernels, widths, C=asked.C, seed=asked.seed)
        results = list(found) if as_json else _shown(rows, found)
    page = None if no_report else _written(report, rows, results)
    seconds = time.perf_counter() - start
    if as_json:
        facts = {"data": rows.name, "task": rows.task, "train_rows": len(rows.y_train), "test_rows": len(rows.y_test)}
        print_json(facts | {"results": [asdict(result) for result in results], "report": page, "seconds": seconds})
        return
    click.echo(
        f"{_metric(rows)}: on the test rows; kernel error: |ZZ' - K| / |K| on them; memory: Gram matrix or features.\n"
        f"{seconds:.1f} s" + (f"; plots in {page}" if page else "")
    )


def _rows(data: str | None, asked: CompareOptions, reading: SourceOptions) -> "tuple[Rows, list[Kernel]]":
    from mercer.bench import comparison  # noqa: PLC0415 - not for --help
    from mercer.kernels import Gaussian, Polynomial  # noqa: PLC0415 - not for --help

    kernels = list(asked.kernels)
    if data is None:
        if asked.target is not None:
            raise Fault("--target names a column of DATA, and no DATA is given.", USAGE)
        return comparison.digits(asked.seed), kernels or [Polynomial(3, coef0=1.0), Gaussian(gamma=2.0)]
    kernels = kernels or [Gaussian()]
    if not Path(data).suffix and not Path(data).exists() and data != "-":
        return comparison.named(data, asked.rows, asked.seed), kernels
    source = reading.open(data)
    if asked.target is None and source.own_target is None:
        raise Fault(f"--target is missing: it names one of the columns of {source.name}.", USAGE)
    how = comparison.Sampling(asked.target, asked.task, asked.rows, asked.seed, asked.impute)
    return comparison.sampled(source, how), kernels


def _shown(rows: "Rows", found: "Iterator[Result]") -> "list[Result]":
    """Run the comparison, and show a table that grows with the results."""
    from rich.live import Live  # noqa: PLC0415 - not for --help

    results: list[Result] = []
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


def _metric(rows: "Rows") -> str:
    return "accuracy" if rows.task == "classification" else "R2"


def _table(results: "list[Result]", metric: str) -> "Table":
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


def _cells(result: "Result") -> list[str]:
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


def _written(report: str | None, rows: "Rows", results: "list[Result]") -> str | None:
    """Write the page. A page that was not asked for is left out if a package is missing."""
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
