"""Options that several sub-commands share."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from mercer.cli.faults import USAGE, Fault

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight")

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for scripts.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
force_option = click.option("--force", is_flag=True, help="Overwrite the output where it exists.")
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of all draws.")


def applied(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Return several decorators as one, the first one outermost."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def data_options(function: F) -> F:
    """Options that say how DATA is to be read."""
    return applied(
        click.option("--format", "format_", type=click.Choice(FORMATS), help="Of DATA; by default as its name says."),
        click.option("--delimiter", help="Of csv values; a comma by default."),
        click.option("--no-header", is_flag=True, help="The csv has no line of names; columns are x0, x1, ..."),
    )(function)


def machine_options(function: F) -> F:
    """Options about the machine."""
    return applied(
        click.option("--threads", type=click.IntRange(min=1), help="Threads; all cores by default."),
        click.option("--memory", help="Budget for rows and features in work, such as 2GiB."),
    )(function)


class KernelExpression(click.ParamType[Any]):
    """A kernel such as ``Gaussian(gamma=0.5) + 0.1*Linear()``; never evaluated as code."""

    name = "expression"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the expression; an error points at the column."""
        if not isinstance(value, str):
            return value
        from mercer.kernels.parse import KernelSyntaxError, parse_kernel  # noqa: PLC0415 - not for --help

        try:
            return parse_kernel(value)
        except KernelSyntaxError as error:
            first, *pointer = str(error).split("\n")
            raise Fault(f"--kernel: {first}", USAGE, pointer) from None


def open_data(data: str, **how: Any) -> Any:
    """Open DATA as a table; ``-`` is standard input."""
    from mercer.data.tables import open_table  # noqa: PLC0415 - not for --help

    source = sys.stdin.buffer if data == "-" else data
    return open_table(
        source,
        format=how.get("format_"),
        delimiter=how.get("delimiter"),
        header=not how.get("no_header"),
        categorical=how.get("categorical", ()),
    )
