"""One offline HTML page a paper: our figures beside the paper's claims, and a verdict on each."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from mercer.bench.claims import Judged, Status, judge_all, load_claims
from mercer.bench.errors import BenchError
from mercer.bench.metrics import metric, sample
from mercer.bench.run import Run, stored
from mercer.bench.spec import Params, in_words, includes
from mercer.bench.store import Outcome, write_text

if TYPE_CHECKING:
    from mercer.bench.figures import Drawn

_TEMPLATE = Path(__file__).parent / "template"
_RAISED = str.maketrans("-0123456789dp", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᵈᵖ")
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
class Section:
    """What the page shows of one experiment."""

    name: str
    title: str
    about: str
    figures: "tuple[Drawn, ...]"
    tables: tuple[Table, ...]
    claims: tuple[Judged, ...]
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
        import jinja2  # noqa: PLC0415
        import matplotlib  # noqa: F401, PLC0415

        from mercer.bench import figures  # noqa: PLC0415
    except ImportError as missing:
        raise BenchError(f"the page needs {missing.name}: pip install 'mercer[bench]'.") from None

    paper = outcomes.paper
    judged = judge_all(load_claims(paper), outcomes.outcomes, quick=outcomes.quick)
    sections = [_section(outcomes, experiment.name, judged) for experiment in paper.experiments]
    in_sections = {entry.claim.id for section in sections for entry in section.claims}
    style = (_TEMPLATE / "style.css").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: typeset(value) if type(value) is str else value,  # on purpose not its safe subclass
    )
    environment.globals.update(swatch=figures.swatch, symbols=_SYMBOLS)
    return environment.get_template("paper.html").render(
        paper=paper,
        quick=outcomes.quick,
        sections=[section for section in sections if _shown(section)],
        others=[entry for entry in judged if entry.claim.id not in in_sections],
        tally=_tally(judged),
        total=len(judged),
        machines=_machines(outcomes.outcomes),
        load=_load(outcomes.outcomes),
        counts=outcomes.counts(),
        style=style,
        policy=policy(style),
    )


def policy(style: str) -> str:
    """Return the page's content security policy: nothing but the one style sheet that it carries."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def typeset(text: str) -> str:
    """Return text with inner products in angle brackets, powers raised (numbers, p and d), and sigma as the letter.

    >>> typeset("(1+<x,y>)^10")
    '(1+⟨x,y⟩)¹⁰'
    >>> typeset("|x|^2p in R^d")
    '|x|²ᵖ in Rᵈ'
    """
    text = text.replace("<x,y>", "\N{MATHEMATICAL LEFT ANGLE BRACKET}x,y\N{MATHEMATICAL RIGHT ANGLE BRACKET}")
    text = re.sub(r"\bsigma\b", "\N{GREEK SMALL LETTER SIGMA}", text)
    return re.sub(r"(?<=[\w)\u27e9|])\^(-?[\ddp]+)(?!\w)", lambda power: power[1].translate(_RAISED), text)


def _shown(section: Section) -> bool:
    return bool(section.claims or section.figures or section.tables)


def _section(outcomes: Run, name: str, judged: Sequence[Judged]) -> Section:
    from mercer.bench.figures import draw  # noqa: PLC0415

    experiment, cells = outcomes.paper.experiment(name), outcomes.outcomes.get(name, [])
    drawn = [draw(spec, cells, f"{name}-{i}") for i, spec in enumerate(experiment.figures)]
    tables = [_table(spec, cells) for spec in experiment.tables]
    return Section(
        name,
        experiment.title,
        experiment.about,
        tuple(figure for figure in drawn if figure),
        tuple(table for table in tables if table.rows),
        tuple(entry for entry in judged if entry.claim.experiment == name),
        tuple(outcome for outcome in cells if outcome.status == "failed"),
    )


def _table(spec: Params, outcomes: Sequence[Outcome]) -> Table:
    """Lay cells out: ``rows`` and ``columns`` name parameters, ``metrics`` what each entry shows."""
    done = [outcome for outcome in outcomes if outcome.status == "done"]
    rows = list(dict.fromkeys(tuple(outcome.cell.params.get(name) for name in spec["rows"]) for outcome in done))
    columns = list(dict.fromkeys(outcome.cell.params.get(spec["columns"]) for outcome in done))
    metrics = spec["metrics"]
    body = []
    for row in rows:
        at = dict(zip(spec["rows"], row, strict=True))
        entries = [
            _entry(done, {**at, spec["columns"]: column}, in_words(spec["columns"], column), metrics)
            for column in columns
        ]
        body.append((", ".join(in_words(name, value) for name, value in at.items()), tuple(entries)))
    head = (", ".join(str(name) for name in spec["rows"]), *(in_words(spec["columns"], column) for column in columns))
    return Table(str(spec.get("caption", "")), head, tuple(body))


def _entry(outcomes: Sequence[Outcome], where: Params, column: str, metrics: Sequence[str]) -> Entry:
    if not any(includes(outcome.cell.params, where) for outcome in outcomes):
        return Entry(column, ())
    found = [(metric(name).short or metric(name).label, sample(outcomes, name, where)) for name in metrics]
    return Entry(column, tuple((label, str(value)) for label, value in found if value is not None))


def _tally(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    counts = {status: sum(entry.verdict.status is status for entry in judged) for status in Status}
    total = max(len(judged), 1)
    start, shares = 0.0, []
    for status, count in counts.items():
        width = 100 * count / total
        shares.append({"status": status, "count": count, "start": round(start, 3), "width": round(width, 3)})
        start += width
    return shares


def _machines(outcomes: Mapping[str, Sequence[Outcome]]) -> list[dict[str, str]]:
    """Return the distinct machines of the results."""
    found = {tuple(o.machine.items()): o.machine for cells in outcomes.values() for o in cells if o.machine}
    return list(found.values())


def _load(outcomes: Mapping[str, Sequence[Outcome]]) -> str:
    """Return in words how busy other programs kept the machine; nothing where that is not known."""
    busy = [o.others for cells in outcomes.values() for o in cells if o.status == "done" and o.others is not None]
    if not busy:
        return ""
    return (
        f"While these cells ran, other programs kept {median(busy):.1f} cores busy (median; {max(busy):.1f} at most)."
    )
