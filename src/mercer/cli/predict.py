"""``mercer predict``."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from mercer.cli.models import load_model
from mercer.cli.options import (
    MachineOptions,
    SourceOptions,
    force_option,
    gathered,
    json_option,
    machine_options,
    quiet_option,
    source_options,
)
from mercer.cli.output import check_output, output_file, print_json, progress

if TYPE_CHECKING:
    from mercer._typing import Array
    from mercer.data import Source


@dataclass(frozen=True)
class OutputOptions:
    """The output file, and what is printed."""

    output: str = "-"
    force: bool = False
    quiet: bool = False
    as_json: bool = False


def output_options(formats: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the options of a command that writes one result per row."""
    output = click.option("--output", "-o", default="-", show_default=True, help=f"A {formats} file.")
    return gathered("to", OutputOptions, output, force_option, quiet_option, json_option)


@click.command()
@click.argument("model")
@click.argument("data")
@click.option(
    "--scores",
    is_flag=True,
    help="Add one column per class: probabilities, or scores for learners without probabilities.",
)
@click.option(
    "--interval",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="COVERAGE",
    help="Add the ends of intervals (columns low and high) or, for classes, a set of them, that hold the target with "
    "this probability.",
)
@output_options(".csv, .jsonl, .parquet, .arrow or .npy")
@source_options
@machine_options
def command(
    model: str,
    data: str,
    *,
    scores: bool,
    interval: float | None,
    to: OutputOptions,
    reading: SourceOptions,
    machine: MachineOptions,
) -> None:
    """Predict the target of the rows of DATA by MODEL.

    MODEL is a file of mercer train, or of mercer.save in Python for a classifier or regressor. Columns are matched by
    name, in any order; further columns are ignored. MODEL or DATA may be - for standard input. With --json and no
    output file, each row is written as a JSON object.
    """
    loaded = load_model(model)
    classes = loaded.classes_ if loaded.task_ == "classification" else None
    names = ["prediction"]
    if scores and classes is not None:
        names += [f"score_{label}" for label in classes]
    if interval is not None:
        names += ["low", "high"] if classes is None else ["set"]

    def rows(source: "Source") -> "Iterator[list[Array]]":
        for result in loaded.results(source, scores=scores, coverage=interval):
            columns = [result.predicted]
            columns += [] if result.scores is None else list(result.scores.T)
            if result.intervals is not None:
                columns += list(result.intervals.T) if classes is None else [_sets(result.intervals, classes)]
            yield columns

    stream(rows, names, model, data, to, reading, machine)


def _sets(members: "Array", classes: "Array") -> "Array":
    """Return sets of classes as text: the labels with a bar between them."""
    import numpy as np  # noqa: PLC0415 - not for --help

    texts = [" | ".join(str(label) for label in classes[row]) for row in members]
    return np.array(texts, dtype=object)


def stream(
    rows: "Callable[[Source], Iterable[Sequence[Array]]]",
    names: list[str],
    model: str,
    data: str,
    to: OutputOptions,
    reading: SourceOptions,
    machine: MachineOptions,
) -> None:
    """Write the results of ``rows`` on DATA to the output, and print a summary."""
    check_output(to.output, force=to.force)
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    kind = "jsonl" if to.as_json and to.output == "-" else library.format_of(to.output)
    n_rows = 0
    with library.config_context(**asdict(machine)):
        source = reading.open(data)
        start = time.perf_counter()  # imports are done
        with (
            progress(source, shown=not to.quiet and to.output != "-") as advance,
            output_file(to.output, force=to.force) as file,
        ):
            writer = library.row_writer(kind, names, file)
            for columns in rows(source):
                writer.write(columns)
                n_rows += len(columns[0])
                advance(len(columns[0]))
            writer.close()
    if to.output == "-":
        return
    seconds = time.perf_counter() - start
    if to.as_json:
        result = {"output": to.output, "model": model, "data": source.name, "rows": n_rows, "columns": names}
        print_json(result | {"seconds": round(seconds, 3)})
    else:
        click.echo(f"{n_rows:,} rows in {seconds:.1f} s, written to {to.output}")
