"""``mercer transform``."""

from typing import Any

import click

from mercer.cli.models import load_model
from mercer.cli.options import data_options, force_option, json_option, machine_options, quiet_option
from mercer.cli.predict import stream


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--output", "-o", default="-", show_default=True, help="A .npy, .parquet, .arrow, .csv or .jsonl file.")
@force_option
@data_options
@machine_options
@quiet_option
@json_option
def command(model: str, data: str, output: str, **options: Any) -> None:
    """Write the features of the rows of DATA under MODEL's map.

    The inner products of the features are the kernel's values, estimated: a linear model on them is a kernel machine.
    """
    loaded = load_model(model)

    def rows(table: Any) -> Any:
        for Z in loaded.transform(table):
            yield list((Z.toarray() if hasattr(Z, "toarray") else Z).T)

    names = [f"z{j}" for j in range(loaded.learner_.coef_.shape[-1])]
    stream(rows, names, data, output, model, options)
