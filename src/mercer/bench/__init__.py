"""Reproductions of papers: what was published, what we measured, and a verdict on every claim.

A paper is a folder of ``papers/``: ``experiment.toml`` (grids of cells), ``experiments.py`` (one function per kind of
cell), ``claims.toml`` (published numbers). ``run`` fills the store of raw results; a run that was interrupted
continues. ``judge`` compares the results with the claims; ``report`` writes one offline HTML page.
"""

from mercer.bench.claims import Claim, Judged, Status, Verdict
from mercer.bench.errors import BenchError, MissingDataError
from mercer.bench.report import report, verdicts
from mercer.bench.run import Progress, Run, run, stored
from mercer.bench.spec import Experiment, Paper, find_paper, papers
from mercer.bench.store import Outcome

__all__ = [
    "BenchError",
    "Claim",
    "Experiment",
    "Judged",
    "MissingDataError",
    "Outcome",
    "Paper",
    "Progress",
    "Run",
    "Status",
    "Verdict",
    "find_paper",
    "papers",
    "report",
    "run",
    "stored",
    "verdicts",
]
