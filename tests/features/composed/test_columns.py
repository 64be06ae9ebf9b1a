"""Maps of scaled and of selected columns, and the choice that waits for the number of columns."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    Cauchy,
    Chi2,
    Columns,
    FourierFeatures,
    Gaussian,
    Laplacian,
    Linear,
    LinearFeatures,
    Matern,
    OrthogonalFeatures,
    Polynomial,
    QuasiRandomFeatures,
    RandomBinning,
    ScaledColumns,
    feature_map,
)
from mercer.features import ScaleColumns, SelectColumns, ShiftInvariantFeatures, TensorProduct
from mercer.testing import check_feature_map, sample_rows

X = 2 * sample_rows(5)
WEIGHTS = [1.0, 2.0, 0.0, 0.5, 3.0]


@parametrize_with_checks([ScaleColumns(), SelectColumns(), ShiftInvariantFeatures()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "kernel",
    [
        ScaledColumns(Polynomial(2, coef0=1.0), WEIGHTS),
        Columns(Polynomial(2), [0, 3]) + 2.0 * Columns(Polynomial(2), [1, 4]),
        ScaledColumns(Gaussian(gamma=0.3), WEIGHTS),
    ],
    ids=repr,
)
def test_the_laws_of_expressions(kernel):
    check_feature_map(feature_map(kernel, 24), X, sklearn_checks=False)


def test_sums_over_disjoint_columns_have_their_kernel():
    kernel = Columns(Gaussian(gamma=0.5), [0, 3]) + Columns(Linear(), [1, 2, 4])
    fitted = feature_map(kernel, 40, random_state=0).fit(X)
    assert fitted.kernel_ == kernel
    check_feature_map(feature_map(kernel, 16), X, sklearn_checks=False, variance=False)


def test_scaling_the_map_is_scaling_the_data():
    inner = OrthogonalFeatures(Gaussian(gamma=0.5), n_components=30)
    scaled = ScaleColumns(inner, weights=WEIGHTS, random_state=0).fit(X)
    again = scaled.map_.transform(X * WEIGHTS)
    np.testing.assert_allclose(scaled.transform(X), again, atol=1e-13)


def test_unresolved_kernels_are_resolved_on_the_transformed_rows():
    fitted = feature_map(Columns(Gaussian(), [1, 2]), 10, random_state=0).fit(X)
    assert fitted.kernel_ == Columns(Gaussian().resolve(X[:, [1, 2]]), [1, 2])


@pytest.mark.parametrize(
    ("kernel", "n_features", "kind"),
    [
        (Gaussian(), 3, QuasiRandomFeatures),
        (Gaussian(), 5, OrthogonalFeatures),
        (Matern(1.5), 80, OrthogonalFeatures),
        (Laplacian(), 4, QuasiRandomFeatures),
        (Laplacian(), 5, FourierFeatures),
        (Gaussian() * Laplacian(), 6, FourierFeatures),
    ],
    ids=repr,
)
def test_the_choice_follows_the_columns(kernel, n_features, kind):
    chosen = feature_map(kernel, 10, random_state=0).fit(sample_rows(4, n_features))
    assert isinstance(chosen.map_, kind)


def test_the_chosen_map_keeps_the_protocol():
    check_feature_map(ShiftInvariantFeatures(Gaussian(gamma=0.5), n_components=16), X, sklearn_checks=False)


def test_a_product_of_shift_invariant_kernels_adds_frequencies():
    product = Gaussian(gamma=0.5) * Columns(Laplacian(gamma=0.5), [0]) * Cauchy(length_scale=1.0)
    chosen = feature_map(2.0 * product, 30, random_state=0).fit(X)
    assert isinstance(chosen.map_.map_, FourierFeatures)
    assert chosen.kernel_ == 2.0 * product
    check_feature_map(feature_map(product, 12), X, sklearn_checks=False)
    mixed = feature_map(Gaussian(gamma=0.5) * Polynomial(2) * Cauchy(length_scale=1.0), 30)
    assert isinstance(mixed, TensorProduct)
    assert len(mixed.maps) == 2
    assert isinstance(feature_map(Laplacian() * Columns(Laplacian(), [0]), 30, method="binning"), RandomBinning)


@pytest.mark.parametrize("method", ["orthogonal", "quasi_random", "fourier", "fastfood"])
def test_named_methods(method):
    kind = feature_map(Matern(1.5), 10, method=method)
    assert type(kind).__name__.lower().startswith(method.replace("_", ""))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ScaleColumns(weights=[1.0, 2.0]),
            r"ScaledColumns: weights must hold one number for each column, got 2 weights",
        ),
        (lambda: SelectColumns(columns=[9]), r"Columns: columns must be below the number of columns of X, got 9 and 5"),
        (lambda: SelectColumns(LinearFeatures(), columns="0"), r"Columns: columns must be a sequence"),
        (lambda: feature_map(Columns(Chi2(), [0, 1])), r"Negative values in data: X holds"),
        (lambda: ShiftInvariantFeatures(Polynomial(2)), r"ShiftInvariantFeatures: kernel must be shift-invariant"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make().fit(X)
