"""Connected subgraphs of a few nodes: all of them, and drawn ones."""

from itertools import combinations, permutations

import numpy as np
import pytest
from brute_force import gram, graph_lists, neighbours
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Normalized, core
from mercer.features import PartFeatures
from mercer.kernels import Graphlets
from mercer.structures import Graphs
from mercer.testing import assert_mean_close, check_feature_map

# Re-draws count all subgraphs again and again.
slow_in_python = pytest.mark.skipif(not core.COMPILED, reason="re-draws of subgraphs take minutes without the core")

# A wheel of 8 spokes, a path with a triangle, and a part that no draw of four nodes can fill.
WHEEL = ([(0, v) for v in range(1, 9)] + [(v, v % 8 + 1) for v in range(1, 9)], [1] + [0] * 8)
TAIL = ([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (7, 8)], [1, 0, 0, 0, 0, 0, 0, 1, 1])


def connected_sets(graph, size):
    near = [set(of_node) for of_node in neighbours(graph)]
    for nodes in combinations(range(len(near)), size):
        reached = {nodes[0]}
        for _ in nodes:
            reached |= {u for v in reached for u in near[v] if u in nodes}
        if len(reached) == size:
            yield nodes


def canonical(graph, nodes):
    """Return the smallest of the descriptions of a subgraph, over all orders of its nodes."""
    edges, labels = graph[:2]
    of_edges = graph[2] if len(graph) > 2 else [0] * len(edges)
    label_of = {frozenset(e): one for e, one in zip(edges, of_edges, strict=True)}
    return min(
        (tuple(labels[v] for v in order), tuple(label_of.get(frozenset(pair), -1) for pair in combinations(order, 2)))
        for order in permutations(nodes)
    )


def subgraphs(size):
    return lambda graph: [canonical(graph, nodes) for nodes in connected_sets(graph[:2], size)]


@settings(max_examples=40)
@given(graph_lists(), st.sampled_from([3, 4, 5]))
def test_equal_to_the_double_loop(X, size):
    np.testing.assert_array_equal(Graphlets(size)(X), gram(X, subgraphs(size)))


@pytest.mark.parametrize("size", [3, 4, 5])
def test_keys_tell_all_small_graphs_apart(size):
    """All graphs of a size, with labels of nodes and edges for some: keys agree exactly where graphs are isomorphic."""
    pairs, rng = list(combinations(range(size), 2)), np.random.RandomState(0)
    listed = [([e for i, e in enumerate(pairs) if bits >> i & 1], [0] * size) for bits in range(2 ** len(pairs))]
    for _ in range(400):
        some = [e for e in pairs if rng.rand() < 0.7]
        listed.append((some, rng.randint(2, size=size).tolist(), rng.randint(2, size=len(some)).tolist()))
    for with_labels in (False, True):
        X = [one for one in listed if (len(one) == 3) == with_labels and list(connected_sets(one[:2], size))]
        K = Graphlets(size)(X)
        names = [canonical(one, range(size)) for one in X]
        assert len(set(names)) > 1
        numbers = np.array([sorted(set(names)).index(name) for name in names])
        np.testing.assert_array_equal(K, numbers[:, None] == numbers)


def test_labels_of_edges_belong_to_a_subgraph():
    one, other = ([(0, 1), (1, 2)], 3, [0, 1]), ([(0, 1), (1, 2)], 3, [1, 1])
    np.testing.assert_array_equal(Graphlets(3)([one, other]), np.eye(2))


def inverse_probabilities(graph, size):
    """Return 1 / p of all subgraphs, by their canonical forms; p is a sum over all orders of the nodes."""
    near = [set(of_node) for of_node in neighbours(graph)]
    found = {}
    for nodes in connected_sets(graph, size):
        total = 0.0
        for order in permutations(nodes):
            chance = 1 / len(near)
            for n in range(1, size):
                inside = set(order[:n])
                leaving = sum(len(near[v] - inside) for v in inside)
                chance *= len(near[order[n]] & inside) / leaving
                if chance == 0:
                    break
            total += chance
        found.setdefault(canonical(graph, nodes), []).append(1 / total)
    return found


def moments(x, y, size, n_draws):
    """Return k(x, y), the variance of its estimate, and the mean of the estimate of k(x, x)."""
    a, b = inverse_probabilities(x, size), inverse_probabilities(y, size)
    names = sorted(set(a) | set(b))
    counts = [np.array([len(one.get(name, [])) for name in names], float) for one in (a, b)]
    sums = [np.array([sum(one.get(name, [])) for name in names]) for one in (a, b)]
    S, T = ((np.diag(s) - np.outer(c, c)) / n_draws for s, c in zip(sums, counts, strict=True))
    c, d = counts
    return c @ d, d @ S @ d + c @ T @ c + np.trace(S @ T), c @ c + np.trace(S)


