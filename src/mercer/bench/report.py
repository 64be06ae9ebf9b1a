"""One offline HTML page per paper: our figures next to the paper's claims, and a verdict on each."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from mercer.bench import page
from mercer.bench.claims import Claim, Judged, Status, judge_all, load_claims
from mercer.bench.errors import BenchError
from mercer.bench.metrics import METRICS, metric, sample
from mercer.bench.run import Run, stored
from mercer.bench.spec import Experiment, Params, in_words, includes
from mercer.bench.store import Outcome, write_text

if TYPE_CHECKING:
    from mercer.bench.figures import Drawn

Draw = Callable[[Params, Sequence[Outcome], str], "Drawn | None"]

_SYMBOLS = {Status.REPRODUCED: "✓", Status.BETTER: "▲", Status.NOT_REPRODUCED: "✕", Status.NOT_RUN: "\N{EN DASH}"}


@dataclass(frozen=True)
class Entry:
    """One entry of a table: a metric and its text, by label."""

    column: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """A table of results: the head, and rows of a label and entries."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Entry, ...]], ...]


@dataclass(frozen=True)
class Group:
    """Claims that are shown together, such as those of one table; those that were reproduced are folded."""

    id: str
    title: str
    claims: tuple[Judged, ...]

    @property
    def missed(self) -> tuple[Judged, ...]:
        """The claims that were not reproduced."""
        return tuple(entry for entry in self.claims if entry.verdict.status is Status.NOT_REPRODUCED)

    @property
    def others(self) -> tuple[Judged, ...]:
        """All other claims."""
        return tuple(entry for entry in self.claims if entry.verdict.status is not Status.NOT_REPRODUCED)

    @property
    def end(self) -> str:
        """The words that most of the claims end with (": accuracy on test rows."), to be printed once."""
        ends = Counter(entry.claim.says.rpartition(": ")[2] for entry in self.claims if ": " in entry.claim.says)
        end, times = max(ends.items(), key=itemgetter(1), default=("", 0))
        return end if times > 1 and 2 * times > len(self.claims) else ""

    def short(self, says: str) -> str:
        """Return the words of a claim without the shared end."""
        return says.removesuffix(f": {self.end}")

    def shared(self, name: str) -> str:
        """Return the value of a field if it is the same in all claims, to be printed once; nothing if values differ."""
        said = {getattr(entry.claim, name) for entry in self.claims}
        return said.pop() if len(self.claims) > 1 and len(said) == 1 else ""


@dataclass(frozen=True)
class Section:
    """What the page shows of one experiment."""

    name: str
    title: str
    about: str
    figures: "tuple[tuple[Drawn, Table], ...]"
    tables: tuple[Table, ...]
    groups: tuple[Group, ...]
    failed: tuple[Outcome, ...]


def verdicts(name: str, *, quick: bool = False, results: Path | str | None = None) -> list[Judged]:
    """Return every claim of a paper with the verdict on what is stored."""
    outcomes = stored(name, quick=quick, results=results)
    return judge_all(load_claims(outcomes.paper), outcomes.outcomes, quick=quick)


def report(
    name: str, *, quick: bool = False, results: Path | str | None = None, output: Path | str | None = None
) -> Path:
    """Write the page of a paper from its stored results and return its path.

    Parameters
    ----------
    name : str
        The paper's folder in ``papers/``.
    quick : bool, default=False
        Show the quick run's results.
    results : path, optional
        Where the results are kept, as for ``run``.
    output : path, optional
        The page; ``report.html`` in the folder of the results by default.

    Returns
    -------
    Path
    """
    outcomes = stored(name, quick=quick, results=results)
    folder = outcomes.paper.results(quick=quick) if results is None else Path(results)
    path = folder / "report.html" if output is None else Path(output)
    write_text(path, render(outcomes))
    return path


def render(outcomes: Run) -> str:
    """Return the page as text."""
    try:
        import jinja2  # noqa: F401, PLC0415 - optional

        from mercer.bench.figures import draw  # noqa: PLC0415 - needs matplotlib
    except ImportError as missing:
        raise BenchError(f"the page needs {missing.name}: pip install 'mercer[bench]'.") from None

    paper = outcomes.paper
    judged = judge_all(load_claims(paper), outcomes.outcomes, quick=outcomes.quick)
    of = {name: _groups(name, judged) for name in (*(experiment.name for experiment in paper.experiments), "")}
    sections = [_section(outcomes, experiment, of[experiment.name], draw) for experiment in paper.experiments]
    return page.render(
        "paper.html",
        paper=paper,
        quick=outcomes.quick,
        sections=[section for section in sections if section.groups or section.figures or section.tables],
        others=of[""],
        missed=[group for groups in of.values() for group in groups if group.missed],
        tally=_tally(judged),
        count=_count,
        symbols=_SYMBOLS,
        total=len(judged),
        machines=_machines(outcomes.outcomes),
        load=_load(outcomes.outcomes),
        counts=outcomes.counts(),
    )


