"""Windows weighed by their mismatches."""

import numpy as np
import pytest
from brute_force import strings
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Gaussian, Normalized, parse_kernel
from mercer.features import PartFeatures
from mercer.kernels import Convolution, HammingKmers, Windows
from mercer.structures import Strings
from mercer.testing import assert_mean_close, check_feature_map

TEXTS = Strings(["acgtacgg", "ttga", "acca", "", "ggtt"])


@settings(max_examples=40)
@given(strings, st.integers(1, 3), st.sampled_from([0.2, 0.7]))
def test_equal_to_the_double_loop(X, k, decay):
    cut = [[w for i in range(len(x) - k + 1) if "N" not in (w := x[i : i + k])] for x in X]
    expected = [
        [sum(decay ** sum(p != q for p, q in zip(a, b, strict=True)) for a in x for b in y) for y in cut] for x in cut
    ]
    kernel = HammingKmers(k, decay, alphabet="ab")
    np.testing.assert_allclose(kernel(X), np.array(expected, dtype=float), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diag(expected), rtol=1e-10, atol=1e-12)


def test_it_is_a_gaussian_of_one_hot_windows():
    decay = np.exp(-2 * 0.4)
    gaussian = Convolution(Gaussian(gamma=0.4), decompose=Windows(2, alphabet="acgt"))
    np.testing.assert_allclose(HammingKmers(2, decay)(TEXTS), gaussian(TEXTS), rtol=1e-9)


def test_both_strands_are_the_strings_and_their_reverse_complements():
    pairs = str.maketrans("acgt", "tgca")
    joined = [f"{text.decode()}N{text.decode()[::-1].translate(pairs)}" for text in TEXTS]
    both = HammingKmers(2, 0.3, both_strands=True, alphabet="acgt")
    np.testing.assert_allclose(both(TEXTS), HammingKmers(2, 0.3, alphabet="acgt")(joined), rtol=1e-10)
    np.testing.assert_allclose(both.diag(TEXTS), np.diag(both(TEXTS, TEXTS)), rtol=1e-10)


def test_all_masks_are_exact():
    kernel, X = HammingKmers(3, 0.3), TEXTS.astype(np.float64)
    Z = PartFeatures(kernel, n_components=None, n_masks=None, random_state=0).fit_transform(X)
    np.testing.assert_allclose((Z @ Z.T).toarray(), kernel(X), rtol=1e-10, atol=1e-12)


def test_drawn_masks_are_unbiased():
    """300 draws of 3 masks; false alarm 1e-6."""
    kernel, X = Normalized(HammingKmers(3, 0.4)), TEXTS.astype(np.float64)
    maps = (PartFeatures(kernel, n_components=256, n_masks=3, random_state=seed).fit(X) for seed in range(300))
    estimates = np.array([Z @ Z.T for Z in (one.transform(X) for one in maps)])
    assert_mean_close(estimates, kernel(X), false_alarm=1e-6, atol=1e-9)


def test_the_kit():
    made = PartFeatures(Normalized(HammingKmers(3, 0.4)), n_components=16, n_masks=3)
    check_feature_map(made, TEXTS, unbiased=False)


def test_text_and_errors():
    kernel = HammingKmers(3, 0.5, alphabet="ACGT")
    assert parse_kernel(repr(kernel)) == kernel
    for params, words in (((0, 0.5), "length must be"), ((3, 1.0), "decay must be"), ((3, 0.0), "decay must be")):
        with pytest.raises(ValueError, match=words):
            HammingKmers(*params)
    with pytest.raises(ValueError, match="too many to take all"):
        PartFeatures(HammingKmers(20, 0.5), n_masks=None).fit(["a" * 30]).transform(["a" * 30])
    with pytest.raises(ValueError, match=r"X\[1\] must be text"):
        kernel(["A", None])
