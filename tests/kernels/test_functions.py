"""Composed and normalised kernels."""

import numpy as np
import pytest

from mercer import Composed, Exponential, Gaussian, Linear, Normalized, Polynomial, Sigmoid
from mercer.testing import check_kernel


@pytest.mark.parametrize(
    "kernel",
    [
        Composed(Exponential(gamma=0.5), Gaussian(gamma=1.0)),
        Composed(Polynomial(2, coef0=1.0), Linear() + Gaussian(gamma=1.0)),
        Normalized(Polynomial(3, coef0=1.0)),
        Normalized(Linear() + Exponential(gamma=0.5)),
    ],
    ids=repr,
)
def test_the_laws(kernel):
    check_kernel(kernel)


def test_composed_with_linear_is_the_dot_product_kernel(rng):
    X = rng.standard_normal((4, 3))
    np.testing.assert_allclose(Composed(Polynomial(3, coef0=1.0), Linear())(X), Polynomial(3, coef0=1.0)(X))


def test_normalized_by_its_definition(rng):
    X = rng.standard_normal((4, 3))
    K = Polynomial(2, coef0=1.0)(X)
    lengths = np.sqrt(np.diag(K))
    np.testing.assert_allclose(Normalized(Polynomial(2, coef0=1.0))(X), K / np.outer(lengths, lengths))


def test_a_row_without_length_is_zero_not_nan():
    K = Normalized(Linear())([[0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_array_equal(K, [[0.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Composed(Sigmoid(), Linear()), r"Sigmoid\(\) has the Maclaurin coefficient a_3 = -0.333333"),
        (lambda: Composed(np.exp, Linear()), r"f must be a dot-product kernel such as Exponential"),
        (lambda: Composed(Linear(), np.exp), r"Composed: inner must be a kernel, got"),
        (lambda: Normalized("linear"), r"Normalized: kernel must be a kernel, got 'linear'"),
    ],
)
def test_bad_parameters_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
