"""Tensor products of maps: unbiased, with an error that rare collisions cannot hide, and independent members."""

import numpy as np
import pytest

from mercer import (
    Exponential,
    Gaussian,
    Linear,
    LinearFeatures,
    Polynomial,
    QuasiRandomFeatures,
    RandomMaclaurin,
    TensorSketch,
)
from mercer.features import TensorProduct
from mercer.testing import check_feature_map, sample_rows


def test_a_product_of_random_maps_is_unbiased():
    members = [RandomMaclaurin(Exponential(gamma=0.5), n_components=32), TensorSketch(n_components=32)]
    check_feature_map(TensorProduct(members, n_components=32), sklearn_checks=False, variance=False)


def test_the_variance_of_a_product_does_not_wait_for_rare_collisions():
    """On the diagonal <z(x), z(x)> = 1 for the cosines and sines: all of the error is that of buckets that are shared.

    Twelve products in 512 buckets share one in a draw of a hundred. The mean over the hashes of a draw lies within a
    factor of two (the sum of fourth powers of two pairs of cosines and sines is between 1/4 and 1/2), so that two means
    of 200 differ by more than 30 % with probability below 1e-10 (Hoeffding).
    """
    X = np.random.RandomState(0).standard_normal((6, 3))

    def claimed(seed):
        members = [QuasiRandomFeatures(Gaussian(gamma=0.5), n_components=4), LinearFeatures()]
        return np.diag(TensorProduct(members, n_components=512, random_state=seed).fit(X).variance(X))

    np.testing.assert_allclose(claimed(0), claimed(1), rtol=0.3)


def test_its_kernel_is_the_product_of_the_kernels():
    X = sample_rows()
    product = TensorProduct([LinearFeatures(), TensorSketch(Polynomial(3))], n_components=16, random_state=0).fit(X)
    assert product.kernel_ == Linear() * Polynomial(3)
    assert product.transform(X).shape == (len(X), 16)


def test_a_redraw_has_other_hashes_and_the_same_kernel():
    product = TensorProduct([LinearFeatures(), LinearFeatures()], n_components=16, random_state=0).fit(sample_rows())
    other = product.redrawn(np.random.RandomState(1))
    assert other.kernel_ == product.kernel_
    assert not np.array_equal(other.transform(sample_rows()), product.transform(sample_rows()))


def test_a_number_of_features_below_1_is_refused():
    with pytest.raises(ValueError, match=r"TensorProduct: n_components must be an integer >= 1, got 0"):
        TensorProduct([LinearFeatures()], n_components=0).fit(sample_rows())
