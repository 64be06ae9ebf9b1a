"""Common subsequences, weighed by their spans."""

from itertools import combinations

import numpy as np
import pytest
from brute_force import strings
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Normalized, parse_kernel
from mercer.kernels import Subsequence
from mercer.structures import Graphs, Strings


def features(text, p, decay, letters):
    """Return phi_u(x) for all u, by the definition."""
    found = {}
    for places in combinations(range(len(text)), p):
        u = "".join(text[i] for i in places)
        if set(u) <= set(letters):
            found[u] = found.get(u, 0.0) + decay ** (places[-1] - places[0] + 1)
    return found


@settings(max_examples=40)
@given(strings, st.integers(1, 4), st.sampled_from([0.3, 0.8, 1.0]))
def test_equal_to_the_definition(X, p, decay):
    listed = [features(x, p, decay, "ab") for x in X]
    expected = [[sum(value * y.get(u, 0.0) for u, value in x.items()) for y in listed] for x in listed]
    kernel = Subsequence(p, decay, alphabet="ab")
    np.testing.assert_allclose(kernel(X), np.array(expected), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(kernel.diag(X), np.diag(expected), rtol=1e-10, atol=1e-14)


def test_the_example_of_lodhi():
    """k(cat, car) = decay^4, and k(cat, cat) = 2 decay^4 + decay^6."""
    decay = 0.7
    K = Subsequence(2, decay)(["cat", "car"])
    np.testing.assert_allclose(K, [[2 * decay**4 + decay**6, decay**4], [decay**4, 2 * decay**4 + decay**6]])
    np.testing.assert_allclose(Normalized(Subsequence(2, decay))(["cat", "car"])[0, 1], 1 / (2 + decay**2))


def test_other_letters_and_case():
    np.testing.assert_allclose(Subsequence(2, 0.5, alphabet="AC")(["ANC"], ["AC", "A"]), [[0.5**5, 0.0]])
    folded = Subsequence(2, 0.5, alphabet="AC", fold_case=True)
    np.testing.assert_array_equal(folded(["ac"], ["AC"]), folded(["AC"]))
    assert Subsequence(2).n_letters == 255
    assert folded.n_letters == 2


def test_one_string_against_many_and_many_against_one():
    texts, kernel = ["abab", "ba", "aab"], Subsequence(2, 0.5)
    whole = kernel(texts)
    np.testing.assert_array_equal(kernel(texts, texts[:1]), whole[:, :1])
    np.testing.assert_array_equal(kernel(texts[:1], texts), whole[:1])


def test_text_and_errors():
    kernel = Subsequence(3, 0.25, alphabet="ACGT")
    assert parse_kernel(repr(kernel)) == kernel
    for params, words in (
        ((0,), "length must be"),
        ((65,), "length must be"),
        ((2, 0.0), "decay must be"),
        ((2, 1.5), "decay must be above 0 and at most 1, got 1.5"),
    ):
        with pytest.raises(ValueError, match=words):
            Subsequence(*params)
    with pytest.raises(ValueError, match=r"X\[1\] must be text"):
        kernel(["A", None])
    with pytest.raises(ValueError, match="rows must be Strings"):
        kernel.evaluate(Graphs([([], 1)]), Strings(["a"]))
