"""Maps made of maps: their kernels, moments, budgets and draws."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

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


def test_a_product_of_random_maps_is_unbiased():
    members = [RandomMaclaurin(Exponential(gamma=0.5), n_components=32), TensorSketch(n_components=32)]
    check_feature_map(TensorProduct(members, n_components=32), sklearn_checks=False, variance=False)


def test_the_variance_by_redraws_agrees_with_the_closed_form(monkeypatch):
    X = sample_rows(3)
    closed = TensorSketch(n_components=8, random_state=0).fit(X)
    exact = closed.variance(X)
    monkeypatch.setattr(TensorSketch, "exact_variance", lambda self, X, Y: None)
    estimated = closed.variance(X)
    # 200 squared errors whose own spread is about three times their mean (heavy tails of a product)
    np.testing.assert_allclose(estimated, exact, rtol=6 * 3 / np.sqrt(200))


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


def test_kernels_follow_the_members():
    X = sample_rows()
    assert Concatenate(PAIR).fit(X).kernel_ == Linear() + Polynomial(3, coef0=1.0)
    assert TensorProduct(PAIR).fit(X).kernel_ == Linear() * Polynomial(3, coef0=1.0)
    assert Rescale(PAIR[0], scale=2.0).fit(X).kernel_ == 2.0 * Linear()


def test_the_budget_is_shared_and_what_one_does_not_need_goes_to_the_others():
    X = sample_rows(4, 5)
    both = Concatenate([TensorSketch(), LinearFeatures(), TensorSketch()], n_components=26).fit(X)
    assert [member.n_features_out_ for member in both.maps_] == [10, 5, 11]
    assert both.transform(X).shape == (4, 26)
    assert Concatenate([TensorSketch(n_components=3), LinearFeatures()]).fit_transform(X).shape == (4, 8)


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
