"""All pairs of the vectors of two bags."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Gaussian, Linear, SameCategory
from mercer.kernels import Columns, Convolution, Spectrum
from mercer.structures import Bags

RNG = np.random.RandomState(0)
BAGS = [RNG.rand(3, 2), RNG.rand(1, 2), np.empty((0, 2)), RNG.rand(4, 2)]


@pytest.mark.parametrize("average", ["sum", "mean", "root"])
def test_equal_to_the_double_loop(average):
    inner = Gaussian(gamma=2.0)
    kernel = Convolution(inner, average=average)
    power = {"sum": 0, "mean": 1, "root": 0.5}[average]
    expected = [
        [inner(x, y).sum() / (len(x) * len(y)) ** power if len(x) and len(y) else 0.0 for y in BAGS] for x in BAGS
    ]
    np.testing.assert_allclose(kernel(BAGS), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(BAGS), np.diag(expected), rtol=1e-12)


@settings(max_examples=20)
@given(st.lists(st.lists(st.tuples(st.integers(0, 2), st.floats(-1, 1)), max_size=4), min_size=2, max_size=4))
def test_mapping_kernels_are_convolutions_over_keyed_parts(objects):
    """A sum over the pairs that an equivalence relates is a convolution with SameCategory of the class."""
    bags = [np.array(parts, dtype=float).reshape(-1, 2) for parts in objects]
    inner = Gaussian(gamma=1.0)
    kernel = Convolution(Columns(SameCategory(), [0]) * Columns(inner, [1]))
    expected = [
        [sum(np.exp(-((a[1] - b[1]) ** 2)) for a in x for b in y if a[0] == b[0]) for y in objects] for x in objects
    ]
    K = kernel(bags)
    np.testing.assert_allclose(K, expected, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-9


def test_parameters_from_data_are_those_of_the_vectors():
    vectors = np.concatenate(BAGS)
    from_bags = Convolution(Gaussian()).resolve(Bags(BAGS))
    assert from_bags.kernel == Gaussian().resolve(vectors)


def test_bad_parameters():
    with pytest.raises(ValueError, match="average must be one of"):
        Convolution(Linear(), average="max")
    with pytest.raises(ValueError, match="kernel of rows of numbers"):
        Convolution(Spectrum(2))