@pytest.mark.parametrize("size", [4, 5])
def test_draws_have_the_stated_mean_and_variance(size):
    n_draws, n_seeds = 3, 2000
    kernel, X = Graphlets(size, n_draws=n_draws), Graphs([WHEEL, TAIL])
    fitted = PartFeatures(kernel, n_components=2**20, random_state=0).fit(X)
    estimates = []
    for seed in range(n_seeds):
        Z = fitted.redrawn(np.random.RandomState(seed)).transform(X.astype(np.float64))
        estimates.append((Z @ Z.T).toarray())
    estimates = np.array(estimates)
    mean, variance, own = moments(WHEEL, TAIL, size, n_draws)
    assert mean > 0
    assert_mean_close(estimates[:, 0, 1], mean, false_alarm=1e-6)
    assert_mean_close((estimates[:, 0, 1] - mean) ** 2, variance, false_alarm=1e-6)
    assert_mean_close(estimates[:, 0, 0], own, false_alarm=1e-6)  # a graph with itself: the variance is added
    assert own > 1.01 * Graphlets(size)(X)[0, 0]


@slow_in_python
def test_the_bias_of_a_graph_with_itself_is_the_stated_one():
    """It is the trace of the covariance. One standard error of 50 re-draws is about 16 %, and 3.7 are allowed."""
    twin = (WHEEL[0], WHEEL[1], [0] * len(WHEEL[0]))
    kernel, X = Graphlets(4, n_draws=10), Graphs([WHEEL, TAIL])
    fitted = PartFeatures(kernel, random_state=0).fit(X)
    _, _, own = moments(WHEEL, TAIL, 4, 10)
    expected = own - kernel(X)[0, 0]
    bias = fitted.bias(X, X[[1, 0, 0]])
    assert bias.shape == (2, 3)
    np.testing.assert_allclose(bias[0, 1:], expected, rtol=0.6)
    assert bias[0, 0] == bias[1, 1] == bias[1, 2] == 0
    half = PartFeatures(0.5 * kernel, random_state=0).fit(X)
    np.testing.assert_allclose(half.bias(X, X), 0.5 * fitted.bias(X, X), atol=1e-9)
    assert not np.any(PartFeatures(Graphlets(4, n_draws=10**4), random_state=0).fit(X).bias(X, X))  # all are taken
    # labels of edges alone: the same draws, and no subgraph in common with other labels
    other = Graphs([twin, (*twin[:2], [1] * len(twin[0]))])
    mixed = PartFeatures(kernel, random_state=0).fit(other).bias(other, other)
    np.testing.assert_allclose(np.diag(mixed), expected, rtol=0.6)
    assert mixed[0, 1] == 0


def test_few_subgraphs_and_those_of_three_nodes_are_not_drawn():
    X = Graphs([WHEEL, TAIL])
    for kernel in (Graphlets(4, n_draws=10_000), Graphlets(3, n_draws=2), Graphlets(4, n_draws=None)):
        Z = PartFeatures(kernel, n_components=None, random_state=0).fit_transform(X)
        np.testing.assert_array_equal((Z @ Z.T).toarray(), kernel(X))


def test_a_drawn_graph_is_the_same_among_others():
    fitted = PartFeatures(Graphlets(4, n_draws=5), random_state=0).fit([WHEEL])
    together = fitted.transform([TAIL, WHEEL, TAIL]).toarray()
    np.testing.assert_array_equal(together[1:2], fitted.transform([WHEEL]).toarray())
    np.testing.assert_array_equal(together[0], together[2])


@slow_in_python
def test_the_map_keeps_the_contract():
    X = Graphs([WHEEL, TAIL, ([], 3), ([(0, 1)], [0, 1])])
    check_feature_map(PartFeatures(Graphlets(4), n_components=16, random_state=0), X)


@slow_in_python
def test_the_map_of_draws_keeps_the_contract():
    """What a graph has with itself is biased, and the stated error holds all the same."""
    small = ([(0, v) for v in range(1, 6)] + [(v, v % 5 + 1) for v in range(1, 6)], [1] + [0] * 5)
    drawn = PartFeatures(Graphlets(4, n_draws=4), n_components=64, random_state=0)
    check_feature_map(drawn, Graphs([small, TAIL, ([], 3), ([(0, 1)], [0, 1])]), unbiased=False)


def test_normalised_draws_have_exact_lengths():
    X = Graphs([WHEEL, TAIL])
    kernel = Normalized(Graphlets(4, n_draws=5))
    np.testing.assert_allclose(np.diag(kernel(X)), 1)
    Z = PartFeatures(kernel, random_state=0).fit_transform(X.astype(np.float64))
    raw = PartFeatures(kernel.kernel, random_state=0).fit_transform(X.astype(np.float64))
    np.testing.assert_allclose((Z @ Z.T).diagonal() * Graphlets(4).diag(X), (raw @ raw.T).diagonal())


def test_nodes_next_to_themselves_end_a_draw():
    looped = ([(v, v) for v in range(30)] + [(v, v + 1) for v in range(0, 29, 2)], 30)
    chain = ([(v, v + 1) for v in range(29)], 30)
    Z = PartFeatures(Graphlets(4, n_draws=3), random_state=0).fit_transform([looped, chain])
    assert Z[[0]].nnz == 0
    assert Z[[1]].nnz > 0


@pytest.mark.parametrize(
    ("given", "named"), [({"size": 2}, "size"), ({"size": 6}, "size"), ({"n_draws": 1}, "n_draws")]
)
def test_parameters_are_checked(given, named):
    with pytest.raises(ValueError, match=named):
        Graphlets(**given)
