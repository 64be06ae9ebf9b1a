"""``mercer info``."""

import os
from importlib.metadata import PackageNotFoundError, version

import click

from mercer.cli.options import json_option
from mercer.cli.output import print_json

_OPTIONAL = ("click", "rich", "pyarrow", "jinja2", "matplotlib", "pandas", "polars", "onnx", "onnxruntime")


@click.command()
@json_option
def command(*, as_json: bool) -> None:
    """Show versions, the core in use, threads, memory, and the optional packages that are installed."""
    from mercer.versions import describe  # noqa: PLC0415 - not for --help

    facts: dict[str, str] = describe()
    facts |= {name: _version(name) for name in _OPTIONAL}
    facts["MERCER_DATA"] = os.environ.get("MERCER_DATA", "not set")
    if as_json:
        print_json(dict(facts))
        return
    for name, value in facts.items():
        click.echo(f"{name:>14}: {value}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
