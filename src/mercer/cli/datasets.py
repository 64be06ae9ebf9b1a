"""``mercer datasets``."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from mercer.cli.faults import DATA, Fault
from mercer.cli.options import force_option, json_option
from mercer.cli.output import check_output, console, output_file, print_json

if TYPE_CHECKING:
    from mercer._typing import Array, Csr
    from mercer.datasets import Dataset, DatasetInfo, Graph

_ROWS = 16384


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from mercer.datasets import catalogue  # noqa: PLC0415 - not for --help

    return [CompletionItem(name) for name in catalogue() if name.startswith(incomplete)]


_name = click.argument("name", shell_complete=_names)


@click.group()
def command() -> None:
    """List, describe and export the data sets that mercer knows.

    mercer looks for a data set in the folder MERCER_DATA, in the cache (MERCER_CACHE), and at OpenML.
    """


@command.command("list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the data sets, and which of them are on this machine."""
    from mercer.datasets import catalogue, find  # noqa: PLC0415 - not for --help

    infos = list(catalogue().values())
    if as_json:
        print_json({"datasets": [_facts(info, find(info)) for info in infos]})
        return
    from rich.table import Table  # noqa: PLC0415 - not for --help

    table = Table(box=None, pad_edge=False)
    for name in ("name", "task", "train", "test", "columns", "here", "title"):
        table.add_column(name, justify="right" if name in ("train", "test", "columns") else "left", no_wrap=True)
    for info in infos:
        counts = (f"{n:,}" if n else "" for n in (info.n_train, info.n_test, info.n_features))
        table.add_row(info.name, info.task, *counts, "yes" if find(info) else "", info.title)
    console().print(table)


@command.command()
@_name
@json_option
def show(name: str, *, as_json: bool) -> None:
    """Describe the data set NAME: source, licence, recipe, checksum."""
    from mercer.datasets import find  # noqa: PLC0415 - not for --help

    info = _info(name)
    facts = _facts(info, find(info))
    if as_json:
        print_json(facts)
        return
    for key, value in facts.items():
        if value not in (None, "", (), {}):
            click.echo(f"{key.replace('_', ' '):>12}: {value}")


@command.command()
@_name
@click.option("--output", "-o", required=True, help="A .csv, .parquet, .arrow, .jsonl or .npy file; - for csv.")
@click.option("--part", type=click.Choice(["train", "test", "all"]), default="all", show_default=True)
@click.option("--no-download", is_flag=True, help="Never use the network.")
@force_option
@json_option
def export(name: str, output: str, part: str, *, no_download: bool, force: bool, as_json: bool) -> None:
    """Write the rows of the data set NAME as a table, its target as the column y."""
    check_output(output, force=force)
    from mercer.data.writers import format_of, row_writer  # noqa: PLC0415 - not for --help
    from mercer.datasets import load  # noqa: PLC0415 - not for --help

    kind = format_of(output)
    data = load(_info(name).name, download=not no_download)
    X, y = _part(data, part)
    if isinstance(X, list):
        raise Fault(f"data set {name!r} holds texts or graphs, which are not a table. Load it in Python.", DATA)
    names = [*(f"x{j}" for j in range(X.shape[1])), "y"]
    with output_file(output, force=force) as file:
        writer = row_writer(kind, names, file)
        for start in range(0, len(y), _ROWS):
            rows = X[start : start + _ROWS]
            dense = rows.toarray() if hasattr(rows, "toarray") else rows
            writer.write([*dense.T, y[start : start + _ROWS]])
        writer.close()
    if output == "-":
        return
    if as_json:
        print_json({"dataset": data.info.name, "output": output, "rows": len(y), "columns": len(names)})
    else:
        click.echo(f"{len(y):,} rows of {data.info.name}, written to {output}")


def _part(data: "Dataset", part: str) -> "tuple[Array | Csr | list[str] | list[Graph], Array]":
    if part == "test":
        if data.y_test is None:
            raise Fault(f"data set {data.info.name!r} has no test part of its own.", DATA)
        return data.X_test, data.y_test
    whole = data.joined() if part == "all" else data
    return whole.X, whole.y


def _info(name: str) -> "DatasetInfo":
    from mercer.datasets import catalogue  # noqa: PLC0415 - not for --help

    try:
        return catalogue()[name]
    except KeyError as error:
        raise Fault(str(error.args[0]), DATA) from None


def _facts(info: "DatasetInfo", path: Path | None) -> dict[str, object]:
    return asdict(info) | {"path": None if path is None else str(path)}
