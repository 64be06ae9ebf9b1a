"""The map of a normalised kernel."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import LinearFeatures, Normalized, Polynomial, RandomMaclaurin, TensorSketch, feature_map
from mercer.features import Normalize
from mercer.testing import check_feature_map, sample_rows


@parametrize_with_checks([Normalize()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "member",
    [
        TensorSketch(Polynomial(2, coef0=1.0), n_components=16),
        RandomMaclaurin(Polynomial(3, coef0=1.0), n_components=32),
    ],
    ids=repr,
)
def test_mean_variance_and_rate(member):
    check_feature_map(Normalize(member), sklearn_checks=False)


def test_feature_map_finds_it():
    chosen = feature_map(Normalized(Polynomial(2)), 30, random_state=0).fit(sample_rows())
    assert isinstance(chosen, Normalize)
    assert chosen.kernel_ == Normalized(Polynomial(2))


def test_a_row_without_length_has_no_features():
    np.testing.assert_array_equal(Normalize(LinearFeatures()).fit_transform([[0.0, 0.0], [0.0, 2.0]]), [[0, 0], [0, 1]])
