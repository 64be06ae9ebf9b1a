"""Low-order kernels: the sum over sets of columns, limits of the order, the algebra, and bad input."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, Laplacian, Linear, Matern, ScaledColumns, parse_kernel
from mercer.kernels import LowOrder
from mercer.kernels.frequencies import frequency_distribution
from mercer.testing import check_kernel


@pytest.fixture
def rows(rng):
    return rng.standard_normal((5, 4))


@pytest.mark.parametrize("inner", [Gaussian(gamma=0.3), Laplacian(gamma=0.5), Matern(1.5, length_scale=1.0)], ids=repr)
def test_it_is_the_mean_over_random_sets_of_columns(rows, inner):
    kernel, p = LowOrder(inner, order=1.5), 1.5 / 4
    expected = np.zeros((5, 5))
    for kept in product([False, True], repeat=4):
        share = np.prod([p if taken else 1 - p for taken in kept])
        terms = [inner(rows[:, [j]]) for j in np.flatnonzero(kept)]
        expected += share * np.prod([np.ones((5, 5)), *terms], axis=0)
    np.testing.assert_allclose(kernel(rows), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(sparse.csr_array(rows)), expected, rtol=1e-12)
    check_kernel(kernel)


def test_an_order_of_all_columns_is_the_product(rows):
    np.testing.assert_allclose(LowOrder(Gaussian(gamma=0.3), order=9.0)(rows), Gaussian(gamma=0.3)(rows))


def test_the_bandwidth_is_found_on_the_rows(rows):
    kernel = LowOrder(Gaussian(gamma="median")).resolve(rows)
    assert kernel == LowOrder(Gaussian(gamma="median").resolve(rows))
    assert parse_kernel(repr(kernel)) == kernel


def test_one_column_alone_brings_the_kernel_down_to_1_minus_p():
    half = frequency_distribution(LowOrder(Gaussian(gamma=1.0), order=2.0), 4)
    assert np.isinf(half.reaches(0.4)).all()
    # 1/2 + exp(-r^2) / 2 = 0.75
    np.testing.assert_allclose(half.reaches(0.75), np.sqrt(np.log(2)) * np.ones(4), rtol=1e-6)
    np.testing.assert_allclose(half.column_variances, 0.5 * 2.0)


@pytest.mark.parametrize("params", [{"kernel": Linear()}, {"kernel": ScaledColumns(Gaussian(), [1.0])}])
def test_other_kernels_are_refused_in_words(params):
    with pytest.raises(ValueError, match="LowOrder: kernel must be a shift-invariant kernel of one column"):
        LowOrder(**params)
    with pytest.raises(ValueError, match="LowOrder: order must be a finite number > 0, got 0"):
        LowOrder(Gaussian(), order=0)
