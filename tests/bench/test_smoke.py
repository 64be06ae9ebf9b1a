"""Every paper's own functions on small rows: the path of ``mercer papers run NAME --quick`` in seconds, without data.

The registry's sets are replaced by small drawn ones of their shapes, and grids and settings by their least.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mercer.bench import data as bench_data
from mercer.bench.spec import load_paper
from mercer.bench.store import not_finite, plain
from mercer.datasets import Dataset, catalogue

FOLDERS = sorted(path.parent for path in (Path(__file__).parents[2] / "papers").glob("*/experiment.toml"))
MOST = {"runs": 1, "points": 40, "rows": 300, "draws": 60, "draws_of_tails": 60, "passes": 5, "largest": 200, "c": 40}
LEAST = {
    "rows": [250, 500],
    "n": [200, 400],
    "D": [32, 64],
    "sizes": [60, 120],
    "columns": [30, 60],
    "dimensions": [4, 8],
}


def small(name, value):
    """Return a setting cut down: numbers to what is enough, lists of sizes to two."""
    if isinstance(value, dict):
        return {key: small(name, entry) for key, entry in value.items()}
    if isinstance(value, list):
        return LEAST.get(name, value) if all(isinstance(entry, int) for entry in value) else value
    return min(value, MOST.get(name, 500)) if isinstance(value, int) else value


def drawn(name):
    """Return 400 rows of classes that can be told apart, with the columns of the real set (64 at most)."""
    info = catalogue()[name]
    info = replace(info, n_train=400, n_test=100 if info.n_test else 0)
    rng = np.random.RandomState(0)
    classes = np.arange(max(2, len(info.counts.get("train", [0, 0]))))
    y = np.resize(classes, 400)
    width = min(info.n_features, 64)
    X = rng.rand(400, width) + rng.rand(len(classes), width)[y]
    test = (X[::4], y[::4]) if info.n_test else (None, None)
    return Dataset(info, X.astype(np.float32), y, *test)


@pytest.fixture(autouse=True)
def _small_data(monkeypatch):
    bench_data._loaded.cache_clear()
    monkeypatch.setattr(bench_data, "load_dataset", drawn)
    yield
    bench_data._loaded.cache_clear()


def cells(folder):
    """Yield each experiment with cells enough to meet every name in its grid."""
    paper = load_paper(folder)
    for experiment in paper.experiments:
        possible = [cell for cell in experiment.cells(quick=True) if not experiment.why_skipped(cell, quick=True)]
        first = {item: cell for cell in reversed(possible) for item in cell.params.items() if isinstance(item[1], str)}
        yield paper, experiment, list({id(cell): cell for cell in first.values()}.values()) or possible[:1]


@pytest.mark.filterwarnings("ignore::UserWarning")  # so few rows have fewer than a map's features
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_experiment_runs_on_small_rows(folder):
    for paper, experiment, some in cells(folder):
        for cell in some:
            settings = {name: small(name, value) for name, value in {**cell.settings, **cell.params}.items()}
            values = plain(paper.function(experiment.function)(settings))
            assert values, cell
            assert not not_finite(values), cell
