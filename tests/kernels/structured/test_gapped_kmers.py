"""Windows that agree in all places but some."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from brute_force import COUNTS, gram, strings
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import GappedKmers
from mercer.kernels.structured.gapped_kmers import drawn_masks

TURNED = str.maketrans("ACGT", "TGCA")


def windows(text, length, letters, *, both):
    found = [text[i : i + length] for i in range(len(text) - length + 1)]
    found = [window for window in found if set(window) <= set(letters)]
    return found + [window.translate(TURNED)[::-1] for window in found if both]


@settings(max_examples=30)
@given(strings, st.sampled_from([(2, 1), (3, 1), (4, 2)]), st.sampled_from(COUNTS))
def test_equal_to_the_double_loop(X, size, counts):
    length, gaps = size
    masks = list(combinations(range(length), length - gaps))

    def parts(text):
        return [(m, *(w[i] for i in m)) for w in windows(text, length, "ab", both=False) for m in masks]

    kernel = GappedKmers(length, gaps, counts=counts, alphabet="ab")
    expected = gram(X, parts, counts) / len(masks)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diag(expected), rtol=1e-12)


@settings(max_examples=20)
@given(st.lists(st.text("ACGTN", max_size=9), min_size=1, max_size=3), st.booleans())
def test_the_formula_of_agreements(X, both):
    length, gaps = 4, 2
    kernel = GappedKmers(length, gaps, alphabet="ACGT", both_strands=both)
    expected = [
        [
            sum(
                comb(sum(a == b for a, b in zip(v, w, strict=True)), length - gaps) / comb(length, gaps)
                for v in windows(x, length, "ACGT", both=both)
                for w in windows(y, length, "ACGT", both=both)
            )
            for y in X
        ]
        for x in X
    ]
    np.testing.assert_allclose(kernel(X), expected, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diag(expected), atol=1e-12)


def test_a_strand_and_its_reverse_complement_are_one():
    kernel = GappedKmers(3, 1, alphabet="ACGT", both_strands=True)
    K = kernel(["ACCGTA", "TACGGT"])
    np.testing.assert_allclose(K, K[0, 0])


def test_masks_are_drawn_without_replacement():
    assert len(drawn_masks(5, 2, None, 0)) == 10
    few = drawn_masks(5, 2, 4, 7)
    assert len({tuple(mask) for mask in few.tolist()}) == 4
    assert drawn_masks(40, 20, 30, 7).shape == (30, 20)
    with pytest.raises(ValueError, match="too many for exact values"):
        drawn_masks(40, 20, None, 0)


def test_windows_too_wide_to_pack():
    X = ["abcabcabcabc" * 2, "abcabcabcabd" * 2]
    kernel = GappedKmers(12, 1)
    K = kernel(X)
    np.testing.assert_allclose(np.diag(K), kernel.diag(X), rtol=1e-12)
    assert K[0, 1] < K[0, 0]


def test_bad_parameters():
    with pytest.raises(ValueError, match="gaps must be"):
        GappedKmers(3, 3)
    with pytest.raises(ValueError, match="alphabet of nucleotides"):
        GappedKmers(3, 1, both_strands=True)
