"""The arc-cosine kernels: laws, the units whose products they average, and small angles."""

import numpy as np
import pytest

from mercer import ArcCosine
from mercer.testing import assert_mean_close, check_kernel, sample_rows


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_laws(order):
    check_kernel(ArcCosine(order))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_kernel_is_the_mean_over_gaussian_units(order):
    X = sample_rows(4)
    rng = np.random.RandomState(0)
    T = rng.standard_normal((40_000, 5)) @ X.T
    units = (T > 0) * T**order
    products = 2 * units[:, :, np.newaxis] * units[:, np.newaxis]
    assert_mean_close(products, ArcCosine(order)(X), detect=0.2)


def test_values_of_nearly_parallel_and_of_zero_rows():
    X = np.array([[1.0, 0.0], [1.0, 1e-9], [0.0, 0.0]])
    K = ArcCosine(0)(X, X.copy())
    np.testing.assert_allclose(1 - K[0, 1], 1e-9 / np.pi, rtol=1e-6)
    assert not K[2].any()
    with pytest.raises(ValueError, match="ArcCosine: order must be 0, 1 or 2, got 3"):
        ArcCosine(3)


def test_layers_are_applied_one_after_the_other():
    t = np.linspace(-1, 1, 7)
    rows = np.column_stack([t, np.sqrt(1 - t**2)])
    inner = ArcCosine(1)(rows, [[1.0, 0.0]])[:, 0]
    again = np.column_stack([inner, np.sqrt(np.maximum(1 - inner**2, 0))])
    np.testing.assert_allclose(ArcCosine(1, depth=2)(rows, [[1.0, 0.0]]), ArcCosine(1)(again, [[1.0, 0.0]]), atol=1e-9)
    check_kernel(ArcCosine(1, depth=3))


def test_only_layers_of_relu_units_are_stacked():
    with pytest.raises(ValueError, match="depth=2 needs order 1"):
        ArcCosine(0, depth=2)
    with pytest.raises(ValueError, match="depth must be"):
        ArcCosine(1, depth=0)
