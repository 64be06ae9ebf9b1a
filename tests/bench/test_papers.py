"""The papers of this repository: every file reads, every claim can be judged, every experiment has its function."""

from pathlib import Path

import pytest

from mercer import bench
from mercer.bench.claims import load_claims
from mercer.bench.spec import load_paper

FOLDERS = sorted(path.parent for path in (Path(__file__).parents[2] / "papers").glob("*/experiment.toml"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_paper_can_be_run_and_judged(folder):
    paper = load_paper(folder)
    assert (folder / "README.md").is_file()
    for experiment in paper.experiments:
        assert callable(paper.function(experiment.function))
        cells = experiment.cells(quick=True)
        assert cells
        assert all(
            any(name in cell.params for cell in cells) for figure in experiment.figures for name in [figure["x"]]
        )
    claims = load_claims(paper)
    assert claims
    for claim in claims:
        if not claim.not_run:
            _check_parameters(paper, claim)


def _check_parameters(paper, claim):
    """A misspelt parameter would select nothing and be judged "not run" for ever."""
    for name, sides in (
        (claim.experiment, (claim.of, claim.left)),
        (claim.against or claim.experiment, (claim.to, claim.right)),
    ):
        cells = [cell.params for quick in (True, False) for cell in paper.experiment(name).cells(quick=quick)]
        for side in sides:
            wanted = {**claim.where, **side} if name == claim.experiment else side
            for parameter, value in wanted.items():
                values = value if isinstance(value, list) else [value]
                known = {str(params[parameter]) for params in cells if parameter in params}
                assert set(map(str, values)) <= known, (claim.id, parameter, values)
    for parameter, values in claim.over.items():
        cells = [
            cell.params for quick in (True, False) for cell in paper.experiment(claim.experiment).cells(quick=quick)
        ]
        assert set(map(str, values)) <= {str(params.get(parameter)) for params in cells}, (claim.id, parameter)


def test_the_stored_full_results_are_intact():
    for folder in FOLDERS:
        store_files = list((folder / "results" / "full").rglob("*.json"))
        outcomes = bench.stored(folder.name, quick=False)
        assert sum(outcomes.counts()[status] for status in ("done", "failed", "skipped")) >= len(store_files)
