"""Homogeneous kernels: the series of f, and the angle after a layer."""

import numpy as np
import pytest
from scipy import sparse

from mercer import ArcCosine, Gaussian
from mercer.kernels import Angular, NeuralTangent
from mercer.kernels.homogeneous import relu_angle, relu_cosine, unit_rows
from mercer.testing import check_kernel

FUNCTIONS = [ArcCosine(0), ArcCosine(1), ArcCosine(2), ArcCosine(1, depth=3), NeuralTangent(1), NeuralTangent(3)]


@pytest.mark.parametrize("kernel", FUNCTIONS, ids=repr)
def test_the_series_is_the_function_and_has_no_negative_coefficient(kernel):
    series, t = Angular(kernel).maclaurin(10_000), np.array([-0.99, -0.5, 0.0, 0.3, 0.99])
    assert series.min() >= 0
    np.testing.assert_allclose(np.polynomial.polynomial.polyval(t, series), Angular(kernel).profile(t), rtol=1e-9)


def test_known_coefficients():
    """1/pi, 1/2, 1/(2 pi) of the first layer; no odd degrees above 1."""
    found = Angular(ArcCosine(1)).maclaurin(6)
    np.testing.assert_allclose(found[:3], [1 / np.pi, 0.5, 1 / (2 * np.pi)], rtol=1e-11)
    assert found[3] == found[5] == 0.0


def test_the_tail_is_what_the_first_degrees_leave():
    unit = Angular(NeuralTangent(3))
    assert unit.tail(0, 1.0) == pytest.approx(1.0)
    assert unit.tail(21, 1.0) == pytest.approx(1 - unit.maclaurin(20).sum())
    assert 0.087 < unit.tail(21, 1.0) < 0.089  # of the design's prototype: 0.088
    assert 0.0027 < Angular(ArcCosine(1, depth=3)).tail(21, 1.0) < 0.003
    assert unit.coefficient(20_000) == 0.0


def test_the_laws_of_the_function_on_unit_rows():
    check_kernel(Angular(NeuralTangent(2)))


def test_angles_after_a_layer():
    theta = np.array([1e-9, 1e-5, 9.99e-4, 1.001e-3, 0.3, np.pi / 2, np.pi])
    np.testing.assert_allclose(np.cos(relu_angle(theta)), relu_cosine(np.cos(theta)), rtol=1e-12, atol=1e-15)
    assert relu_angle(theta)[0] == pytest.approx(1e-9, rel=1e-6)  # small angles hardly change
    assert relu_angle(np.zeros(1))[0] == 0.0


def test_rows_of_zeros_stay():
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(unit_rows(X), [[0.6, 0.8], [0.0, 0.0]])
    np.testing.assert_allclose(unit_rows(sparse.csr_array(X)).toarray(), [[0.6, 0.8], [0.0, 0.0]])


def test_other_kernels_have_no_function_of_the_cosine():
    with pytest.raises(ValueError, match="Angular: kernel must be a homogeneous kernel"):
        Angular(Gaussian(gamma=1.0))
