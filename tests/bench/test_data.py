"""The papers' data by way of the registry: what is missing is said once, with its source."""

import numpy as np
import pytest

from mercer.bench import MissingDataError
from mercer.bench import data as bench_data
from mercer.datasets import Dataset, DatasetError, catalogue


@pytest.fixture(autouse=True)
def _forget():
    bench_data._loaded.cache_clear()
    yield
    bench_data._loaded.cache_clear()


def test_a_missing_set_says_where_it_can_be_had_and_is_asked_for_once(monkeypatch):
    asked = []

    def away(name):
        asked.append(name)
        raise DatasetError(f"data set {name!r} could not be had.")

    monkeypatch.setattr(bench_data, "load_dataset", away)
    for _ in range(2):
        with pytest.raises(MissingDataError, match=r"'gisette' could not be had\. Its source: NIPS 2003"):
            bench_data.load("gisette")
    assert asked == ["gisette"]


def test_a_set_comes_prepared_as_the_paper_says(monkeypatch):
    rng = np.random.RandomState(0)
    rows = Dataset(
        catalogue()["a9a"], rng.randint(0, 2, (60, 5)) + 0.1, np.arange(60) % 2, rng.rand(20, 5), np.ones(20)
    )
    monkeypatch.setattr(bench_data, "load_dataset", lambda name: rows)
    joined = bench_data.prepared("pham_pagh_2013", "a9a")
    assert joined.X.shape == (80, 5)
    np.testing.assert_allclose(np.linalg.norm(joined.X, axis=1), 1, rtol=1e-6)
