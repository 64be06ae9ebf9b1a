"""Run a paper's cells; stored cells are skipped, so that an interrupted run continues."""

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from mercer.bench.environment import Busy, machine
from mercer.bench.errors import BenchError, MissingDataError
from mercer.bench.spec import Cell, Experiment, Paper, find_paper
from mercer.bench.store import Outcome, Store, not_finite, plain


@dataclass(frozen=True)
class Progress:
    """One finished cell: its outcome, and how far the run is."""

    done: int
    total: int
    outcome: Outcome
    was_stored: bool


@dataclass(frozen=True)
class Run:
    """A paper's outcomes, by experiment, as stored."""

    paper: Paper
    quick: bool
    outcomes: dict[str, list[Outcome]]

    def counts(self) -> dict[str, int]:
        """Return how many cells are done, skipped, failed and missing."""
        statuses = [outcome.status for outcomes in self.outcomes.values() for outcome in outcomes]
        return {status: statuses.count(status) for status in ("done", "skipped", "failed", "missing")}


def run(
    name: str,
    *,
    quick: bool = False,
    tables: Iterable[str] | None = None,
    results: Path | str | None = None,
    again: bool = False,
    show: Callable[[Progress], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Run:
    """Run the cells of a paper that have no stored result yet.

    Parameters
    ----------
    name : str
        The paper's folder in ``papers/``.
    quick : bool, default=False
        The small grid, which finishes in minutes.
    tables : iterable of str, optional
        Names of experiments; all of them by default.
    results : path, optional
        Where results are kept; ``papers/<name>/results/quick`` or ``full`` by default.
    again : bool, default=False
        Run finished cells again.
    show : callable, optional
        Called with a ``Progress`` after every cell.
    warn : callable, optional
        Called with a sentence for every result file that had to be set aside; a warning by default.

    Returns
    -------
    Run
        The outcomes of the experiments that were asked for.
    """
    paper = find_paper(name)
    chosen = _chosen(paper, tables)
    store = open_store(paper, quick=quick, results=results, warn=warn)
    work = [(experiment, cell) for experiment in chosen for cell in experiment.cells(quick=quick)]
    outcomes: dict[str, list[Outcome]] = {experiment.name: [] for experiment in chosen}
    for done, (experiment, cell) in enumerate(work, start=1):
        outcome = _read(store, experiment, cell, quick=quick)
        # Try cells with missing data or a fault again, but not cells that are done or left out on purpose.
        to_run = (again or outcome.status != "done") and not experiment.why_skipped(cell, quick=quick)
        if to_run:
            outcome = _run_cell(paper, experiment, cell)
            store.write(outcome)
        outcomes[experiment.name].append(outcome)
        if show:
            show(Progress(done, len(work), outcome, not to_run))
    return Run(paper, quick, outcomes)


def stored(name: str, *, quick: bool = False, results: Path | str | None = None) -> Run:
    """Return the stored outcomes of a paper; nothing is run."""
    paper = find_paper(name)
    store = open_store(paper, quick=quick, results=results)
    outcomes = {
        experiment.name: [_read(store, experiment, cell, quick=quick) for cell in experiment.cells(quick=quick)]
        for experiment in paper.experiments
    }
    return Run(paper, quick, outcomes)


def open_store(
    paper: Paper, *, quick: bool, results: Path | str | None, warn: Callable[[str], None] | None = None
) -> Store:
    """Return the store of a paper's results; a damaged file is a warning unless ``warn`` is given."""
    folder = paper.results(quick=quick) if results is None else Path(results)
    return Store(folder, warn or (lambda message: warnings.warn(message, stacklevel=2)))


def _read(store: Store, experiment: Experiment, cell: Cell, *, quick: bool) -> Outcome:
    because = experiment.why_skipped(cell, quick=quick)
    if because:
        return Outcome(cell, "skipped", reason=because)
    outcome = store.read(cell)
    if outcome.status == "missing" and experiment.takes and not quick:
        return replace(outcome, reason=f"{outcome.reason}: {experiment.takes}")
    return outcome


def _chosen(paper: Paper, tables: Iterable[str] | None) -> list[Experiment]:
    if isinstance(tables, str):
        raise BenchError(f"tables must be a list of names, got {tables!r}. Write [{tables!r}].")
    names = None if tables is None else list(tables)
    return list(paper.experiments) if not names else [paper.experiment(table) for table in dict.fromkeys(names)]


def _run_cell(paper: Paper, experiment: Experiment, cell: Cell) -> Outcome:
    work = paper.function(experiment.function)
    start, busy = time.perf_counter(), Busy()
    try:
        values = {name: plain(value) for name, value in work({**cell.settings, **cell.params}).items()}
    except MissingDataError as missing:
        return Outcome(cell, "skipped", reason=str(missing), machine=machine())
    except Exception as fault:  # one cell's fault must not end a run of hours
        return Outcome(cell, "failed", reason=f"{type(fault).__name__}: {fault}", machine=machine())
    seconds = time.perf_counter() - start
    wrong = not_finite(values)
    if wrong:
        return Outcome(cell, "failed", reason=f"NaN or infinity in {', '.join(wrong)}", machine=machine())
    return Outcome(cell, "done", values, seconds=seconds, machine=machine(), others=busy.others())
