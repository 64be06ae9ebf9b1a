"""``mercer export``."""

from pathlib import Path

import click

from mercer.cli.faults import MODEL, OUTPUT, Fault, standard_input
from mercer.cli.options import force_option, json_option
from mercer.cli.output import check_output, print_json


@click.command()
@click.argument("model")
@click.option("--output", "-o", required=True, help="An .onnx file.")
@click.option(
    "--precision",
    type=click.Choice(["float32", "float64"]),
    default="float32",
    show_default=True,
    help="Type of the input, and precision of the arithmetic.",
)
@force_option
@json_option
def command(model: str, *, output: str, precision: str, force: bool, as_json: bool) -> None:
    """Write a MODEL file as ONNX, which runs without Python and without mercer.

    The error names the part of a model that ONNX has no operator for, and what to use instead.
    """
    if model != "-" and not Path(model).is_file():
        raise Fault(f"{model}: there is no such model file.", MODEL)
    if Path(output).suffix != ".onnx":
        raise Fault(f"{output}: the name of the output must end in .onnx.", OUTPUT)
    check_output(output, force=force)
    from mercer.export import ExportError, to_onnx  # noqa: PLC0415 - not for --help
    from mercer.storage import load  # noqa: PLC0415 - not for --help

    try:
        made = to_onnx(load(standard_input() if model == "-" else model), output, dtype=precision, overwrite=force)
    except ExportError as error:
        raise Fault(str(error), MODEL) from None
    inputs, outputs = ([value.name for value in values] for values in (made.graph.input, made.graph.output))
    size = Path(output).stat().st_size
    if as_json:
        print_json({"output": output, "inputs": inputs, "outputs": outputs, "bytes": size})
        return
    described = [f"{each.name} ({each.doc_string})" if each.doc_string else each.name for each in made.graph.input]
    click.echo(f"{output}: {size:,} bytes. Inputs: {', '.join(described)}. Outputs: {', '.join(outputs)}.")
