"""Graph kernels equal those of other libraries on real molecules: GraKeL's Gram matrices, networkx' hashes."""

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mercer.features import PartFeatures
from mercer.kernels import ShortestPath, WeisfeilerLehman
from mercer.structures import Graphs

pytestmark = pytest.mark.skipif("MERCER_DATA" not in os.environ, reason="MERCER_DATA names no folder of data sets")
N_GRAPHS = 60  # of each set: GraKeL compares all pairs


def arrays(name):
    folder = Path(os.environ["MERCER_DATA"])
    path = folder / f"graphs_{name}.npz"
    with np.load(path if path.exists() else folder / "structured" / path.name, allow_pickle=False) as data:
        return {key: data[key] for key in ("edges", "graph_indicator", "node_labels")}


def packed(data):
    return Graphs.of_tu(data["edges"], data["graph_indicator"], data["node_labels"])[:N_GRAPHS]


def listed(data):
    """Return the first graphs as (first node, end, edges) triples."""
    graph = data["graph_indicator"]
    starts = np.searchsorted(graph, np.arange(N_GRAPHS + 1))
    of_edge = graph[data["edges"][:, 0]]
    return [(a, b, data["edges"][of_edge == i].tolist()) for i, (a, b) in enumerate(pairwise(starts.tolist()))]


@pytest.fixture(params=["mutag", "ptc_mr"])
def data(request):
    return arrays(request.param)


@pytest.mark.parametrize("which", ["product", "intersection", "paths"])
def test_grakel(data, which):
    peers = pytest.importorskip("grakel.kernels")
    given = []
    for a, b, edges in listed(data):
        neighbours = {v: [] for v in range(a, b)}
        for u, v in edges:
            neighbours[u].append(v)
        given.append((neighbours, {v: int(data["node_labels"][v]) for v in range(a, b)}))
    kernel, peer = {
        "product": (WeisfeilerLehman(3), peers.WeisfeilerLehman(n_iter=3, base_graph_kernel=peers.VertexHistogram)),
        "intersection": (
            WeisfeilerLehman(3, counts="intersection"),
            peers.WeisfeilerLehmanOptimalAssignment(n_iter=3),
        ),
        "paths": (ShortestPath(), peers.ShortestPath()),
    }[which]
    X = packed(data)
    joined = np.array([X.degrees[a:b].all() for a, b in pairwise(X.pointers().tolist())])  # GraKeL drops lone nodes
    K = peer.fit_transform([graph for graph, keep in zip(given, joined, strict=True) if keep])
    np.testing.assert_array_equal(kernel(X[joined]), K)


@pytest.mark.parametrize("depth", [1, 3])
def test_networkx_tells_the_same_graphs_apart(data, depth):
    networkx = pytest.importorskip("networkx")
    hashes = []
    for a, b, edges in listed(data):
        G = networkx.Graph()
        G.add_nodes_from((v, {"label": str(data["node_labels"][v])}) for v in range(a, b))
        G.add_edges_from(edges)
        hashes.append(networkx.weisfeiler_lehman_graph_hash(G, node_attr="label", iterations=depth))
    Z = PartFeatures(WeisfeilerLehman(depth), n_components=None).fit_transform(packed(data)).toarray()
    same = (Z[:, None] == Z).all(axis=2)
    np.testing.assert_array_equal(same, np.array(hashes)[:, None] == np.array(hashes))
