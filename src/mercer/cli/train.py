"""``mercer train``."""

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from mercer.cli.faults import USAGE, Fault, note
from mercer.cli.learners import LearnerOptions, learner_options
from mercer.cli.options import (
    MachineOptions,
    SourceOptions,
    force_option,
    gathered,
    json_option,
    machine_options,
    quiet_option,
    seed_option,
    training_source_options,
)
from mercer.cli.output import check_output, output_file, print_json, progress

if TYPE_CHECKING:
    from mercer.data import Source
    from mercer.learners.table_model import TableModel


@dataclass(frozen=True)
class TableOptions:
    """The target, the columns, and how they are prepared."""

    target: str | None = None
    task: str = "auto"
    ignore: tuple[str, ...] = ()
    max_categories: int = 1000
    impute: bool = False
    test_fraction: float = 0.0


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
    click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave a column out. May be repeated."),
    click.option("--max-categories", type=click.IntRange(min=2), default=1000, show_default=True),
    click.option("--impute", is_flag=True, help="Replace missing values by the mean or the most frequent category."),
    click.option(
        "--test-fraction",
        type=click.FloatRange(0, 1, max_open=True),
        default=0.0,
        show_default=True,
        help="Fraction of rows, drawn at random, to hold out for the score.",
    ),
)


@click.command()
@click.argument("data")
@_table_options
@learner_options
@click.option("--output", "-o", required=True, help="The model file; - for standard output.")
@force_option
@seed_option
@training_source_options
@machine_options
@quiet_option
@json_option
def command(
    data: str,
    output: str,
    *,
    table: TableOptions,
    chosen: LearnerOptions,
    reading: SourceOptions,
    machine: MachineOptions,
    seed: int,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Train a kernel machine on the rows of DATA.

    DATA is a csv or svmlight file (also .gz, .bz2 and .zst), a parquet, arrow, npy or npz file, a folder of parquet or
    arrow files, or - for standard input. It is read in pieces, so it may be larger than memory. Text is parsed once and
    kept, as numbers, in a temporary file (TMPDIR). Numbers are standardised, and text columns are one-hot encoded.
    """
    check_output(output, force=force)
    from mercer.cli import library  # noqa: PLC0415 - not for --help

    start = time.perf_counter()
    with library.config_context(**asdict(machine)):
        source = reading.open(data)
        if table.target is None and source.own_target is None:
            names = library.some(list(source.kinds))
            raise Fault(f"--target is missing: it names one of the columns of {source.name}, {names}.", USAGE)
        classifier, regressor = chosen.learners(seed)
        model = library.TableModel(
            classifier,
            regressor,
            library.TablePreparation(impute=table.impute, max_categories=table.max_categories),
            task=table.task,
            test_fraction=table.test_fraction,
            random_state=seed,
        )
        with progress("reading", source, shown=not quiet) as advance:
            model.fit(source, table.target, ignore=table.ignore, watch=lambda piece: advance(piece.n_rows))
    content = library.dumps(model)
    with output_file(output, force=force) as file:
        file.write(content)
    _report(model, source, output, time.perf_counter() - start, as_json=as_json)


def _report(model: "TableModel", source: "Source", output: str, seconds: float, *, as_json: bool) -> None:
    learner = model.learner_
    kernel = getattr(learner.feature_map_, "kernel_", learner.kernel)
    result = {
        "model": output,
        "data": source.name,
        "task": model.task_,
        "target": model.target_,
        "learner": type(learner).__name__,
        "kernel": repr(kernel),
        "n_components": int(learner.coef_.shape[-1]),
        "train_rows": model.n_train_,
        "test_rows": model.n_test_,
        "score": model.score_,
        "metric": "accuracy" if model.task_ == "classification" else "R2",
        "seconds": round(seconds, 3),
    }
    if as_json and output != "-":
        print_json(result)
        return
    score = (
        "" if model.score_ is None else f", {result['metric']} {model.score_:.4f} on {model.n_test_:,} rows held out"
    )
    text = (
        f"{result['learner']} with {result['kernel']}, D = {result['n_components']}: "
        f"{model.n_train_:,} rows in {seconds:.1f} s{score}"
    )
    if output == "-":  # standard output holds the model
        note(text)
    else:
        click.echo(f"{text}\nwritten to {output}")
