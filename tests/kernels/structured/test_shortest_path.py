"""Pairs of labels at a distance."""

import numpy as np
import pytest
from brute_force import COUNTS, gram, graph_lists, neighbours
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import config_context
from mercer.kernels import ShortestPath
from mercer.structures import Graphs


def paths(graph):
    """Return the labels and distances of all pairs, by repeated products of the adjacency matrix."""
    near, labels = neighbours(graph), graph[1]
    n = len(labels)
    reach = np.eye(n, dtype=bool)
    found, step = [], np.array([[u in near[v] for u in range(n)] for v in range(n)]).reshape(n, n)
    for distance in range(1, n):
        further = (reach.astype(int) @ step.astype(int) > 0) | reach
        found += [(labels[u], labels[v], distance) for u, v in np.argwhere(further & ~reach)]
        reach = further
    return found


@settings(max_examples=40)
@given(graph_lists(), st.sampled_from(COUNTS))
def test_equal_to_the_double_loop(X, counts):
    np.testing.assert_array_equal(ShortestPath(counts=counts)(X), gram(X, paths, counts))


def test_a_graph_beyond_memory_is_refused_before_it_is_searched():
    large = Graphs([([], 50_000)])
    with config_context(memory="1GB"), pytest.raises(MemoryError, match="WeisfeilerLehman"):
        ShortestPath()(large)
