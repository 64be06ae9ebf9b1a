"""Graphs from edges, matrices, networkx and TU arrays."""

import numpy as np
import pytest
from scipy import sparse

from mercer.structures import Graphs


def adjacency(X, i):
    """Return the adjacency matrix of graph i."""
    a, b = X.pointers()[i : i + 2]
    matrix = np.zeros((b - a, b - a), dtype=int)
    ends = X.node_pointers
    for node in range(a, b):
        matrix[node - a, X.neighbours[ends[node] : ends[node + 1]]] = 1
    return matrix


PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    "graph",
    [
        ([(0, 1), (1, 2)], 3),
        ([(1, 0), (0, 1), (2, 1)], [0, 0, 0]),
        PATH,
        sparse.csr_array(PATH),
        (np.array([[0, 1], [1, 2], [1, 0]]), np.zeros(3, int)),
    ],
)
def test_one_form_for_all(graph):
    X = Graphs([([(0, 1)], 2), graph])
    np.testing.assert_array_equal(adjacency(X, 1), PATH)
    assert X.labels.tolist() == [0] * 5


def test_networkx_graphs_with_labels():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_node("x", label="C")
    graph.add_node("y", label="O")
    graph.add_edge("x", "y", label=2)
    X, expected = Graphs([graph]), Graphs([([(0, 1)], ["C", "O"], [2])])
    assert X.labels.tolist() == expected.labels.tolist()
    assert X.edge_labels.tolist() == [2, 2]
    with pytest.raises(ValueError, match=r"X\[0\].*undirected"):
        Graphs([networkx.DiGraph()])


class Stub:
    """What of a networkx graph is read, for installations without networkx."""

    def __init__(self, *, directed=False):
        self.directed = directed

    def is_directed(self):
        return self.directed

    class nodes:  # noqa: N801
        def __iter__(self):
            return iter("xy")

        def __call__(self, data):
            return [("x", {"label": 3}), ("y", {})]

    nodes = nodes()

    def edges(self, data):
        return [("x", "y", {"label": 7})]


def test_whatever_looks_like_networkx():
    X = Graphs([Stub()])
    assert X.labels.tolist() == [3, 0]
    assert X.edge_labels.tolist() == [7, 7]
    with pytest.raises(ValueError, match="to_undirected"):
        Graphs([Stub(directed=True)])


def test_tu_arrays():
    edges, graphs = np.array([[0, 1], [1, 0], [1, 0], [2, 3], [3, 2]]), np.array([0, 0, 1, 1])
    X = Graphs.of_tu(edges, graphs, np.array([5, 6, 7, 8]), np.array([1, 1, 1, 2, 2]), np.ones((4, 2), np.float32))
    assert X.sizes.tolist() == [2, 2]
    assert X.neighbours.tolist() == [1, 0, 1, 0]
    assert X.edge_labels.tolist() == [1, 1, 2, 2]
    assert X.attributes.shape == (4, 2)
    assert Graphs.of_tu(edges, graphs).labels.tolist() == [0] * 4


def test_self_loops_and_isolated_nodes_stay():
    X = Graphs([([(1, 1)], 3)])
    assert X.degrees.tolist() == [0, 1, 0]


def test_no_graph_at_all():
    assert len(Graphs([])) == 0
    assert Graphs([([], 0)]).shape == (1, 1)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ("C-O", "must be a graph"),
        (([(0, 2)], 2), "edge to node 2"),
        (([(0, -1)], 2), "edge to node -1"),
        (([(0, 1)], [0.5, 1]), "integers or text for every label of a node"),
        (([(0, 1)], 2, [1, 2]), "one label for each edge"),
        (([(0, 1), (1, 0)], 2, [1, 2]), "an edge with two labels"),
        (np.ones((2, 3)), "square adjacency"),
        (([(0.5, 1)], 2), "pairs of node numbers"),
    ],
)
def test_the_graph_at_fault_is_named(graph, words):
    with pytest.raises(ValueError, match=rf"X\[1\].*{words}"):
        Graphs([([(0, 1)], 2, [3]) if isinstance(graph, tuple) and len(graph) == 3 else ([(0, 1)], 2), graph])


def test_tu_arrays_that_are_wrong():
    with pytest.raises(ValueError, match=r"edges\[0\] joins two graphs"):
        Graphs.of_tu(np.array([[0, 1]]), np.array([0, 1]))
    with pytest.raises(ValueError, match="nodes from 0 to 1"):
        Graphs.of_tu(np.array([[0, 2]]), np.array([0, 0]))
    with pytest.raises(ValueError, match="not decrease"):
        Graphs.of_tu(np.empty((0, 2)), np.array([1, 0]))
    with pytest.raises(ValueError, match="node_labels must hold 2 integers"):
        Graphs.of_tu(np.empty((0, 2)), np.array([0, 0]), np.array([0.5, 1]))
    with pytest.raises(ValueError, match="finite"):
        Graphs.of_tu(np.empty((0, 2)), np.array([0, 0]), node_attributes=np.full((2, 1), np.nan))
    with pytest.raises(ValueError, match="give all or none"):
        Graphs([([(0, 1)], 2), ([(0, 1)], 2, [1])])
