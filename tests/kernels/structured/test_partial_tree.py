"""Partial trees."""

import os
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from brute_force import children, tree_lists
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Normalized, Nystroem
from mercer.features import PartFeatures, feature_map
from mercer.kernels import PartialTree
from mercer.structures import Trees
from mercer.testing import check_feature_map

QUESTION = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D the) (N dog))))"


def fragments(tree, decay, gap_decay, terminal, max_size):
    """Return all fragments with their weights, each as nested tuples, by listing the sets of kept children."""
    labels, below = tree[0], children(tree)

    def at(v):
        bare = (labels[v], ()), decay**0.5 * gap_decay * (1 if below[v] else terminal**0.5), 1
        found = [bare]
        own = [at(c) for c in below[v]]
        for number in range(1, len(own) + 1):
            for kept in combinations(range(len(own)), number):
                gaps = kept[-1] - kept[0] + 1 - number
                for chosen in product(*(own[i] for i in kept)):
                    weight = decay**0.5 * gap_decay**gaps * np.prod([one[1] for one in chosen])
                    found.append(
                        ((labels[v], tuple(one[0] for one in chosen)), weight, 1 + sum(one[2] for one in chosen))
                    )
        return found

    return [one for v in range(len(labels)) for one in at(v) if one[2] <= max_size]


def by_fragments(X, *weights, max_size):
    listed = [fragments(x, *weights, max_size) for x in X]
    return [[sum(a[1] * b[1] for a in x for b in y if a[0] == b[0]) for y in listed] for x in listed]


weights = st.tuples(st.sampled_from([1.0, 0.4]), st.sampled_from([1.0, 0.5]), st.sampled_from([1.0, 3.0]))


@settings(max_examples=30)
@given(tree_lists(), weights, st.integers(1, 7))
def test_equal_to_the_list_of_fragments(X, given, max_size):
    decay, gap_decay, terminal = given
    kernel = PartialTree(decay, gap_decay, terminal=terminal, max_size=max_size)
    np.testing.assert_allclose(kernel(X), by_fragments(X, *given, max_size=max_size), rtol=1e-10)


@settings(max_examples=30)
@given(tree_lists(), weights)
def test_the_recursion_is_the_sum_over_fragments_of_any_size(X, given):
    decay, gap_decay, terminal = given
    kernel = PartialTree(decay, gap_decay, terminal=terminal, max_size=None)
    expected = by_fragments(X, *given, max_size=99)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-10)
    np.testing.assert_allclose(kernel.diag(X), np.diag(expected), rtol=1e-10)


def test_equal_to_the_stored_values_of_kelp():
    folder = os.environ.get("MERCER_DATA")
    path = Path(folder or "") / "structured" / "trees_questions.npz"
    if not folder or not path.exists():
        pytest.skip("MERCER_DATA has no trees_questions")
    data = np.load(path, allow_pickle=False)
    pointers = np.append(data["test_pointers"][:500], len(data["test_labels"]))
    X = Trees.of_arrays(data["test_labels"], data["test_parents"], pointers)
    kernel = PartialTree(0.4, 0.4, terminal=5.0, max_size=None)
    lengths = np.sqrt(kernel.diag(X))
    values = [kernel(X[i : i + 1], X[i + 1 : i + 2])[0, 0] / (lengths[i] * lengths[i + 1]) for i in range(499)]
    np.testing.assert_allclose(values, data["kelp_ptk"], atol=1e-6)  # stored in float32


def test_the_map_keeps_the_contract():
    X = Trees([QUESTION, "(S (NP (N cat)) (VP (V saw)))", "a", "(S (NP (N dog)) (VP (V ran)))"])
    check_feature_map(PartFeatures(PartialTree(max_size=3), n_components=16, random_state=0), X)
    exact = PartFeatures(PartialTree(), n_components=None).fit(X)
    Z = exact.transform(X.astype(np.float64))
    np.testing.assert_allclose((Z @ Z.T).toarray(), PartialTree()(X))


def test_fragments_of_any_size_have_the_nystroem_map():
    X = Trees([QUESTION, "(S (NP (N cat)) (VP (V saw)))", "(a b)"])
    kernel = Normalized(PartialTree(max_size=None))
    Z = feature_map(kernel, 3, method="nystroem", random_state=0).fit_transform(X.astype(np.float64))
    np.testing.assert_allclose(Z @ Z.T, kernel(X), atol=1e-10)
    with pytest.raises(ValueError, match="PartFeatures: kernel must"):
        PartFeatures(kernel).fit(X)
    assert Nystroem(kernel, n_components=2, random_state=0).fit_transform(X).shape == (3, 2)


def test_too_many_fragments_are_refused():
    wide = (["r"] + ["a"] * 400, [-1, *[0] * 400])
    with pytest.raises(ValueError, match="Lower max_size"):
        PartialTree(max_size=8)([wide])
    assert PartialTree(1.0, 1.0, max_size=None)([wide])[0, 0] > 1e100


@pytest.mark.parametrize(
    ("given", "named"), [({"decay": 0}, "decay"), ({"terminal": -1}, "terminal"), ({"max_size": 0}, "max_size")]
)
def test_parameters_are_checked(given, named):
    with pytest.raises(ValueError, match=named):
        PartialTree(**given)
