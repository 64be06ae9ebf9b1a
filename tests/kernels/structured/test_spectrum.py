"""Common substrings of strings and of sequences."""

import numpy as np
import pytest
from brute_force import COUNTS, gram, strings
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import parse_kernel
from mercer.kernels import Spectrum
from mercer.structures import Sequences


def substrings(text, least, k, letters):
    found = [text[i : i + j] for j in range(least, k + 1) for i in range(len(text) - j + 1)]
    return [part for part in found if set(part) <= set(letters)]


@settings(max_examples=40)
@given(strings, st.integers(1, 2), st.integers(0, 2), st.sampled_from(COUNTS), st.sampled_from([None, "ab"]))
def test_equal_to_the_double_loop(X, least, more, counts, alphabet):
    kernel = Spectrum(least + more, least=least, counts=counts, alphabet=alphabet)
    expected = gram(X, lambda text: substrings(text, least, least + more, alphabet or "abN"), counts)
    np.testing.assert_array_equal(kernel(X), expected)
    np.testing.assert_array_equal(kernel.diag(X), np.diag(expected))
    np.testing.assert_array_equal(kernel(X, X[:1]), expected[:, :1])


@settings(max_examples=10)
@given(strings)
def test_long_substrings_by_polynomials(X):
    longer = [text * 3 for text in X]
    np.testing.assert_array_equal(Spectrum(9)(longer), gram(longer, lambda text: substrings(text, 9, 9, "abN")))


def test_tokens():
    X = Sequences.of_words(["to be or not to be", "or not"])
    np.testing.assert_array_equal(Spectrum(2, tokens=True)(X), [[7, 1], [1, 1]])
    assert Spectrum(2, tokens=True).domain == "sequences"
    with pytest.raises(ValueError, match="must be Strings"):
        Spectrum(2)(X)


def test_case_is_folded_where_asked():
    assert Spectrum(1)(["aA"])[0, 0] == 2
    assert Spectrum(1, fold_case=True)(["aA"])[0, 0] == 4
    assert Spectrum(1, alphabet="A", fold_case=True)(["aAb"])[0, 0] == 4


def test_every_byte_is_a_letter():
    assert Spectrum(1)([bytes(range(255))])[0, 0] == 255


def test_text_and_parameters():
    kernel = Spectrum(5, least=3, alphabet="ACGT")
    assert parse_kernel(repr(kernel)) == kernel
    assert kernel.with_params(k=4).k == 4
    assert parse_kernel("Spectrum(3, fold_case=True)").fold_case is True


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 2, "least": 3}, "least must be"),
        ({"k": 2, "counts": "sum"}, "counts must be one of"),
        ({"k": 2, "alphabet": "AA"}, "alphabet must be"),
        ({"k": 2, "alphabet": "ü"}, "alphabet must be"),
        ({"k": 2, "tokens": True, "fold_case": True}, "tokens have no alphabet"),
    ],
)
def test_bad_parameters(params, words):
    with pytest.raises(ValueError, match=words):
        Spectrum(**params)
