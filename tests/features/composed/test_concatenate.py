"""Concatenated maps: the budget and how the members share it."""

import numpy as np
import pytest

from mercer import Linear, LinearFeatures, Polynomial, TensorSketch
from mercer.features import Concatenate
from mercer.testing import sample_rows


def test_the_budget_is_shared_and_what_one_does_not_need_goes_to_the_others():
    X = sample_rows(4, 5)
    both = Concatenate([TensorSketch(), LinearFeatures(), TensorSketch()], n_components=26).fit(X)
    assert [member.n_features_out_ for member in both.maps_] == [10, 5, 11]
    assert both.transform(X).shape == (4, 26)
    assert Concatenate([TensorSketch(n_components=3), LinearFeatures()]).fit_transform(X).shape == (4, 8)


def test_features_are_those_of_the_members_side_by_side():
    X = sample_rows()
    both = Concatenate([LinearFeatures(), TensorSketch(Polynomial(2), n_components=6)], random_state=0).fit(X)
    assert both.kernel_ == Linear() + Polynomial(2)
    parts = [member.transform(X) for member in both.maps_]
    np.testing.assert_array_equal(both.transform(X), np.hstack(parts))


def test_a_budget_below_the_number_of_members_is_refused():
    with pytest.raises(ValueError, match=r"n_components must be an integer >= 2, got 1. Each member needs"):
        Concatenate([LinearFeatures(), LinearFeatures()], n_components=1).fit(sample_rows())
