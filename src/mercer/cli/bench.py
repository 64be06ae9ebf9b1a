"""``mercer bench``."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from mercer.cli.faults import USAGE, Fault
from mercer.cli.options import json_option
from mercer.cli.output import print_json


def _checkout() -> Path:
    """Return the checkout around us: benchmarks are not part of the installed package."""
    for start in (Path.cwd(), Path(__file__).resolve()):
        for folder in (start, *start.parents):
            if (folder / "benchmarks" / "measure.py").is_file():
                return folder
    raise Fault(
        "no benchmarks found: they are not part of the installed package. Work in a checkout of mercer's repository."
    )


def _tables() -> list[str]:
    """Return the names that ``python -m benchmarks`` knows, without running it."""
    source = (_checkout() / "benchmarks" / "__main__.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "TABLES":
            return [str(name) for name in ast.literal_eval(node.value)]
    raise Fault("benchmarks/__main__.py lists no TABLES.")


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in _tables() if name.startswith(incomplete)]


@click.group()
def command() -> None:
    """Measure speed against other libraries, in a checkout."""


@command.command("list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the tables."""
    names = _tables()
    if as_json:
        print_json({"tables": names})
        return
    click.echo("\n".join(names))


@command.command()
@click.argument("table", shell_complete=_names)
@json_option
def run(table: str, *, as_json: bool) -> None:
    """Measure a TABLE: every ratio in one run, every answer checked before it is timed."""
    if table not in _tables():
        raise Fault(f"there is no table {table!r}; the tables are {', '.join(_tables())}.", USAGE)
    folder = _checkout()
    work = [sys.executable, "-m", "benchmarks", table]
    ended = subprocess.run(work, cwd=folder, check=False, stdout=sys.stderr if as_json else None)  # noqa: S603
    if ended.returncode:
        raise Fault(f"the table {table} failed with exit code {ended.returncode}.")
    if as_json:
        print_json(json.loads((folder / "benchmarks" / "results" / f"{table}.json").read_text(encoding="utf-8")))
