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
from mercer.cli.output import check_output, print_json, progress
from mercer.cli.row_output import OutputOptions, file_facts, row_output

if TYPE_CHECKING:
    from mercer._typing import Array
    from mercer.data import Source


@dataclass(frozen=True)
class RowResults:
    """The results of a model on rows: a function of a source and of the rows that are done, and names of columns."""

    model: str
    names: list[str]
    rows: "Callable[[Source, int], Iterable[Sequence[Array]]]"
    # What else the results depend on, by name.
    asked: dict[str, str]


_resume_option = click.option(
    "--resume",
    is_flag=True,
    help="Keep the rows written so far if the command is killed, and go on after those of an earlier --resume.",
)


def output_options(formats: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the options of a command that writes one result per row."""
    output = click.option("--output", "-o", default="-", show_default=True, help=f"A {formats} file.")
    return gathered("to", OutputOptions, output, force_option, _resume_option, quiet_option, json_option)


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
    output file, each row is written as a JSON object. A command with --resume that was killed or interrupted goes on
    when it is run again, and writes the same file.
    """
    to.check_resume(model, data)
    loaded = load_model(model)
    classes = loaded.classes_ if loaded.task_ == "classification" else None
    names = ["prediction"]
    if scores and classes is not None:
        names += [f"score_{label}" for label in classes]
    if interval is not None:
        names += ["low", "high"] if classes is None else ["set"]

    def rows(source: "Source", n_done: int) -> "Iterator[list[Array]]":
        for result in loaded.results(source, scores=scores, coverage=interval, after=n_done):
            columns = [result.predicted]
            columns += [] if result.scores is None else list(result.scores.T)
            if result.intervals is not None:
                columns += list(result.intervals.T) if classes is None else [_sets(result.intervals, classes)]
            yield columns

    stream(RowResults(model, names, rows, {"--interval": str(interval)}), data, to, reading, machine)


def _sets(members: "Array", classes: "Array") -> "Array":
    """Return sets of classes as text: the labels with a bar between them."""
    import numpy as np  # noqa: PLC0415 - not for --help

    texts = [" | ".join(str(label) for label in classes[row]) for row in members]
    return np.array(texts, dtype=object)


def stream(results: RowResults, data: str, to: OutputOptions, reading: SourceOptions, machine: MachineOptions) -> None:
    """Write the results of a model on DATA to the output, and print a summary."""
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    if to.resume:
        library.remove_lost_record(to.output)
    check_output(to.output, force=to.force)
    kind = "jsonl" if to.as_json and to.output == "-" else library.format_of(to.output)
    with library.config_context(**asdict(machine)):
        source = reading.open(data)
        start = time.perf_counter()  # imports are done
        facts = _facts(results, source, reading) if to.resume else {}
        with (
            progress(source, shown=not to.quiet and to.output != "-") as advance,
            row_output(to, kind, results.names, facts) as output,
        ):
            for columns in results.rows(source, output.n_rows):
                output.write(columns)
                advance(len(columns[0]))
    if to.output == "-":
        return
    seconds = time.perf_counter() - start
    if to.as_json:
        said = {"output": to.output, "model": results.model, "data": source.name, "rows": output.n_rows}
        print_json(said | {"columns": results.names, "seconds": round(seconds, 3)})
    else:
        click.echo(f"{output.n_rows:,} rows in {seconds:.1f} s, written to {to.output}")


def _facts(results: RowResults, source: "Source", reading: SourceOptions) -> dict[str, str]:
    """Return what an output depends on: the model, the rows, the options and the versions."""
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    options = {f"--{name.replace('_', '-')}": str(value) for name, value in asdict(reading).items()}
    columns = {"the columns of the output": f"{len(results.names)}: {library.some(results.names)}"}
    known = file_facts(results.model) | library.traits_of_source(source)
    return known | columns | options | results.asked | library.settings()
