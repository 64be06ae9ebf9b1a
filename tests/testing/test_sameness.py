"""Sameness to the last bit."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse

from mercer import Linear, Polynomial, TensorSketch
from mercer.testing import (
    assert_same,
)


def test_the_same_is_the_same_to_the_last_bit():
    arrays = [np.arange(6.0).reshape(2, 3), sparse.csr_array(np.eye(2)), Linear(), {"a": [1, float("nan")]}]
    assert_same(arrays, deepcopy(arrays))
    for one, other in [
        (np.zeros(2), np.array([0.0, -0.0])),
        (np.zeros((2, 2)), np.asfortranarray(np.zeros((2, 2)))[:, ::-1]),
        (np.zeros(2), np.zeros(2, dtype=np.float32)),
        (1, 1.0),
        (Polynomial(2), Polynomial(3)),
        (TensorSketch(), TensorSketch(n_components=7)),
        ({"a": 1}, {"a": 1, "b": 2}),
        (np.random.RandomState(0), np.random.RandomState(1)),
    ]:
        with pytest.raises(AssertionError, match="it"):
            assert_same(one, other, "it")
