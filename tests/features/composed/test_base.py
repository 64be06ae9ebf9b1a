"""Maps made of maps: their kernels, moments, budgets and draws."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    Linear,
    LinearFeatures,
    Polynomial,
    TensorSketch,
)
from mercer.features import Concatenate, Rescale, TensorProduct
from mercer.testing import check_feature_map, sample_rows

PAIR = [LinearFeatures(), TensorSketch(Polynomial(3, coef0=1.0))]


@parametrize_with_checks([Concatenate(), TensorProduct(), Rescale()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "composition",
    [
        Concatenate(PAIR, n_components=24),
        Rescale(TensorSketch(n_components=16), scale=3.0),
        Concatenate([Rescale(LinearFeatures(), scale=0.5), Rescale(TensorSketch(), scale=2.0)], n_components=24),
        TensorProduct([LinearFeatures(), LinearFeatures()], n_components=16),
        TensorProduct(
            [Concatenate([LinearFeatures(), Rescale(LinearFeatures(), scale=2.0)]), LinearFeatures()], n_components=15
        ),
    ],
    ids=repr,
)
def test_mean_variance_and_rate(composition):
    check_feature_map(composition, sklearn_checks=False)


def test_kernels_follow_the_members():
    X = sample_rows()
    assert Concatenate(PAIR).fit(X).kernel_ == Linear() + Polynomial(3, coef0=1.0)
    assert TensorProduct(PAIR).fit(X).kernel_ == Linear() * Polynomial(3, coef0=1.0)
    assert Rescale(PAIR[0], scale=2.0).fit(X).kernel_ == 2.0 * Linear()


def test_members_are_cloned_and_drawn_independently_even_with_one_seed():
    X = sample_rows()
    twins = [TensorSketch(n_components=8, random_state=0), TensorSketch(n_components=8, random_state=0)]
    both = TensorProduct(twins, n_components=8, random_state=1).fit(X)
    assert not np.array_equal(both.maps_[0].index_, both.maps_[1].index_)
    assert not hasattr(twins[0], "index_")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Concatenate([]), r"Concatenate: maps must be a list of one or more feature maps, got \[\]"),
        (lambda: TensorProduct([Linear()]), r"TensorProduct: maps must be a list of one or more feature maps"),
        (lambda: Concatenate(PAIR, n_components=1), r"n_components must be an integer >= 2, got 1. Each member needs"),
        (lambda: TensorProduct(PAIR, n_components=0), r"TensorProduct: n_components must be an integer >= 1, got 0"),
        (lambda: Rescale(PAIR[0], scale=-1.0), r"Rescale: scale must be a finite number > 0, got -1.0"),
    ],
)
def test_bad_parameters_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build().fit(sample_rows())
