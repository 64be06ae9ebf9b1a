"""Bad objects: each is refused with its number, or has features of zeros; none gives a silent NaN."""

import numpy as np
import pytest

import mercer
from mercer import KernelRidgeClassifier, NOGDClassifier, Normalized, Nystroem, config_context
from mercer.features import ConvolutionFeatures, PartFeatures
from mercer.kernels import Convolution, Graphlets, LabelledWalks, ShortestPath, Spectrum, Subtree, WeisfeilerLehman
from mercer.structures import Graphs, Trees


@pytest.mark.parametrize(
    "kernel", [Spectrum(2), Normalized(Spectrum(2)), mercer.Composed(mercer.Polynomial(2), Spectrum(2))]
)
def test_an_empty_string_has_features_of_zeros(kernel):
    Z = mercer.feature_map(kernel, 64, random_state=0).fit(["abab", ""]).transform(["", "a", "ab"])
    assert not Z[:2].any()
    assert np.isfinite(Z).all()


@pytest.mark.parametrize(
    "kernel",
    [WeisfeilerLehman(2), ShortestPath(), Normalized(WeisfeilerLehman(1)), Graphlets(4), LabelledWalks(2)],
)
def test_an_empty_graph_has_features_of_zeros(kernel):
    graphs = [([(0, 1)], 2), ([], 0)]
    Z = mercer.feature_map(kernel, 64, random_state=0).fit(graphs).transform(graphs)
    assert not Z[1].any()
    np.testing.assert_array_equal(kernel(graphs)[1], 0)


def test_a_label_never_seen():
    """With a column for each key it has no column; hashed, it has one at once."""
    seen, other = [([], ["C"])], [([], ["Xe"])]
    assert PartFeatures(WeisfeilerLehman(0), n_components=None).fit(seen).transform(other).nnz == 0
    assert PartFeatures(WeisfeilerLehman(0), n_components=64).fit(seen).transform(other).any()


def test_a_cyclic_tree():
    with pytest.raises(ValueError, match=r"X\[1\] must be a tree.*A cycle is no tree"):
        Subtree()(["(a b)", (["a", "b", "c"], [-1, 2, 1])])
    cycle = []
    cycle.append(cycle)
    with pytest.raises(ValueError, match=r"X\[0\] must be a tree, got an object that contains itself"):
        Trees.of_json([cycle])


@pytest.mark.parametrize("bad", [None, 3, 1.5, float("nan"), ["a"]])
@pytest.mark.parametrize(
    "fit",
    [
        PartFeatures(Spectrum(2)).fit,
        Nystroem(Spectrum(1), n_components=2).fit,
        lambda X: KernelRidgeClassifier(Spectrum(2), n_components=16).fit(X, [0, 1, 0]),
        lambda X: NOGDClassifier(Spectrum(2)).fit(X, [0, 1, 0]),
    ],
    ids=["map", "nystroem", "learner", "online"],
)
def test_what_is_no_text_in_a_text_column(fit, bad):
    with pytest.raises(ValueError, match=r"X\[1\] must be text"):
        fit(["ab", bad, "ba"])


@pytest.mark.parametrize(
    ("kernel", "good"),
    [
        (WeisfeilerLehman(1), ([], 1)),
        (Subtree(), "(a b)"),
        (Convolution(mercer.Linear()), [[1.0]]),
        (Spectrum(1, tokens=True), [1, 2]),
    ],
)
def test_none_among_objects_is_refused_by_its_number(kernel, good):
    with pytest.raises(ValueError, match=r"X\[1\] must"):
        kernel([good, None])


def test_bags_without_numbers():
    with pytest.raises(ValueError, match=r"X\[1\] must hold finite numbers, got nan at row 0, column 1"):
        ConvolutionFeatures().fit([[[1.0, 2.0]], [[1.0, np.nan]]])


def test_a_graph_of_a_million_nodes():
    """All pairs of nodes are refused for memory, in words; the neighbourhoods of nodes are made."""
    n = 10**6
    ring = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
    graphs = Graphs.of_tu(ring, np.zeros(n, dtype=np.int64))
    with config_context(memory="8GB"), pytest.raises(MemoryError, match="WeisfeilerLehman"):
        ShortestPath().diag(graphs)
    assert PartFeatures(WeisfeilerLehman(1), n_components=None).fit_transform(graphs).toarray().tolist() == [[n, n]]
    # a ring has n paths of five nodes; each draw has the same probability, so that the estimate is exact
    drawn = PartFeatures(Graphlets(5, n_draws=10), n_components=None, random_state=0).fit_transform(graphs)
    np.testing.assert_allclose(drawn.toarray(), [[n]], rtol=1e-6)
