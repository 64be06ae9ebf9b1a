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
@output_options(".csv, .jsonl, .parquet, .arrow or .npy")
@source_options
@machine_options
def command(
    model: str, data: str, *, scores: bool, to: OutputOptions, reading: SourceOptions, machine: MachineOptions
) -> None:
    """Predict the target of the rows of DATA by MODEL.

    Columns are matched by name, in any order; further columns are ignored. MODEL or DATA may be - for standard input.
    With --json and no output file, each row is written as a JSON object.
    """
    loaded = load_model(model)
    names = ["prediction"]
    if scores and loaded.task_ == "classification":
        names += [f"score_{label}" for label in loaded.classes_]

    def rows(source: "Source") -> "Iterator[list[Array]]":
        for predicted, of_classes in loaded.predict_scores(source, scores=scores):
            yield [predicted] if of_classes is None else [predicted, *of_classes.T]

    stream(rows, names, model, data, to, reading, machine)


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
    start, n_rows = time.perf_counter(), 0
    with library.config_context(**asdict(machine)):
        source = reading.open(data)
        with (
            progress("rows", source, shown=not to.quiet and to.output != "-") as advance,
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
