"""``mercer papers``."""

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from mercer.cli.faults import INTERRUPTED, Fault, note
from mercer.cli.options import json_option
from mercer.cli.output import console, print_json

if TYPE_CHECKING:
    from mercer.bench.run import Progress, Run

_quick = click.option("--quick", is_flag=True, help="The small grids, which finish in minutes.")
_results = click.option("--results", help="Folder of the results; by default in the folder of the paper.")


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from mercer.bench import papers  # noqa: PLC0415 - not for --help

    return [CompletionItem(paper.name) for paper in papers() if paper.name.startswith(incomplete)]


_name = click.argument("name", shell_complete=_names)


@click.group()
def command() -> None:
    """Run the papers' experiments again, and judge their claims.

    Papers are folders of papers/ in a checkout, or of MERCER_PAPERS.
    """


@command.command("list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the papers and their tables and figures."""
    from mercer.bench import papers  # noqa: PLC0415 - not for --help

    found = [
        {
            "name": paper.name,
            "title": paper.title,
            "authors": paper.about["authors"],
            "year": paper.about["year"],
            "tables": [experiment.name for experiment in paper.experiments],
        }
        for paper in papers()
    ]
    if as_json:
        print_json({"papers": found})
        return
    for paper in found:
        click.echo(f"{paper['name']}: {paper['title']}, {paper['authors']} ({paper['year']})")
        click.echo(f"  {', '.join(paper['tables'])}")


@command.command()
@_name
@click.option("--table", "tables", multiple=True, help="A table or figure; all by default. Repeatable.")
@_quick
@click.option("--again", is_flag=True, help="Run again, also if results are stored.")
@_results
@json_option
def run(name: str, tables: tuple[str, ...], results: str | None, *, quick: bool, again: bool, as_json: bool) -> None:
    """Run the experiments of paper NAME that have no result yet, and write its page.

    A run that was stopped continues where it ended.
    """
    from mercer import bench  # noqa: PLC0415 - not for --help

    def show(progress: "Progress") -> None:
        outcome = progress.outcome
        what = "stored" if progress.was_stored else outcome.reason or f"{outcome.seconds:.1f} s"
        click.echo(f"{progress.done}/{progress.total} {outcome.cell}: {what}", err=True)

    try:
        done = bench.run(name, quick=quick, tables=tables or None, results=results, again=again, show=show, warn=note)
    except KeyboardInterrupt:
        kept = "interrupted; the finished cells are kept, and the same command continues with the others."
        raise Fault(kept, INTERRUPTED) from None
    for reason, cells in _without_data(done).items():
        more = f" and {len(cells) - 3} more" if len(cells) > 3 else ""
        note(f"left out, and their claims not run: {'; '.join(cells[:3])}{more}. {reason}")
    page = bench.report(name, quick=quick, results=results)
    judged = _judged(name, quick, results)
    if as_json:
        print_json({"paper": name, "quick": quick, "cells": done.counts(), "report": page, "claims": judged})
        return
    _show(judged)
    click.echo(f"page: {page}")


@command.command()
@_name
@_quick
@_results
@json_option
def verdicts(name: str, results: str | None, *, quick: bool, as_json: bool) -> None:
    """Judge the claims of paper NAME by the stored results, without running anything."""
    judged = _judged(name, quick, results)
    if as_json:
        print_json({"paper": name, "quick": quick, "claims": judged})
        return
    _show(judged)


@command.command()
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=_names)
@_quick
@_results
@click.option("--output", "-o", help="The page; by default report.html in the folder of the results.")
@json_option
def report(names: tuple[str, ...], results: str | None, output: str | None, *, quick: bool, as_json: bool) -> None:
    """Write the pages of papers (all by default) from the stored results, without running anything."""
    from mercer import bench  # noqa: PLC0415 - not for --help

    if (results or output) and len(names) != 1:
        raise click.UsageError("--results and --output need the NAME of one paper.")
    chosen = names or tuple(paper.name for paper in bench.papers())
    pages = {name: bench.report(name, quick=quick, results=results, output=output) for name in chosen}
    if as_json:
        print_json({"reports": [{"paper": name, "report": page} for name, page in pages.items()]})
        return
    for page in pages.values():
        click.echo(f"page: {page}")


def _without_data(done: "Run") -> dict[str, list[str]]:
    """Return the cells that were left out because a data set is missing, by reason."""
    found: dict[str, list[str]] = {}
    for outcome in (outcome for cells in done.outcomes.values() for outcome in cells):
        if outcome.status == "skipped" and outcome.machine:  # those left out on purpose were not tried
            found.setdefault(outcome.reason, []).append(str(outcome.cell))
    return found


def _judged(name: str, quick: bool, results: str | None) -> list[dict[str, str]]:
    from mercer import bench  # noqa: PLC0415 - not for --help

    return [
        {
            "id": judged.claim.id,
            "says": judged.claim.says,
            "published": judged.claim.published_text(),
            "ours": judged.verdict.ours,
            "verdict": str(judged.verdict.status),
            "reason": judged.verdict.reason,
        }
        for judged in bench.verdicts(name, quick=quick, results=results)
    ]


def _show(judged: list[dict[str, str]]) -> None:
    from rich.table import Table  # noqa: PLC0415 - not for --help
    from rich.text import Text  # noqa: PLC0415 - not for --help

    table = Table(box=None, pad_edge=False)
    for name in ("claim", "published", "ours", "verdict"):
        table.add_column(name, overflow="fold")
    for claim in judged:
        table.add_row(*(Text(claim[key]) for key in ("says", "published", "ours", "verdict")))
    console().print(table)
    counts = {claim["verdict"]: 0 for claim in judged}
    for claim in judged:
        counts[claim["verdict"]] += 1
    click.echo(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
