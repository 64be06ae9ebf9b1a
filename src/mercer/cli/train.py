"""``mercer train``."""

import time
from typing import Any

import click

from mercer.cli.faults import USAGE, Fault, note
from mercer.cli.learners import LEARNERS, learners_of
from mercer.cli.options import (
    KernelExpression,
    applied,
    data_options,
    force_option,
    json_option,
    machine_options,
    open_data,
    quiet_option,
    seed_option,
)
from mercer.cli.output import check_output, output_file, print_json, progress

_TABLE_OPTIONS = applied(
    click.option("--target", "-t", help="Column to predict. svmlight files have labels of their own."),
    click.option(
        "--task",
        type=click.Choice(["auto", "classification", "regression"]),
        default="auto",
        show_default=True,
        help="auto: classification for text, or up to 100 whole numbers.",
    ),
    click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave a column out. May be repeated."),
    click.option("--categorical", multiple=True, metavar="COLUMN", help="Take numbers for categories. Repeatable."),
    click.option("--max-categories", type=click.IntRange(min=2), default=1000, show_default=True),
    click.option("--impute", is_flag=True, help="Put mean or most frequent category for missing values."),
    click.option(
        "--test-fraction",
        type=click.FloatRange(0, 1, max_open=True),
        default=0.0,
        show_default=True,
        help="Rows held out, drawn at random, to measure the score on.",
    ),
)
_MODEL_OPTIONS = applied(
    click.option("--learner", type=click.Choice(LEARNERS), default=LEARNERS[0], show_default=True),
    click.option("--kernel", type=KernelExpression(), help='Such as "Gaussian(gamma=0.5) + 0.1*Linear()".'),
    click.option("--n-components", "-D", type=click.IntRange(min=1), default=1024, show_default=True),
    click.option("--method", default="auto", show_default=True, help="Feature map, such as fourier or nystroem."),
    click.option("--alpha", default="1.0", show_default=True, help="Penalty of ridge: a number, gcv or loo."),
    click.option(
        "--C", "C", type=float, default=1.0, show_default=True, help="Weight of the losses, of svm, logistic."
    ),
)


@click.command()
@click.argument("data")
@_TABLE_OPTIONS
@_MODEL_OPTIONS
@click.option("--output", "-o", required=True, help="The model file; - for standard output.")
@force_option
@seed_option
@data_options
@machine_options
@quiet_option
@json_option
def command(data: str, output: str, **options: Any) -> None:
    """Train a kernel machine on the rows of DATA.

    DATA is a csv (.gz, .bz2), parquet, arrow, npy, npz or svmlight file, a folder of parquet or arrow files, or - for
    standard input. It is read in pieces, whatever its size; text is parsed once and kept, as numbers, in a temporary
    file (TMPDIR). Numbers are standardised and text columns one-hot.
    """
    check_output(output, force=options["force"])
    from mercer.config import config_context  # noqa: PLC0415 - not for --help

    start = time.perf_counter()
    with config_context(threads=options["threads"], memory=options["memory"]):
        model, table = _trained(data, options)
    from mercer.storage import dumps  # noqa: PLC0415 - not for --help

    content = dumps(model)
    with output_file(output, force=options["force"]) as file:
        file.write(content)
    _report(model, table, output, time.perf_counter() - start, as_json=options["as_json"])


def _trained(data: str, options: dict[str, Any]) -> Any:
    table = open_data(data, **options)
    if options["target"] is None and table.own_target is None:
        raise Fault(f"--target is missing: it names one of the columns of {table.name}, {_some(table.names)}.", USAGE)
    from mercer.data.tables import TablePreparation  # noqa: PLC0415 - not for --help
    from mercer.learners.table_model import TableModel  # noqa: PLC0415 - not for --help

    classifier, regressor = learners_of(**options)
    model = TableModel(
        classifier,
        regressor,
        TablePreparation(impute=options["impute"], max_categories=options["max_categories"]),
        task=options["task"],
        test_fraction=options["test_fraction"],
        random_state=options["seed"],
    )
    with progress("reading", table, shown=not options["quiet"]) as advance:
        model.fit(table, options["target"], ignore=options["ignore"], watch=lambda batch: advance(batch.n_rows))
    return model, table


def _some(names: Any) -> str:
    from mercer.data.tables.base import some  # noqa: PLC0415 - not for --help

    return some(names)


def _report(model: Any, table: Any, output: str, seconds: float, *, as_json: bool) -> None:
    learner = model.learner_
    kernel = getattr(learner.feature_map_, "kernel_", learner.kernel)
    result = {
        "model": output,
        "data": table.name,
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
