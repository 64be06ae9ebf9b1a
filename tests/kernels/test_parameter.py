"""The parameter ``kernel`` of estimators."""

import pytest

from mercer import Gaussian, Laplacian, Polynomial
from mercer.kernels.parameter import as_kernel


def test_a_kernel_is_taken_and_none_is_the_natural_one():
    kernel = Laplacian(gamma=2.0)
    assert as_kernel("Owner", kernel, Gaussian()) is kernel
    assert as_kernel("Owner", None, Polynomial(2)) == Polynomial(2)


@pytest.mark.parametrize(
    ("value", "instead"),
    [
        ("rbf", r"Write Gaussian\(gamma=1.0\) \(from mercer import Gaussian\)"),
        ("Poly", r"Write Polynomial\(3, gamma=1.0, coef0=1.0\) \(from mercer import Polynomial\)"),
        ("unheard of", r"got the name 'unheard of'. Write Polynomial\(2, coef0=1.0\)"),
        (3, r"Owner: kernel must be a kernel object such as Gaussian\(\), got 3"),
    ],
)
def test_anything_else_is_refused_with_what_to_write(value, instead):
    with pytest.raises(ValueError, match=instead):
        as_kernel("Owner", value, Gaussian())
