"""Windows of strings and of series."""

import numpy as np
import pytest
from brute_force import strings
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import FourierFeatures, Gaussian, Linear, parse_kernel
from mercer.features import ConvolutionFeatures
from mercer.kernels import Convolution, Windows
from mercer.storage import dumps, loads
from mercer.structures import Bags, Strings
from mercer.testing import check_feature_map


@settings(max_examples=40)
@given(strings, st.integers(1, 3))
def test_equal_to_the_double_loop(X, k):
    """A Gaussian of one-hot windows is exp(-2 gamma mismatches)."""
    cut = [[w for i in range(len(x) - k + 1) if "N" not in (w := x[i : i + k])] for x in X]
    mismatches = lambda a, b: sum(p != q for p, q in zip(a, b, strict=True))  # noqa: E731
    expected = [[sum(np.exp(-0.6 * mismatches(a, b)) for a in x for b in y) for y in cut] for x in cut]
    found = Convolution(Gaussian(gamma=0.3), decompose=Windows(k, alphabet="ab"))(X)
    np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-9, atol=1e-12)


def test_encodings_follow_the_order_of_the_alphabet():
    kernel = Convolution(Linear(), decompose=Windows(1, alphabet="ba", encoding=[[2.0], [5.0]]))
    np.testing.assert_array_equal(kernel(["a", "b", "A"]), [[25, 10, 0], [10, 4, 0], [0, 0, 0]])
    assert Convolution(Linear(), decompose=Windows(1, alphabet="a", fold_case=True))(["A"])[0, 0] == 1


def test_series_are_bags_in_order():
    parts = Windows(2).parts_of(Bags([[[1.0], [2.0], [3.0]], [[4.0]]]))
    assert parts.vectors.tolist() == [[1, 2], [2, 3]]
    assert parts.sizes.tolist() == [2, 0]
    assert Convolution(Linear(), decompose=Windows(2)).domain == "bags"


def test_the_kit():
    made = ConvolutionFeatures(
        FourierFeatures(Gaussian(gamma=1.0), n_components=16), decompose=Windows(2, alphabet="ab")
    )
    others = {"average": ["mean"], "decompose": [Windows(1, alphabet="ab")], "n_components": []}
    check_feature_map(made, Strings(["abba", "aab", "", "b"]), outside=Strings(["ba"]), others=others)


def test_text_and_files():
    kernel = Convolution(Gaussian(gamma=1.0), decompose=Windows(2, alphabet="ab", encoding=[[0.5], [1.0]]))
    assert parse_kernel(repr(kernel)) == kernel == loads(dumps(kernel))
    assert kernel.with_params(decompose__k=3).decompose.k == 3


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 1, "encoding": "two_hot"}, "encoding must be 'one_hot'"),
        ({"k": 1, "encoding": [[1.0]]}, "one vector, of one length, for each of the 0 letters"),
        ({"k": 1, "alphabet": "ab", "encoding": [[1.0], [1.0, 2.0]]}, "one vector, of one length"),
    ],
)
def test_bad_parameters(params, words):
    with pytest.raises(ValueError, match=words):
        Windows(**params)
