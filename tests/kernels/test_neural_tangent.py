"""The neural tangent kernel: laws, and the gradients of finite networks whose products it averages."""

import numpy as np
import pytest

from mercer.kernels import NeuralTangent
from mercer.testing import assert_mean_close, check_kernel, sample_rows


@pytest.mark.parametrize("depth", [1, 3])
def test_the_laws(depth):
    check_kernel(NeuralTangent(depth))


def test_one_layer_is_the_mean_over_gaussian_units():
    """f = sqrt(2/m) sum a_i relu(w_i x): the gradient by a gives relu relu', that by w gives <x, y> step step'."""
    X = sample_rows(4)
    T = np.random.RandomState(0).standard_normal((40_000, 5)) @ X.T
    relu, step = np.maximum(T, 0), (T > 0).astype(float)
    products = 2 * (relu[:, :, None] * relu[:, None] + X @ X.T * step[:, :, None] * step[:, None])
    assert_mean_close(products / 2, NeuralTangent(1)(X), detect=0.2)


def test_the_recursion_of_the_definition():
    t = np.linspace(-1, 1, 9)
    rows = np.column_stack([t, np.sqrt(1 - t**2)])
    s = theta = t
    for _ in range(4):
        theta = theta * (1 - np.arccos(np.clip(s, -1, 1)) / np.pi)
        s = (np.sqrt(np.maximum(1 - s**2, 0)) + s * (np.pi - np.arccos(np.clip(s, -1, 1)))) / np.pi
        theta = theta + s
    np.testing.assert_allclose(NeuralTangent(4)(rows, [[1.0, 0.0]])[:, 0], theta / 5, atol=1e-7)


def test_lengths_zero_rows_and_parameters():
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(NeuralTangent(2)(X), [[25.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(NeuralTangent(2)(10 * X[:1], X[:1]), [[250.0]])
    for depth in (0, 1001, 1.5):
        with pytest.raises(ValueError, match="NeuralTangent: depth must be"):
            NeuralTangent(depth)
