"""The kernel of categories: its laws and values, several columns, its place in the algebra."""

import numpy as np
import pytest

from mercer import Columns, Gaussian, Laplacian, SameCategory
from mercer.testing import check_kernel

CODES = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0], [0.0, 1.0], [3.0, 1.0]])


@pytest.mark.parametrize("offset", [0.0, 0.7])
def test_laws(offset):
    check_kernel(SameCategory(offset=offset), CODES)


def test_rows_are_the_same_where_all_columns_are():
    same = np.array([[np.array_equal(x, y) for y in CODES] for x in CODES])
    np.testing.assert_array_equal(SameCategory()(CODES), same)
    np.testing.assert_array_equal(SameCategory(offset=2.0)(CODES, CODES[:2]), same[:, :2] + 2.0)


def test_the_multitask_kernel(rng):
    X = np.column_stack([rng.randint(3, size=12), rng.standard_normal((12, 2))])
    kernel = Columns(SameCategory(offset=0.5), [0]) * Columns(Gaussian(gamma=1.0), [1, 2])
    expected = (0.5 + (X[:, :1] == X[:, 0])) * Gaussian(gamma=1.0)(X[:, 1:])
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
    assert kernel.with_params(terms_0__kernel__offset=1.0).terms[0].kernel == SameCategory(offset=1.0)


def test_a_negative_offset_is_refused():
    with pytest.raises(ValueError, match="SameCategory: offset must be a finite number >= 0, got -1"):
        SameCategory(offset=-1)


def test_indicators_in_an_l1_laplacian_are_a_kernel_of_categories_in_the_product(rng):
    """So tuned estimators, which try the L1 Laplacian on columns of 0 and 1, try this product as well."""
    codes, numbers, gamma, weight = rng.randint(4, size=30), rng.standard_normal((30, 2)), 0.7, 0.4
    indicators = weight * (codes[:, None] == np.arange(4))
    rho = np.exp(-2 * gamma * weight)  # what two categories have in common
    product = Columns(Laplacian(gamma=gamma), [0, 1]) * Columns(SameCategory(offset=rho / (1 - rho)), [2])
    expected = (1 - rho) * product(np.column_stack([numbers, codes]))
    np.testing.assert_allclose(Laplacian(gamma=gamma)(np.column_stack([numbers, indicators])), expected)
