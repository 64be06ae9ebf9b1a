"""Common neighbourhoods of nodes."""

import os
from pathlib import Path

import numpy as np
import pytest
from brute_force import COUNTS, gram, graph_lists, neighbours
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import WeisfeilerLehman
from mercer.structures import Graphs


def refined(graph, depth):
    """Return the labels of all rounds as nested tuples: no hash is involved."""
    near, labels = neighbours(graph), list(graph[1])
    found = [(0, label) for label in labels]
    for r in range(1, depth + 1):
        labels = [(label, tuple(sorted((labels[u] for u in near[v]), key=repr))) for v, label in enumerate(labels)]
        found += [(r, label) for label in labels]
    return found


@settings(max_examples=40)
@given(graph_lists(), st.integers(0, 3), st.sampled_from(COUNTS))
def test_equal_to_the_double_loop(X, depth, counts):
    expected = gram(X, lambda graph: refined(graph, depth), counts)
    kernel = WeisfeilerLehman(depth, counts=counts)
    np.testing.assert_array_equal(kernel(X), expected)
    np.testing.assert_array_equal(kernel.diag(X), np.diag(expected))


@settings(max_examples=20)
@given(graph_lists(), st.randoms(use_true_random=False))
def test_the_numbers_of_nodes_and_the_order_of_edges_do_not_matter(X, random):
    shuffled = []
    for edges, labels in X:
        order = list(range(len(labels)))
        random.shuffle(order)
        moved = [(order[b], order[a]) for a, b in edges]
        random.shuffle(moved)
        shuffled.append((moved, [labels[order.index(v)] for v in range(len(labels))]))
    np.testing.assert_array_equal(WeisfeilerLehman(2)(X), WeisfeilerLehman(2)(X, shuffled))


def test_labels_of_edges_count():
    plain, single, double = ([(0, 1)], 2), ([(0, 1)], 2, [1]), ([(0, 1)], 2, [2])
    K = WeisfeilerLehman(1)([single, double])
    np.testing.assert_array_equal(K, [[8, 4], [4, 8]])
    assert WeisfeilerLehman(1)([plain])[0, 0] == 8


@pytest.mark.parametrize(
    ("counts", "total"), [("product", 10152522), ("intersection", 1402208)], ids=["WL", "optimal assignment"]
)
def test_mutag(counts, total):
    """The sums of all values, found by dictionaries of nested labels, without any hash."""
    folder = os.environ.get("MERCER_DATA")
    if not folder or not (Path(folder) / "graphs_mutag.npz").exists():
        pytest.skip("MERCER_DATA has no graphs_mutag")
    data = np.load(Path(folder) / "graphs_mutag.npz", allow_pickle=False)
    X = Graphs.of_tu(data["edges"], data["graph_indicator"], data["node_labels"])
    assert WeisfeilerLehman(5, counts=counts)(X).sum() == total


def test_bad_parameters():
    with pytest.raises(ValueError, match="depth must be"):
        WeisfeilerLehman(-1)
