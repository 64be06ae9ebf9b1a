"""Options that several sub-commands share; each group of options is a dataclass."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mercer.cli.faults import USAGE, Fault, standard_input

if TYPE_CHECKING:  # what --help does not need is imported when a command runs
    from mercer.data import Source
    from mercer.kernels import Kernel

F = TypeVar("F", bound=Callable[..., Any])

# As in mercer.data, which --help does not import; a test compares them.
FORMATS = ("csv", "tsv", "parquet", "arrow", "npy", "npz", "svmlight", "fasta", "lines", "tu")
TYPES = ("number", "category", "date")

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for scripts.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
force_option = click.option("--force", is_flag=True, help="Overwrite the output if it exists.")
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all random draws."
)


@dataclass(frozen=True)
class SourceOptions:
    """How to read DATA."""

    format: str | None = None
    delimiter: str | None = None
    no_header: bool = False
    categorical: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    def open(self, data: str) -> "Source":
        """Open DATA; ``-`` is standard input."""
        from mercer.cli.library import open_source  # noqa: PLC0415 - not for --help

        return open_source(
            standard_input() if data == "-" else data,
            format=self.format,
            delimiter=self.delimiter,
            header=not self.no_header,
            categorical=self.categorical,
            types=dict(map(_column_type, self.types)),
        )


def _column_type(given: str) -> tuple[str, str]:
    name, _, kind = given.rpartition("=")
    if not name or kind not in TYPES:
        raise click.BadParameter(
            f"it must be COLUMN=TYPE with one of {', '.join(TYPES)}, got {given!r}.", param_hint="--type"
        )
    return name, kind


@dataclass(frozen=True)
class MachineOptions:
    """How many threads and how much memory to use."""

    threads: int | None = None
    memory: str | None = None


def gathered(argument: str, cls: type[Any], *options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command, and passes their values to it as one dataclass."""
    names = [field.name for field in fields(cls)]

    def decorate(function: F) -> F:
        @wraps(function)
        def command(*args: Any, **given: Any) -> Any:
            values = {name: given.pop(name) for name in names if name in given}
            return function(*args, **{argument: cls(**values)}, **given)

        decorated: Any = command
        decorated.__click_params__ = getattr(function, "__click_params__", [])
        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


_FORMAT_OPTIONS = (
    click.option("--format", type=click.Choice(FORMATS), help="Format of DATA; by default, its suffix decides."),
    click.option("--delimiter", help="Delimiter of csv files; a comma by default."),
    click.option("--no-header", is_flag=True, help="The csv file has no line of names; columns are x0, x1, ..."),
)
_CATEGORICAL = click.option(
    "--categorical", multiple=True, metavar="COLUMN", help="Treat a column of numbers as categories. Repeatable."
)
_TYPES = click.option(
    "--type",
    "types",
    multiple=True,
    metavar="COLUMN=TYPE",
    help="Read a column as number (what is no number is missing), category or date. Repeatable.",
)
source_options = gathered("reading", SourceOptions, _TYPES, *_FORMAT_OPTIONS)
training_source_options = gathered("reading", SourceOptions, _CATEGORICAL, _TYPES, *_FORMAT_OPTIONS)
machine_options = gathered(
    "machine",
    MachineOptions,
    click.option("--threads", type=click.IntRange(min=1), help="Threads; all cores by default."),
    click.option("--memory", help="Memory for rows and features, such as 2GiB."),
)


@dataclass(frozen=True)
class CheckpointOptions:
    """Where the state of a fit is kept, and how often."""

    checkpoint: str | None = None
    every: float | None = None


checkpoint_options = gathered(
    "states",
    CheckpointOptions,
    click.option(
        "--checkpoint",
        metavar="FOLDER",
        help="Keep the state of the fit in this folder. If the command is killed, the same command goes on from there.",
    ),
    click.option(
        "--every",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help="Time between two states that are kept; 60 by default.",
    ),
)


class KernelExpression(click.ParamType["Kernel"]):
    """A kernel such as ``Gaussian(gamma=0.5) + 0.1*Linear()``; never evaluated as code."""

    name = "expression"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Kernel":
        """Parse the expression; an error points to the column."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]
        from mercer.kernels.parse import KernelSyntaxError, parse_kernel  # noqa: PLC0415 - not for --help

        try:
            return parse_kernel(value)
        except KernelSyntaxError as error:
            first, *pointer = str(error).split("\n")
            raise Fault(f"--kernel: {first}", USAGE, pointer) from None
