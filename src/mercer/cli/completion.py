"""``mercer completion``."""

import click
from click.shell_completion import get_completion_class

from mercer.cli.faults import Fault

_WHERE = {
    "bash": 'eval "$(mercer completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(mercer completion zsh)" in ~/.zshrc',
    "fish": "mercer completion fish > ~/.config/fish/completions/mercer.fish",
}


@click.command(epilog="To have it always: " + "; ".join(_WHERE.values()) + ".")
@click.argument("shell", type=click.Choice(list(_WHERE)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell."""
    kind = get_completion_class(shell)
    if kind is None:
        raise Fault(f"click knows no completion for {shell}.")
    click.echo(kind(ctx.find_root().command, {}, "mercer", "_MERCER_COMPLETE").source())
