"""Data sets that are not plain arrays, and splits."""

import os

import numpy as np
import pytest
from scipy import sparse

from mercer.datasets import Graph, catalogue, load
from mercer.datasets.dataset import from_arrays

DATA = os.environ.get("MERCER_DATA")


needs_data = pytest.mark.skipif(not DATA, reason="MERCER_DATA names no folder of real data sets")


@needs_data
def test_sets_that_are_not_plain_arrays():
    mutag = load("mutag")
    assert isinstance(mutag.X[0], Graph)
    assert np.mean([len(graph.nodes) for graph in mutag.X]) == pytest.approx(17.93, abs=0.005)
    assert np.mean([len(graph.edges) / 2 for graph in mutag.X]) == pytest.approx(19.79, abs=0.005)
    assert all(graph.edges.max() < len(graph.nodes) for graph in mutag.X)
    reuters = load("reuters")
    assert sparse.issparse(reuters.X)
    np.testing.assert_allclose(sparse.linalg.norm(reuters.X[:50], axis=1), 1, rtol=1e-5)
    assert len(load("newsgroups20").X_test) == 7532
    assert {len(row) for row in load("splice").X} == {60}
    assert load("adult").joined().X.shape == (48842, 123)


def test_flights_become_columns_of_the_calendar():
    minute = np.array([0, 31 * 1440 + 90], dtype=np.int32)  # Monday 1 January 2001, and Thursday 1 February, 1:30
    ends = {"origin": np.array([0, 1]), "dest": np.array([1, 0])}
    places = {"lat": np.array([10.0, 20.0]), "lon": np.array([-1.0, -2.0])}
    arrays = {"minute": minute, "distance": np.array([5, 6]), "delay": np.array([7, -8]), **ends, **places}
    data = from_arrays(catalogue()["flights"], arrays)
    np.testing.assert_array_equal(data.X, [[1, 1, 0, 0, 5, 10, -1, 20, -2], [2, 1, 3, 90, 6, 20, -2, 10, -1]])
    np.testing.assert_array_equal(data.y, [7, -8])


def test_a_random_split_is_stratified():
    info = catalogue()["banana"]
    data = from_arrays(info, {"X": np.arange(200.0).reshape(100, 2), "y": np.repeat([-1, 1], [80, 20])})
    parts = data.split(0.25)
    assert (len(parts.y), len(parts.y_test)) == (75, 25)
    assert (parts.y_test == 1).sum() == 5
    assert parts.split(0.5) is parts
    np.testing.assert_array_equal(np.sort(parts.joined().X[:, 0]), data.X[:, 0])
