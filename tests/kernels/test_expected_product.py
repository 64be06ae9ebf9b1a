"""The kernel of a random feature function: it stands in expressions and has no values."""

import numpy as np
import pytest

from mercer import Gaussian, KitchenSinks, Linear, feature_map
from mercer.kernels import ExpectedProduct


def test_it_has_no_values_and_says_what_to_compare_with():
    kernel = Linear() + ExpectedProduct("sigmoid", None)
    assert repr(kernel) == "Linear() + ExpectedProduct('sigmoid', None)"
    with pytest.raises(ValueError, match=r"ExpectedProduct\('sigmoid', None\) has no closed form. .*KitchenSinks\(phi"):
        kernel(np.eye(2))
    with pytest.raises(ValueError, match="has no closed form"):
        kernel.diag(np.eye(2))


def test_its_map_is_a_kitchen_sink_of_the_same_function_and_distribution():
    chosen = feature_map(ExpectedProduct(np.tanh, Gaussian(gamma=0.5)), 16)
    assert isinstance(chosen, KitchenSinks)
    assert (chosen.phi, chosen.distribution) == (np.tanh, Gaussian(gamma=0.5))


@pytest.mark.parametrize(
    ("phi", "distribution", "message"),
    [
        (3, None, r"ExpectedProduct: phi must be a function or the name of one, got 3"),
        ("relu", "normal", r"ExpectedProduct: distribution must be a kernel, a function or None, got 'normal'"),
    ],
)
def test_bad_parameters_are_named(phi, distribution, message):
    with pytest.raises(ValueError, match=message):
        ExpectedProduct(phi, distribution)
