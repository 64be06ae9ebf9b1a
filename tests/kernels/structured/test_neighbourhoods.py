"""Smoothed attributes of nodes, and Weisfeiler-Lehman with continuous attributes."""

import numpy as np
import pytest
from brute_force import graph_lists, neighbours
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import FourierFeatures, Gaussian
from mercer.features import ConvolutionFeatures
from mercer.kernels import Convolution, Neighbourhoods, WeisfeilerLehman
from mercer.storage import dumps, loads
from mercer.structures import Graphs
from mercer.testing import check_feature_map


def attributed(graphs, seed=0):
    rng = np.random.RandomState(seed)
    return [(edges, labels, None, rng.rand(len(labels), 2)) for edges, labels in graphs]


def smoothed(graph, depth):
    edges, labels, _, vectors = graph
    near = neighbours((edges, labels))
    for _ in range(depth):
        vectors = np.array(
            [(x + np.mean(vectors[near[v]], axis=0)) / 2 if near[v] else x for v, x in enumerate(vectors)]
        )
    return vectors


@settings(max_examples=40)
@given(graph_lists(), st.integers(0, 3))
def test_equal_to_the_loop_over_nodes(graphs, depth):
    if not any(len(labels) for _, labels in graphs):
        return
    X = attributed(graphs)
    bags = [smoothed(graph, depth).reshape(-1, 2) for graph in X]
    expected = [
        [np.exp(-0.5 * ((a[:, None] - b) ** 2).sum(axis=2)).sum() if len(a) and len(b) else 0.0 for b in bags]
        for a in bags
    ]
    found = Convolution(Gaussian(gamma=0.5), decompose=Neighbourhoods(depth))(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=20)
@given(graph_lists(), st.integers(0, 2))
def test_equal_attributes_and_labels_give_the_last_round_of_weisfeiler_lehman(graphs, depth):
    if not any(len(labels) for _, labels in graphs):
        return
    X = [(edges, labels, None, np.ones((len(labels), 1))) for edges, labels in graphs]
    found = Convolution(Gaussian(gamma=1.0), decompose=Neighbourhoods(depth, labels=True))(X)
    before = WeisfeilerLehman(depth - 1)(graphs) if depth else 0
    np.testing.assert_allclose(found, WeisfeilerLehman(depth)(graphs) - before, atol=1e-9)


def test_the_kit_with_keys():
    graphs = attributed([([(0, 1), (1, 2)], [0, 1, 0]), ([(0, 1)], [0, 1]), ([], [1]), ([], [])])
    inner = FourierFeatures(Gaussian(gamma=1.0), n_components=16)
    made = ConvolutionFeatures(inner, decompose=Neighbourhoods(1, labels=True), n_components=32)
    others = {"average": ["mean"], "decompose": [Neighbourhoods(0)], "n_components": [64]}
    check_feature_map(made, Graphs(graphs), others=others)


def test_files_and_errors():
    kernel = Convolution(Gaussian(gamma=1.0), decompose=Neighbourhoods(2, labels=True))
    assert loads(dumps(kernel)) == kernel
    with pytest.raises(ValueError, match="the graphs have no attributes"):
        kernel([([], 2)])
    with pytest.raises(ValueError, match="depth must be"):
        Neighbourhoods(-1)
    with pytest.raises(ValueError, match=r"X\[1\] must have a row of finite attributes for each of its 2 nodes"):
        kernel([([], 1, None, [[1.0]]), ([], 2, None, [[1.0]])])
    with pytest.raises(ValueError, match=r"X\[1\] must have 1 attributes for each node"):
        kernel([([], 1, None, [[1.0]]), ([], 2)])
