"""A choice of the search is a kernel of scaled rows: the inner kernel of rows times the metric."""

import numpy as np
import pytest

from mercer.learners.local.choice import FAMILIES, Choice


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("metric", ["diagonal", "full", "no"])
def test_the_kernel_is_the_inner_kernel_of_transformed_rows(family, metric):
    if (family, metric) == ("L1 Laplace", "full"):
        pytest.skip("L1 distances are not taken of rotated columns")
    rng = np.random.RandomState(0)
    rows, transform = rng.randn(6, 3), np.diag([0.5, 1.0, 2.0])
    if metric == "full":
        transform = transform @ np.linalg.qr(rng.randn(3, 3))[0]
    choice = Choice(metric, family, scale=1.7, alpha=0.1)
    np.testing.assert_allclose(choice.kernel(transform)(rows), choice.inner(rows @ transform), rtol=1e-12, atol=1e-15)
    assert not np.allclose(choice.kernel(transform)(rows), choice.inner(rows))


def test_a_choice_says_what_it_is_in_words():
    choice = Choice("full", "Laplace", 5.6, 0.0316)
    assert str(choice) == "Laplace, full metric, scale 5.6, alpha 0.0316"
    assert choice.described == {"metric": "full", "kernel": "Laplace, scale 5.6", "alpha": "0.0316"}
