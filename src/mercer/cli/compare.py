"""``mercer compare``."""

import time
from dataclasses import asdict, dataclass, replace
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
from mercer.cli.output import check_output, output_file, print_json

if TYPE_CHECKING:
    from mercer.bench.comparison import Result, Rows
    from mercer.bench.growth import Growth
    from mercer.kernels import Kernel

_REPORT = "mercer-compare.html"


@dataclass(frozen=True)
class CompareOptions:
    """What is compared."""

    target: str | None = None
    task: str = "auto"
    kernels: "tuple[Kernel, ...]" = ()
    widths: tuple[int, ...] = ()
    rows: int = 100_000
    seconds: float = 4.0
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
        "--rows", type=click.IntRange(min=10), default=100_000, show_default=True, help="Most rows to train on."
    ),
    click.option(
        "--time-limit",
        "seconds",
        type=click.FloatRange(min=0.0, min_open=True),
        default=4.0,
        show_default=True,
        help="Seconds of training and prediction after which a model gets no more rows.",
    ),
    click.option(
        "--C", "C", type=float, default=1.0, show_default=True, help="Cost parameter of the support vector machines."
    ),
    click.option("--impute", is_flag=True, help="Replace missing values by the mean or the most frequent category."),
    seed_option,
)
_DEFAULT_WIDTHS = (128, 512, 1024)
# Features of mercer's machine where the rows grow, and the most rows on which all maps are compared.
_GROWN_WIDTH, _MAP_ROWS = 512, 5000
# The part of the time limit that models have on the second set of the built-in job.
_OTHER_SHARE = 0.5


@dataclass(frozen=True)
class Compared:
    """What was measured: growing numbers of rows of one or two sets, and all maps on few rows."""

    growths: "list[Growth]"
    rows: "Rows"
    results: "list[Result]"

    def facts(self) -> dict[str, object]:
        """Return everything for JSON."""
        first, *others = [growth.facts() for growth in self.growths]
        return {
            "data": self.rows.name,
            "task": self.rows.task,
            "train_rows": len(self.rows.y_train),
            "test_rows": len(self.rows.y_test),
            "growth": first,
            "other_growths": others,
            "results": [asdict(result) for result in self.results],
        }


@click.command()
@click.argument("data", required=False)
@_compare_options
@click.option("--report", "-o", help=f"The HTML page; {_REPORT} by default, which is overwritten.")
@click.option("--no-report", is_flag=True, help="Write no page.")
@click.option("--all", "show_all", is_flag=True, help="Print a table of all maps at all numbers of features.")
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
    show_all: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Show how an exact kernel machine and mercer grow with the rows, and compare all maps of a kernel.

    On synthetic rows whose best accuracy is known, on Covertype if it is on this machine (mercer datasets), and on
    scikit-learn's digits; or on rows drawn from DATA, a file as for train or the name of a data set. There, boosted
    trees and the tuned estimator run too. Prints a plot of the training time and what it says, and writes an HTML page
    with all plots and tables.
    """
    check_output(report, force=force)
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    with library.config_context(**asdict(machine)):
        start = time.perf_counter()
        found = _measured(data, asked, reading, shown=not as_json)
    page = None if no_report else _written(report, found)
    seconds = time.perf_counter() - start
    if as_json:
        print_json(found.facts() | {"report": page, "seconds": seconds})
        return
    from mercer.cli.comparison_text import print_results  # noqa: PLC0415 - not for --help

    print_results(found.rows, found.results, show_all=show_all)
    more = "" if show_all else "; --all prints every map"
    click.echo(f"{seconds:.0f} s" + (f"; plots in {page}" if page else "") + more)


def _measured(data: str | None, asked: CompareOptions, reading: SourceOptions, *, shown: bool) -> Compared:
    from mercer.bench import comparison  # noqa: PLC0415 - not for --help
    from mercer.cli.comparison_text import print_growth, print_other_growth  # noqa: PLC0415 - not for --help

    growing, kernels, best = _rows(data, asked, reading)
    kernel = kernels[-1] if data is not None or asked.kernels else _default_kernel()
    growths = [_grown(growing, kernel, asked, best, tables=data is not None)]
    if shown:
        print_growth(growths[0])
    if data is None:
        less = replace(asked, seconds=_OTHER_SHARE * asked.seconds)
        growths.append(_grown(comparison.at_hand(asked.rows, asked.seed), kernel, less, None, tables=False))
        if shown:
            print_other_growth(growths[1])
    few = comparison.digits(asked.seed) if data is None else growing.head(_MAP_ROWS, _MAP_ROWS)
    n_rows = len(few.y_train)
    widths = list(asked.widths) or [width for width in _DEFAULT_WIDTHS if width <= max(n_rows, _DEFAULT_WIDTHS[0])]
    results = list(comparison.compare(few, kernels, widths, C=asked.C, seed=asked.seed))
    return Compared(growths, few, results)


def _grown(rows: "Rows", kernel: "Kernel", asked: CompareOptions, best: float | None, *, tables: bool) -> "Growth":
    from mercer.bench import growth  # noqa: PLC0415 - not for --help

    width = max(asked.widths, default=_GROWN_WIDTH)
    models = growth.contestants(rows, kernel, width, C=asked.C, seed=asked.seed, tables=tables)
    steps = list(growth.grow(rows, models, limit=asked.seconds))
    return growth.Growth(rows, steps, growth.sentences(rows, steps, best))


def _default_kernel() -> "Kernel":
    from mercer.kernels import Gaussian  # noqa: PLC0415 - not for --help

    return Gaussian()


def _rows(data: str | None, asked: CompareOptions, reading: SourceOptions) -> "tuple[Rows, list[Kernel], float | None]":
    """Return the rows that grow, the kernels, and the best score that there is, where it is known."""
    from mercer.bench import comparison  # noqa: PLC0415 - not for --help
    from mercer.kernels import Gaussian, Polynomial  # noqa: PLC0415 - not for --help

    kernels = list(asked.kernels)
    if data is None:
        if asked.target is not None:
            raise Fault("--target names a column of DATA, and no DATA is given.", USAGE)
        growing, best = comparison.two_rings(asked.rows, asked.seed)
        return growing, kernels or [Polynomial(3, coef0=1.0), Gaussian(gamma=2.0)], best
    kernels = kernels or [Gaussian()]
    if not Path(data).suffix and not Path(data).exists() and data != "-":
        return comparison.named(data, asked.rows, asked.seed), kernels, None
    source = reading.open(data)
    if asked.target is None and source.own_target is None:
        raise Fault(f"--target is missing: it names one of the columns of {source.name}.", USAGE)
    how = comparison.Sampling(asked.target, asked.task, asked.rows, asked.seed, asked.impute)
    return comparison.sampled(source, how), kernels, None


def _written(report: str | None, found: Compared) -> str | None:
    """Write the page. A page that was not asked for is left out if a package is missing."""
    from mercer.cli.page import render  # noqa: PLC0415 - not for --help

    try:
        text = render(found.growths, found.rows, found.results)
    except ImportError as missing:
        if report is not None:
            raise Fault(f"the page needs {missing.name}. Install with: pip install 'mercer[cli]'") from None
        note(f"no page with plots: {missing.name} is not installed; pip install 'mercer[cli]'.")
        return None
    path = report or _REPORT
    with output_file(path, force=True) as file:
        file.write(text.encode())
    return str(Path(path))
