"""From a kernel expression to its map."""

import numpy as np
import pytest

from mercer import (
    ArcCosine,
    Cauchy,
    Chi2,
    Exponential,
    ExponentialPower,
    Gaussian,
    Laplacian,
    Linear,
    LinearFeatures,
    Matern,
    Polynomial,
    RandomMaclaurin,
    RationalQuadratic,
    Sigmoid,
    TensorSketch,
    feature_map,
)
from mercer.features import Concatenate, Rescale, TensorProduct, dispatch, methods_for, register_map
from mercer.kernels import Columns, Kernel, Spectrum
from mercer.testing import check_feature_map, sample_rows

KERNELS = [
    ArcCosine(1),
    Cauchy(),
    Chi2(),
    Exponential(gamma=1.0),
    ExponentialPower(0.7),
    ExponentialPower(1.5),
    Gaussian(),
    Laplacian(),
    Linear(),
    Matern(0.5),
    Matern(1.5),
    Polynomial(3),
    RationalQuadratic(1.0),
]


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        (Linear(), LinearFeatures),
        (Polynomial(3), TensorSketch),
        (Exponential(gamma=1.0), RandomMaclaurin),
        (Linear() + Polynomial(2), Concatenate),
        (2.0 * Linear(), Rescale),
        (Linear() * Polynomial(2), TensorProduct),
    ],
    ids=repr,
)
def test_the_kind_of_map_follows_the_kernel(kernel, kind):
    chosen = feature_map(kernel, 40, random_state=0)
    assert isinstance(chosen, kind)
    assert chosen.fit(sample_rows()).kernel_ == kernel


def test_a_deep_expression_is_unbiased_with_its_variance():
    kernel = 2.0 * (Linear() + 0.5 * Polynomial(2, coef0=1.0))
    check_feature_map(feature_map(kernel, 32), sklearn_checks=False)


def test_a_product_inside_a_sum_is_unbiased():
    kernel = Linear() + 0.5 * Linear() * Exponential(gamma=0.5)
    check_feature_map(feature_map(kernel, 48), sklearn_checks=False, variance=False)


def test_the_budget_bounds_the_whole_output():
    X = sample_rows(3, 5)
    kernel = Linear() + 0.5 * Polynomial(2) * Linear() + Exponential(gamma=1.0)
    assert feature_map(kernel, 100).fit_transform(X).shape == (3, 100)


def test_a_named_method():
    assert isinstance(feature_map(Polynomial(2), method="maclaurin"), RandomMaclaurin)
    assert methods_for(Polynomial(2)) == ["tensor_sketch", "split_sketch", "maclaurin", "nystroem"]
    with pytest.raises(
        ValueError,
        match=r"method must be 'auto' or one of \['tensor_sketch', 'split_sketch', 'maclaurin', 'nystroem'\]",
    ):
        feature_map(Polynomial(2), method="fourier")


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_methods_are_those_that_can_be_drawn(kernel):
    """On one column, where every kernel that has grids has them."""
    X = np.abs(sample_rows(8, 1))
    drawn = []
    for name in [*dispatch._row(kernel), "nystroem"]:
        try:
            feature_map(kernel, 8, method=name, random_state=0).fit(X)
        except ValueError:
            continue
        drawn.append(name)
    assert methods_for(kernel) == drawn


def test_what_is_not_listed_says_why_when_it_is_named():
    assert "binning" not in methods_for(Gaussian())
    with pytest.raises(
        ValueError, match=r"Gaussian\(.*has no distribution of grid pitches: the distribution would have to be"
    ):
        feature_map(Gaussian(), method="binning").fit(sample_rows())


def test_one_seed_one_map():
    X = sample_rows()
    first, second = (feature_map(Linear() + Polynomial(2), 20, random_state=5).fit_transform(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


class _Identity(Kernel):
    def evaluate(self, X, Y):
        return X @ Y.T

    def evaluate_diag(self, X):
        return (X**2).sum(axis=1)


def test_a_new_row_serves_a_new_kernel(monkeypatch):
    monkeypatch.setattr(dispatch, "_table", dict(dispatch._table))
    with pytest.raises(ValueError, match="no map is known for _Identity"):
        feature_map(_Identity())
    register_map(_Identity, "own", lambda kernel, n: LinearFeatures(n_components=n))
    assert isinstance(feature_map(_Identity()), LinearFeatures)


def test_what_has_no_map_is_refused_with_the_reason():
    with pytest.raises(ValueError, match=r"Sigmoid\(\) has no feature map: its Maclaurin coefficient a_3 = -0.333333"):
        feature_map(Linear() + Sigmoid())
    with pytest.raises(ValueError, match=r"got the name 'poly'. Write Polynomial\(3, gamma=1.0, coef0=1.0\)"):
        feature_map("poly")


def test_landmarks_may_be_objects_and_columns_are_of_numbers():
    made = feature_map(Spectrum(2), 2, method="nystroem", random_state=0)
    assert made.fit_transform(["abab", "bcbc", "abbc"]).shape == (3, 2)
    with pytest.raises(ValueError, match="must compare rows of numbers"):
        Columns(Spectrum(2), [0])
