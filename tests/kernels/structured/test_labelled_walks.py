"""Walks with the same labels."""

import itertools

import numpy as np
import pytest
from brute_force import graph_lists, neighbours
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.features import PartFeatures
from mercer.kernels import LabelledWalks
from mercer.structures import Graphs
from mercer.testing import check_feature_map

LABELLED = [([(0, 1), (1, 2), (2, 0), (2, 3)], [0, 1, 1, 0], [0, 1, 0, 1]), ([(0, 1), (1, 2)], [1, 0, 1], [1, 1])]


def pairs_of_walks(x, y, length, decay):
    """Return the kernel of two graphs by walks on their product: pairs of nodes with the same label."""
    near, other_near = neighbours(x), neighbours(y)
    values = np.array([[float(a == b) for b in y[1]] for a in x[1]]).reshape(len(near), len(other_near))
    same, total = values.copy(), values.sum()
    for step in range(1, length + 1):
        further = np.zeros_like(values)
        for u in range(len(near)):
            for v in range(len(other_near)):
                further[u, v] = same[u, v] * sum(values[a, b] for a in near[u] for b in other_near[v])
        values = further
        total += decay**step * values.sum()
    return total


@settings(max_examples=40)
@given(graph_lists(), st.integers(0, 4), st.sampled_from([1.0, 0.3]))
def test_equal_to_walks_on_the_product_graph(X, length, decay):
    expected = [[pairs_of_walks(x, y, length, decay) for y in X] for x in X]
    np.testing.assert_allclose(LabelledWalks(length, decay)(X), expected, rtol=1e-12)


def walks_of(graph, steps):
    edges, labels, of_edges = graph
    label_of = {frozenset(e): one for e, one in zip(edges, of_edges, strict=True)}
    near, found = neighbours(graph[:2]), [(v,) for v in range(len(labels))]
    for _ in range(steps):
        found = [(*walk, u) for walk in found for u in near[walk[-1]]]
    return [
        tuple(labels[v] for v in walk) + tuple(label_of[frozenset(e)] for e in itertools.pairwise(walk))
        for walk in found
    ]


def test_labels_of_edges_count():
    x, y = LABELLED
    expected = 0.0
    for steps in range(4):
        expected += 0.5**steps * sum(a == b for a in walks_of(x, steps) for b in walks_of(y, steps))
    assert LabelledWalks(3, 0.5)([x, y])[0, 1] == pytest.approx(expected)


def test_many_walks_have_few_entries_without_labels():
    dense = Graphs([([(u, v) for u in range(40) for v in range(u)], 40)])
    assert LabelledWalks(20, 1.0)(dense)[0, 0] == pytest.approx(sum((40.0 * 39.0**steps) ** 2 for steps in range(21)))


def test_the_map_keeps_the_contract():
    X = Graphs([*LABELLED, ([], [0, 0], []), ([(0, 1)], [0, 1], [1])])
    check_feature_map(PartFeatures(LabelledWalks(2), n_components=16, random_state=0), X)
    exact = PartFeatures(LabelledWalks(2), n_components=None).fit(X)
    Z = exact.transform(X.astype(np.float64))
    np.testing.assert_allclose((Z @ Z.T).toarray(), LabelledWalks(2)(X))


def test_too_many_walks_are_refused(monkeypatch):
    rng = np.random.RandomState(0)
    graph = [(rng.permutation(200).reshape(100, 2), rng.randint(50, size=200).tolist())]
    LabelledWalks(12)(graph)
    monkeypatch.setattr("mercer.kernels.structured.labelled_walks._MOST_WALKS", 2000)
    with pytest.raises(ValueError, match=r"more than 2000 labels of walks.*Lower length"):
        LabelledWalks(12)(graph)


@pytest.mark.parametrize(("given", "named"), [((-1,), "length"), ((3, 0.0), "decay")])
def test_parameters_are_checked(given, named):
    with pytest.raises(ValueError, match=named):
        LabelledWalks(*given)