def _groups(experiment: str, judged: Sequence[Judged]) -> tuple[Group, ...]:
    """Group the claims of an experiment by source and metric; claims without an experiment are one group."""
    found: dict[str, list[Judged]] = {}
    for entry in judged:
        if entry.claim.experiment == experiment:
            found.setdefault(_title(entry.claim), []).append(entry)
    name = experiment or "others"
    return tuple(Group(f"{name}-claims-{i}", title, tuple(claims)) for i, (title, claims) in enumerate(found.items()))


def _title(claim: Claim) -> str:
    if not claim.experiment:
        return "Claims of no table or figure"
    if claim.metric not in METRICS or claim.kind not in ("value", "ratio"):
        return claim.source
    return f"{claim.source}: {'ratios, ' if claim.kind == 'ratio' else ''}{claim.measured.label}"


def _section(outcomes: Run, experiment: Experiment, groups: tuple[Group, ...], draw: Draw) -> Section:
    name, cells = experiment.name, outcomes.outcomes.get(experiment.name, [])
    drawn = [draw(spec, cells, f"{name}-{i}") for i, spec in enumerate(experiment.figures)]
    tables = [_table(spec, cells) for spec in experiment.tables]
    return Section(
        name,
        experiment.title,
        experiment.about,
        tuple((figure, _behind(figure)) for figure in drawn if figure),
        tuple(table for table in tables if table.rows),
        groups,
        tuple(outcome for outcome in cells if outcome.status == "failed"),
    )


def _behind(figure: "Drawn") -> Table:
    """Return the numbers that a figure draws: one row per line, one column per point."""
    lines = [(panel.title, line) for panel in figure.panels for line in panel.lines]
    columns = sorted({x for _, line in lines for x, _ in line.points})
    rows = []
    for title, line in lines:
        at = dict(line.points)
        entries = [Entry(f"{x:g}", ((figure.y_label, str(at[x])),) if x in at else ()) for x in columns]
        rows.append((", ".join(filter(None, (title, line.label))) or figure.y_label, tuple(entries)))
    caption = f"{figure.y_label} against {figure.x_label}"
    return Table(caption, (figure.x_label, *(f"{x:g}" for x in columns)), tuple(rows))


def _table(spec: Params, outcomes: Sequence[Outcome]) -> Table:
    """Lay cells out: ``rows`` and ``columns`` name parameters, ``metrics`` what each entry shows.

    If ``columns`` is one of the parameters of the rows, there is one column per metric.
    """
    done = [outcome for outcome in outcomes if outcome.status == "done"]
    names, across, metrics = spec["rows"], spec["columns"], spec["metrics"]
    columns: list[tuple[Params, str, Sequence[str]]] = [({}, metric(name).label, [name]) for name in metrics]
    if across not in names:
        values = dict.fromkeys(outcome.cell.params.get(across) for outcome in done)
        columns = [({across: value}, in_words(across, value), metrics) for value in values]
    body = []
    for row in dict.fromkeys(tuple(outcome.cell.params.get(name) for name in names) for outcome in done):
        at = dict(zip(names, row, strict=True))
        entries = (_entry(done, {**at, **where}, title, shown) for where, title, shown in columns)
        body.append((", ".join(in_words(name, value) for name, value in at.items()), tuple(entries)))
    head = (", ".join(str(name) for name in names), *(title for _, title, _ in columns))
    return Table(str(spec.get("caption", "All that was measured")), head, tuple(body))


def _entry(outcomes: Sequence[Outcome], where: Params, column: str, metrics: Sequence[str]) -> Entry:
    if not any(includes(outcome.cell.params, where) for outcome in outcomes):
        return Entry(column, ())
    found = [(metric(name).short or metric(name).label, sample(outcomes, name, where)) for name in metrics]
    return Entry(column, tuple((label, str(value)) for label, value in found if value is not None))


def _count(judged: Sequence[Judged]) -> dict[Status, int]:
    """Return how many claims have each status; a status without claims is left out."""
    counts = {status: sum(entry.verdict.status is status for entry in judged) for status in Status}
    return {status: number for status, number in counts.items() if number}


def _tally(judged: Sequence[Judged]) -> list[dict[str, object]]:
    counts, total = _count(judged), max(len(judged), 1)
    start, shares = 0.0, list[dict[str, object]]()
    for status in Status:
        width = 100 * counts.get(status, 0) / total
        share: dict[str, object] = {
            "status": status,
            "count": counts.get(status, 0),
            "start": round(start, 3),
            "width": round(width, 3),
        }
        shares.append(share)
        start += width
    return shares


def _machines(outcomes: Mapping[str, Sequence[Outcome]]) -> list[dict[str, str]]:
    """Return the distinct machines of the results."""
    found = {tuple(o.machine.items()): o.machine for cells in outcomes.values() for o in cells if o.machine}
    return list(found.values())


def _load(outcomes: Mapping[str, Sequence[Outcome]]) -> str:
    """Return in words how busy other programs kept the machine; nothing if that is not known."""
    busy = [o.others for cells in outcomes.values() for o in cells if o.status == "done" and o.others is not None]
    if not busy:
        return ""
    return (
        f"While these cells ran, other programs kept {median(busy):.1f} cores busy (median; {max(busy):.1f} at most)."
    )
