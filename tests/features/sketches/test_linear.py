"""The linear kernel's map: exact where it fits, a count sketch where not."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import LinearFeatures, Polynomial
from mercer.testing import check_feature_map, sample_rows


@parametrize_with_checks([LinearFeatures()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_components", [2, 4])
def test_the_sketch(n_components):
    check_feature_map(LinearFeatures(n_components=n_components), sample_rows(6, 80), sklearn_checks=False)


def test_exact_where_the_columns_fit():
    X = sample_rows()
    exact = LinearFeatures(n_components=100).fit(X)
    np.testing.assert_array_equal(exact.transform(X), X)
    assert not exact.variance(X).any()


def test_another_kernel_is_refused():
    with pytest.raises(ValueError, match=r"LinearFeatures: kernel must be Linear\(\), got Polynomial\(2\)"):
        LinearFeatures(Polynomial(2)).fit(sample_rows())
