"""Mapping kernels: the sum over an equivalence of parts, by a user's function; errors that name the object."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Gaussian, Linear, feature_map
from mercer.kernels import Convolution, Decomposition
from mercer.kernels.structured.decompositions import decomposed, domain_of
from mercer.storage import ModelFileError, dumps
from mercer.structures import Objects
from mercer.testing import assert_mean_close

# An object is a list of parts (name, weight, number); the class of a name is drawn: a random equivalence of names.
part_lists = st.lists(
    st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from([0.5, 1.0, 2.0]), st.integers(-2, 2)), max_size=4),
    min_size=1,
    max_size=4,
)
classes = st.lists(st.integers(0, 2), min_size=5, max_size=5)


@settings(max_examples=50)
@given(part_lists, classes)
def test_a_convolution_of_keyed_parts_is_the_sum_over_the_relation(X, of_name):
    """For every equivalence; its Gram matrix is positive semi-definite."""

    def decompose(parts):
        keys = [of_name["abcde".index(name)] for name, _, _ in parts]
        return keys, [weight for _, weight, _ in parts], [[number] for *_, number in parts]

    def related(a, b):
        return of_name["abcde".index(a[0])] == of_name["abcde".index(b[0])]

    kappa = Gaussian(gamma=0.5)
    expected = np.array(
        [
            [sum(a[1] * b[1] * np.exp(-0.5 * (a[2] - b[2]) ** 2) for a in x for b in y if related(a, b)) for y in X]
            for x in X
        ],
        dtype=float,
    )
    kernel = Convolution(kappa, decompose=decompose)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diag(expected), rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(kernel(X)).min() > -1e-9 * max(1.0, expected.max())


def test_the_features_of_keyed_parts_are_unbiased():
    """300 draws at two widths; false alarm 1e-6; the error falls with the width."""

    def words(text):
        return text.split(), [[len(word), 1.0] for word in text.split()]

    X = Objects(["to be or not to be", "or not", "", "be it"]).astype(np.float64)
    kernel, spread = Convolution(Linear(), decompose=words), []
    for width in (16, 64):
        maps = [feature_map(kernel, width, random_state=seed).fit(X) for seed in range(300)]
        estimates = np.array([Z @ Z.T for Z in (one.transform(X) for one in maps)])
        assert maps[0].n_features_out_ == width
        assert_mean_close(estimates, kernel(X), false_alarm=1e-6, atol=1e-9)
        spread.append(((estimates - kernel(X)) ** 2).mean())
    assert 2.5 < spread[0] / spread[1] < 6  # as 1/D


def test_vectors_alone_and_no_parts():
    kernel = Convolution(Linear(), decompose=lambda number: [[number]] if number else [])
    np.testing.assert_array_equal(kernel([2, 3, 0]), [[4, 6, 0], [6, 9, 0], [0, 0, 0]])
    assert domain_of(kernel.decompose) == "objects"
    assert not issubclass(type(kernel.decompose), Decomposition)
    assert decomposed(kernel, kernel.decompose, Objects([1, 0])).sizes.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("decompose", "words"),
    [
        (lambda item: "text", r"X\[0\] must decompose into vectors of numbers"),
        (lambda item: [1.0, 2.0], r"X\[0\] must decompose into a matrix"),
        (lambda item: [[np.nan]], r"X\[0\] must decompose into a matrix of finite"),
        (lambda item: ([1, 2], [[1.0]]), r"X\[0\] must have a key for each part"),
        (lambda item: ([0.5], [[1.0]]), r"X\[0\] must have keys that are integers"),
        (lambda item: ([[]], [[1.0]]), r"X\[0\] must have keys that can be hashed"),
        (lambda item: ([1], [np.inf], [[1.0]]), r"X\[0\] must have a finite weight"),
        (lambda item: [[1.0] * item], r"X\[1\] must have parts of 1 numbers"),
        (lambda item: [[1.0]] if item == 1 else ([1], [[1.0]]), "keys for some objects and none for others"),
    ],
)
def test_errors_name_the_object(decompose, words):
    with pytest.raises(ValueError, match=words):
        Convolution(Linear(), decompose=decompose)([1, 2])


def test_what_is_no_decomposition_and_what_no_file_holds():
    with pytest.raises(ValueError, match="Convolution: decompose must be a function"):
        Convolution(Linear(), decompose=3)
    with pytest.raises(ModelFileError, match="is a function"):
        dumps(Convolution(Linear(), decompose=lambda item: [[1.0]]))
