"""Dot-product kernels: values, Maclaurin coefficients, domains."""

import math

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, sigmoid_kernel

from mercer import DotProduct, Exponential, Linear, Polynomial, Sigmoid, VovkInfinite, VovkPolynomial
from mercer.testing import check_kernel


def _cosh_coefficient(n):
    return 0.0 if n % 2 else 1 / math.factorial(n)


KERNELS = [
    Linear(),
    Polynomial(1),
    Polynomial(2),
    Polynomial(5, gamma=0.5, coef0=2.0),
    Exponential(gamma=0.7),
    VovkPolynomial(1),
    VovkPolynomial(4),
    VovkInfinite(),
    DotProduct(np.cosh, _cosh_coefficient),
    DotProduct(lambda t: 1 + t**3, [1.0, 0.0, 0.0, 1.0]),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_the_laws(kernel):
    check_kernel(kernel)


def test_sigmoid_evaluates():
    check_kernel(Sigmoid(gamma=0.5, coef0=-0.2), positive_definite=False)


@pytest.mark.parametrize(
    "kernel", [*KERNELS, Sigmoid(gamma=0.5, coef0=0.3), Sigmoid()], ids=lambda kernel: type(kernel).__name__
)
def test_the_series_is_the_function(kernel):
    t = np.array([-0.3, 0.0, 0.2, 0.4])
    series = np.polynomial.polynomial.polyval(t, kernel.maclaurin(60))
    np.testing.assert_allclose(series, kernel.profile(t.copy()), rtol=1e-12, atol=1e-15)
    assert len(kernel.maclaurin(60)) == 61


def test_values_against_scikit_learn(rng):
    X, Y = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    ours = Polynomial(3, gamma=0.5, coef0=2.0)(X, Y)
    np.testing.assert_allclose(ours, polynomial_kernel(X, Y, degree=3, gamma=0.5, coef0=2.0), rtol=1e-12)
    np.testing.assert_allclose(Sigmoid(gamma=0.5, coef0=1.0)(X, Y), sigmoid_kernel(X, Y, gamma=0.5, coef0=1.0))


def test_vovk_at_one_is_the_degree():
    assert VovkPolynomial(5)([[1.0]])[0, 0] == 5.0


def test_vovk_infinite_refuses_rows_outside_its_domain():
    with pytest.raises(
        ValueError, match=r"defined for \|<x, y>\| < 1 only, and these rows reach 4. Multiply X by less"
    ):
        VovkInfinite()([[2.0]])


def test_a_users_function_is_compared_by_identity():
    def f(t):
        return 1 + t

    def g(t):
        return 1 + t

    assert DotProduct(f, [1, 1]) == DotProduct(f, (1.0, 1.0))
    assert DotProduct(f, [1, 1]) != DotProduct(g, [1, 1])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Polynomial(0), r"Polynomial: degree must be an integer >= 1, got 0"),
        (lambda: Polynomial(2.5), r"degree must be an integer >= 1, got 2.5"),
        (lambda: Polynomial(True), r"degree must be an integer >= 1, got True"),
        (lambda: Polynomial(2, gamma=0.0), r"gamma must be a finite number > 0, got 0.0"),
        (lambda: Polynomial(2, gamma="scale"), r"gamma must be a finite number > 0, got 'scale'"),
        (lambda: Polynomial(2, coef0=-1.0), r"coef0 must be a finite number >= 0, got -1.0. A negative coef0 gives"),
        (lambda: Exponential(gamma=-1.0), r"Exponential: gamma must be a finite number > 0"),
        (lambda: VovkPolynomial(0), r"VovkPolynomial: degree must be an integer >= 1"),
        (lambda: DotProduct("exp", [1.0]), r"DotProduct: f must be a function of an array, got 'exp'"),
        (lambda: DotProduct(np.exp, [1.0, 1.0]), r"f and coefficients disagree"),
    ],
)
def test_bad_parameters_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
