"""``mercer train``."""

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from mercer.cli.faults import USAGE, Fault, note, printable
from mercer.cli.learners import LearnerOptions, learner_options
from mercer.cli.options import (
    CheckpointOptions,
    MachineOptions,
    SourceOptions,
    checkpoint_options,
    force_option,
    gathered,
    json_option,
    machine_options,
    quiet_option,
    seed_option,
    training_source_options,
)
from mercer.cli.output import check_output, fitted_to_terminal, output_file, print_json, progress

if TYPE_CHECKING:
    from mercer.data import Source
    from mercer.learners.table_model import TableModel


@dataclass(frozen=True)
class TableOptions:
    """The target, the columns, and how they are prepared."""

    target: str | None = None
    task: str = "auto"
    ignore: tuple[str, ...] = ()
    max_categories: int | None = None
    missing: str | None = None
    test_fraction: float | None = None
    text: str | None = None


@dataclass(frozen=True)
class TrainedOptions:
    """Where the model and its page are written, and what is printed."""

    output: str = "-"
    report: str | None = None
    force: bool = False
    quiet: bool = False
    as_json: bool = False


_table_options = gathered(
    "table",
    TableOptions,
    click.option("--target", "-t", help="Column to predict. Not needed for svmlight files, which hold labels."),
    click.option(
        "--task",
        type=click.Choice(["auto", "classification", "regression"]),
        default="auto",
        show_default=True,
        help="auto: classification for text, or up to 100 whole numbers.",
    ),
    click.option("--text", metavar="COLUMN", help="Learn from this column of text alone, by a kernel on strings."),
    click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave a column out. May be repeated."),
    click.option(
        "--max-categories",
        type=click.IntRange(min=2),
        help="Categories of a column of text that have columns, for ridge, svm and logistic; 1000 by default.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["indicate", "impute", "error"]),
        help="Missing values: a level or a column of their own (default), the mean or the most frequent category "
        "(ridge, svm, logistic), or an error.",
    ),
    click.option(
        "--test-fraction",
        type=click.FloatRange(0, 1, max_open=True),
        help="Fraction of rows to hold out for a score; the model is then trained on all rows. By default 0.2 for "
        "learners without a leave-one-out score, else 0.",
    ),
)
_written_options = gathered(
    "to",
    TrainedOptions,
    click.option("--output", "-o", required=True, help="The model file; - for standard output."),
    click.option("--report", metavar="PAGE", help="Write a page with plots: an .html file."),
    force_option,
    quiet_option,
    json_option,
)


@click.command()
@click.argument("data")
@_table_options
@learner_options
@_written_options
@seed_option
@training_source_options
@machine_options
@checkpoint_options
def command(
    data: str,
    *,
    table: TableOptions,
    chosen: LearnerOptions,
    to: TrainedOptions,
    reading: SourceOptions,
    machine: MachineOptions,
    states: CheckpointOptions,
    seed: int,
) -> None:
    """Train a model on the rows of DATA, and say how good it is.

    DATA is a csv, svmlight or FASTA file (also .gz, .bz2 and .zst), a parquet, arrow, npy or npz file, a folder of
    parquet or arrow files or of a TU data set of graphs, or - for standard input. Columns may hold numbers, text, dates
    and missing values. By default, everything is chosen by leave-one-out errors, and the rows are held in memory. With
    --model ridge, svm or logistic, and where a table is larger than memory, DATA is read in passes; text is parsed once
    and kept, as numbers, in a temporary file (TMPDIR). A command with --checkpoint that was killed or interrupted goes
    on when it is run again, and writes the same model. With --text, and for sequences and graphs, the kernel compares
    the objects themselves.
    """
    check_output(to.output, force=to.force)
    check_output(to.report, force=to.force)
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    if states.every is not None and states.checkpoint is None:
        raise click.UsageError("--every is the time between the states of --checkpoint FOLDER. Give both.")
    with library.config_context(**asdict(machine), **asdict(states)):
        source = reading.open(data)
        if table.target is None and source.own_target is None:
            names = library.some(list(source.kinds))
            raise Fault(f"--target is missing: it names one of the columns of {source.name}, {names}.", USAGE)
        domain = None if table.text is None and source.own_objects is None else source.object_domain
        model = _model(table, chosen.on(domain), seed)
        start = time.perf_counter()  # imports are done
        with library.checkpointed(model):  # until the model is written
            with progress(source, shown=not to.quiet) as advance:
                model.fit(
                    source,
                    table.target,
                    ignore=table.ignore,
                    text=table.text,
                    watch=lambda piece: advance(piece.n_rows),
                )
            seconds = time.perf_counter() - start
            content = library.dumps(model)
            with output_file(to.output, force=to.force) as file:
                file.write(content)
    if to.report is not None:
        _write_page(model, source, to)
    _report(model, source, to, seconds)


def _model(table: TableOptions, chosen: LearnerOptions, seed: int) -> "TableModel":
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    if chosen.name == "tuned":
        for option, value in (("--max-categories", table.max_categories), ("--missing impute", table.missing)):
            if value not in (None, "indicate", "error"):
                raise click.UsageError(f"{option} is an option of --model ridge, svm and logistic, not of tuned.")
    classifier, regressor = chosen.learners(seed)
    return library.TableModel(
        classifier,
        regressor,
        library.TablePreparation(missing=table.missing or "indicate", max_categories=table.max_categories or 1000),
        task=table.task,
        test_fraction=table.test_fraction,
        random_state=seed,
    )


def _write_page(model: "TableModel", source: "Source", to: TrainedOptions) -> None:
    from mercer.cli.report_page import render  # noqa: PLC0415 - needs jinja2 and matplotlib

    with output_file(str(to.report), force=to.force) as file:
        file.write(render(model, source.name).encode())


def _report(model: "TableModel", source: "Source", to: TrainedOptions, seconds: float) -> None:
    from mercer.cli import facts  # noqa: PLC0415 - not for --help

    result = {
        "model": to.output,
        "data": source.name,
        "task": model.task_,
        "target": model.target_,
        "learner": type(model.learner_).__name__,
        **facts.learner_facts(model),
        "train_rows": model.n_train_,
        "test_rows": model.n_test_,
        **facts.score_facts(model),
        "importances": facts.importances(model),
        "columns": facts.column_facts(model),
        "seconds": round(seconds, 3),
    }
    if to.as_json and to.output != "-":
        print_json(result)
        return
    title = f"{result['learner']} of {model.target_} ({model.task_}): {model.n_train_:,} rows in {seconds:.1f} s"
    lines = [title, *facts.in_words(model), facts.next_step(model, to.output)]
    if to.output == "-":  # standard output holds the model
        for line in lines:
            note(line)
        return
    pages = f", and a page to {to.report}" if to.report else ""
    for line in (*lines, f"written to {to.output}{pages}"):
        click.echo(fitted_to_terminal(printable(line), facts.INDENT))
