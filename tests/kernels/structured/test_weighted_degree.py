"""Substrings that agree in place."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import WeightedDegree


@settings(max_examples=30)
@given(st.lists(st.text("ab", min_size=5, max_size=5), min_size=1, max_size=4), st.integers(1, 4))
def test_equal_to_the_definition(X, d):
    def k(x, y):
        pairs = [(2 * (d - j + 1) / (d * (d + 1)), i, j) for j in range(1, d + 1) for i in range(5 - j + 1)]
        return sum(weight for weight, i, j in pairs if x[i : i + j] == y[i : i + j])

    expected = [[k(x, y) for y in X] for x in X]
    np.testing.assert_allclose(WeightedDegree(d)(X), expected, rtol=1e-12)


def test_strings_of_two_lengths_are_refused():
    with pytest.raises(ValueError, match=r"3 letters in X\[0\] and 2 in X\[1\]"):
        WeightedDegree(2)(["abc", "ab"])
