"""``mercer transform``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from mercer.cli.faults import MODEL, Fault
from mercer.cli.models import load_model
from mercer.cli.options import MachineOptions, SourceOptions, machine_options, source_options
from mercer.cli.predict import RowResults, output_options, stream
from mercer.cli.row_output import OutputOptions

if TYPE_CHECKING:
    from mercer._typing import Array
    from mercer.data import Source


@click.command()
@click.argument("model")
@click.argument("data")
@output_options(".npy, .parquet, .arrow, .csv or .jsonl")
@source_options
@machine_options
def command(model: str, data: str, *, to: OutputOptions, reading: SourceOptions, machine: MachineOptions) -> None:
    """Write the features of the rows of DATA under MODEL's map.

    The inner products of the features estimate the values of the kernel: a linear model on the features is a kernel
    machine. A command with --resume that was killed or interrupted goes on when it is run again, and writes the same
    file.
    """
    to.check_resume(model, data)
    loaded = load_model(model)

    def rows(source: "Source", n_done: int) -> "Iterator[list[Array]]":
        for Z in loaded.transform(source, after=n_done):
            yield list((Z.toarray() if hasattr(Z, "toarray") else Z).T)

    if not hasattr(loaded.learner_, "feature_map_"):
        raise Fault(
            f"{model}: {type(loaded.learner_).__name__} has no feature map; mercer train --model ridge has one.", MODEL
        )
    names = [f"z{j}" for j in range(loaded.learner_.coef_.shape[-1])]
    stream(RowResults(model, names, rows, {}), data, to, reading, machine)
