"""``mercer predict``."""

import time
from collections.abc import Callable
from typing import Any

import click

from mercer.cli.models import load_model
from mercer.cli.options import data_options, force_option, json_option, machine_options, open_data, quiet_option
from mercer.cli.output import check_output, output_file, print_json, progress
from mercer.cli.rows import format_of, row_writer


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--output", "-o", default="-", show_default=True, help="A .csv, .jsonl, .parquet, .arrow or .npy file.")
@click.option(
    "--scores",
    is_flag=True,
    help="Add one column per class: probabilities, or scores for learners without probabilities.",
)
@force_option
@data_options
@machine_options
@quiet_option
@json_option
def command(model: str, data: str, output: str, *, scores: bool, **options: Any) -> None:
    """Predict the target of the rows of DATA by MODEL.

    Columns are matched by name: they may be in another order, and others are ignored. One of MODEL and DATA may be -,
    standard input. With --json and no file, a JSON object a row.
    """
    loaded = load_model(model)

    def rows(table: Any) -> Any:
        from mercer.learners.far_rows import GatheredFarRows  # noqa: PLC0415 - not for --help

        far = loaded.far_rows()
        for X in loaded.rows(table):
            with far.collecting():
                predicted = loaded.labels(loaded.learner_.predict(X))
            with GatheredFarRows().collecting():  # the same rows again
                of_classes = loaded.scores(X)[0].T if scores and loaded.task_ == "classification" else []
            yield [predicted, *of_classes]
        far.warn("mercer predict")

    names = ["prediction"]
    if scores and loaded.task_ == "classification":
        names += [f"score_{label}" for label in loaded.labels(loaded.learner_.classes_)]
    stream(rows, names, data, output, model, options)


def stream(
    rows: Callable[[Any], Any], names: list[str], data: str, output: str, model: str, options: dict[str, Any]
) -> None:
    """Write what ``rows`` makes of the table DATA to the output, and say what was done."""
    check_output(output, force=options["force"])
    to_lines = options["as_json"] and output == "-"
    kind = "jsonl" if to_lines else format_of(output)
    from mercer.config import config_context  # noqa: PLC0415 - not for --help

    start, n_rows = time.perf_counter(), 0
    with config_context(threads=options["threads"], memory=options["memory"]):
        table = open_data(data, **options)
        with (
            progress("rows", table, shown=not options["quiet"] and output != "-") as advance,
            output_file(output, force=options["force"]) as file,
        ):
            writer = row_writer(output, kind, names, file)
            for columns in rows(table):
                writer.write(columns)
                n_rows += len(columns[0])
                advance(len(columns[0]))
            writer.close()
    if output == "-":
        return
    seconds = time.perf_counter() - start
    if options["as_json"]:
        result = {"output": output, "model": model, "data": table.name, "rows": n_rows, "columns": names}
        print_json(result | {"seconds": round(seconds, 3)})
    else:
        click.echo(f"{n_rows:,} rows in {seconds:.1f} s, written to {output}")
