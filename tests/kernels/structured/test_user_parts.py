"""Parts that a user's function finds."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from brute_force import COUNTS, gram
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import KernelRidgeClassifier, Normalized, parse_kernel
from mercer.features import PartFeatures
from mercer.kernels import Parts, Spectrum
from mercer.storage import ModelFileError, dumps
from mercer.structures import Objects
from mercer.testing import check_feature_map


def pairs(items):
    return list(pairwise(items))


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=4), st.sampled_from(COUNTS))
def test_equal_to_the_double_loop(X, counts):
    np.testing.assert_array_equal(Parts(pairs, counts=counts)(X), gram(X, pairs, counts))


def test_weights_and_a_known_kernel():
    texts = ["abab", "bc", ""]
    np.testing.assert_array_equal(Parts(Counter)(texts), Spectrum(1)(texts))
    weighted = Parts(lambda text: dict.fromkeys(text, 0.5))
    np.testing.assert_allclose(weighted(texts), [[0.5, 0.25, 0], [0.25, 0.5, 0], [0, 0, 0]])


def test_the_kit():
    X = Objects(["abab", "bca", "", "cc"])
    others = {"kernel": [Parts(set)]}
    check_feature_map(PartFeatures(Normalized(Parts(Counter)), n_components=8), X, others=others)


def test_a_learner_on_objects_of_any_kind():
    X = [{"a": 1.0, "b": i % 2} for i in range(20)] + [{"c": 1.0, "b": i % 2} for i in range(20)]
    y = [0] * 20 + [1] * 20
    model = KernelRidgeClassifier(Parts(dict), n_components=256, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda item: 3, r"Parts: X\[0\] must decompose into keys"),
        (lambda item: "ab", r"Parts: X\[0\] must decompose into keys"),
        (lambda item: [1.5], r"Parts: X\[0\] must have keys that are integers"),
        (lambda item: {"a": "b"}, r"Parts: X\[0\] must have numbers for weights"),
        (lambda item: {"a": np.nan}, r"Parts: X\[0\] must have finite weights"),
    ],
)
def test_errors_name_the_object(f, words):
    with pytest.raises(ValueError, match=words):
        Parts(f)([1, 2])


def test_what_parts_does_not_take():
    with pytest.raises(ValueError, match="f must be a function"):
        Parts("f")
    with pytest.raises(ValueError, match=r"X\[1\] must be an object, got None"):
        Parts(Counter)(["a", None])
    with pytest.raises(ValueError, match="intersection' needs weights"):
        Parts(lambda item: {"a": 2.0}, counts="intersection")([1])
    with pytest.raises(ModelFileError):
        dumps(Parts(Counter))
    with pytest.raises(ValueError, match="holds a function"):
        parse_kernel("Parts(3)")
