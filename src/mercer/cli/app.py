"""The group of sub-commands."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from mercer.cli.faults import EXIT_CODES, ClosedPipe, Interrupted, guarded

_COMMANDS = (
    "compare",
    "train",
    "predict",
    "transform",
    "export",
    "inspect",
    "info",
    "datasets",
    "papers",
    "bench",
    "completion",
)


class Commands(click.Group):
    """The sub-commands, imported by name; every failure becomes one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a sub-command."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"mercer.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the sub-command, or name the nearest."""
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches  # noqa: PLC0415 - only here

            close = get_close_matches(args[0], _COMMANDS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else f" They are {', '.join(_COMMANDS)}."
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run a sub-command. Without this, click would report a closed pipe and Ctrl-C in its own way."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ClosedPipe from error
        except KeyboardInterrupt as error:
            raise Interrupted from error

    def main(
        self, args: Sequence[str] | None = None, prog_name: str | None = None, *others: Any, **extra: Any
    ) -> NoReturn:
        """Run, and end the process with an exit code."""
        extra.pop("standalone_mode", None)
        guarded(lambda given: super(Commands, self).main(given, prog_name, standalone_mode=False, **extra), args)


@click.group(cls=Commands, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mercer", prog_name="mercer")
def app() -> None:
    """Kernel machines at linear cost.

    Begin with: mercer compare
    """
