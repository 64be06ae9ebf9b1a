"""The error that a fitted map claims for rows it may not have met, against independent draws of the whole map."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from mercer import (
    MEKA,
    AdditiveFeatures,
    CategoryFeatures,
    Cauchy,
    Composed,
    Exponential,
    Fastfood,
    FourierFeatures,
    Gaussian,
    KitchenSinks,
    LinearFeatures,
    Matern,
    Nystroem,
    OrthogonalFeatures,
    Polynomial,
    QuasiRandomFeatures,
    RandomBinning,
    RandomMaclaurin,
    SameCategory,
    SplitSketch,
    TensorSketch,
    feature_map,
)
from mercer.features import (
    Concatenate,
    ExponentialChi2Features,
    FeatureMap,
    HomogeneousFeatures,
    InducedFeatures,
    Normalize,
    Rescale,
    ScaleColumns,
    SeededBlocks,
    SelectColumns,
    ShiftInvariantFeatures,
    TensorProduct,
    Widened,
    base,
)
from mercer.features.sketches.scalar_draws import _table, register_scalar
from mercer.kernels import NeuralTangent, StationaryKernel
from mercer.testing import assert_mean_close, sample_rows
from mercer.testing.estimators import public_classes

FEW, SOME, MANY = 3, 8, 70  # columns: for Sobol points, for an exact rotation, for a structured one

# Every public map, with what it finds in the rows of fit: a bandwidth, an anchor, shares of features, categories.
MAPS = [
    (FourierFeatures(n_components=16), FEW),
    (OrthogonalFeatures(n_components=16), FEW),
    (OrthogonalFeatures(n_components=16), SOME),
    (OrthogonalFeatures(n_components=64), MANY),
    (OrthogonalFeatures(Matern(1.5), n_components=16), SOME),
    (QuasiRandomFeatures(n_components=16), FEW),
    (Fastfood(n_components=16), SOME),
    (ShiftInvariantFeatures(n_components=16), FEW),
    (ShiftInvariantFeatures(n_components=64), MANY),
    (ShiftInvariantFeatures(Cauchy(length_scale="median"), n_components=16), SOME),
    (RandomBinning(n_components=16), FEW),
    (KitchenSinks(n_components=16), FEW),
    (KitchenSinks("squared_relu", n_components=64), FEW),
    (TensorSketch(n_components=16), FEW),
    (TensorSketch(Gaussian(), n_components=24), SOME),
    (SplitSketch(Polynomial(3, coef0=0.5), n_components=24), SOME),
    (RandomMaclaurin(Exponential(gamma=0.5), n_components=16), FEW),
    (RandomMaclaurin(Composed(Exponential(gamma=0.5), Gaussian()), n_components=16), FEW),
    (HomogeneousFeatures(NeuralTangent(2), n_components=64), SOME),
    (InducedFeatures(Gaussian(), TensorSketch(n_components=64), n_components=16), FEW),
    (AdditiveFeatures(n_components=9), FEW),
    (AdditiveFeatures(n_components=4), SOME),
    (ExponentialChi2Features(n_components=16), FEW),
    (CategoryFeatures(SameCategory(offset=0.5), n_components=3), FEW),
    (CategoryFeatures(SameCategory(offset=0.5), n_components=1), FEW),
    (LinearFeatures(n_components=4), SOME),
    (Concatenate([FourierFeatures(n_components=8), QuasiRandomFeatures(n_components=8)]), FEW),
    (Concatenate([TensorSketch(Gaussian(), n_components=12), SplitSketch(Polynomial(3), n_components=12)]), SOME),
    (Rescale(QuasiRandomFeatures(n_components=8), scale=3.0), FEW),
    (Normalize(TensorSketch(Exponential(gamma=0.5), n_components=16)), SOME),
    (Normalize(TensorProduct([QuasiRandomFeatures(n_components=8), LinearFeatures()], n_components=16)), FEW),
    (ScaleColumns(QuasiRandomFeatures(n_components=8), weights=[1.0, 2.0, 0.5]), FEW),
    (SelectColumns(Fastfood(n_components=8), columns=[0, 2]), FEW),
    (Widened(Fastfood(n_components=8), error=None), FEW),
    (TensorProduct([QuasiRandomFeatures(n_components=16), LinearFeatures()], n_components=64), FEW),
    (TensorProduct([OrthogonalFeatures(Matern(1.5), n_components=8), LinearFeatures()], n_components=64), SOME),
    (TensorProduct([AdditiveFeatures(n_components=9), LinearFeatures()], n_components=16), FEW),
    (TensorProduct([TensorSketch(Gaussian(), n_components=12), KitchenSinks(n_components=8)], n_components=32), SOME),
    (TensorProduct([CategoryFeatures(n_components=4), SplitSketch(n_components=12)], n_components=32), FEW),
    (
        TensorProduct(
            [Concatenate([LinearFeatures(), Rescale(QuasiRandomFeatures(n_components=4), scale=2.0)]), TensorSketch()],
            n_components=32,
        ),
        FEW,
    ),
]


def _rows(n_features):
    """Return rows to fit on, and others: two of them shrunk, so that a bandwidth found on these would be another."""
    rng = np.random.RandomState(n_features)
    X = np.round(rng.rand(20, n_features), 1)
    return X, np.vstack([0.3 * X[:2], X[2]])


def _check_claim(monkeypatch, feature_map, X, Y, n_draws=150):
    """Compare the claims of maps drawn independently with their own squared errors, at a false alarm of 1e-6.

    Claims are closed forms, all the same, or here squared errors of one re-draw each: their noise is in the sample. The
    sample is large enough to see an error of the claim by a factor of 3.5.
    """
    monkeypatch.setattr(base, "_REDRAWS", 1)
    one = clone(feature_map).set_params(random_state=0).fit(X)
    K, closed = one.kernel_(Y), one.exact_variance(Y, Y) is not None
    claims, errors = [], []
    for seed in range(n_draws):
        fitted = clone(feature_map).set_params(random_state=seed).fit(X)
        Z = fitted.transform(Y)
        claims.append((one if closed else fitted).variance(Y))
        errors.append((Z @ Z.T - K) ** 2)
    size = np.mean(claims, axis=0)
    assert_mean_close(np.subtract(errors, claims) + size, size, detect=2.5, atol=1e-14)


@pytest.mark.parametrize(("feature_map", "n_features"), MAPS, ids=lambda value: repr(value).replace("\n", " "))
def test_the_claim_is_the_error_over_independent_draws(monkeypatch, feature_map, n_features):
    _check_claim(monkeypatch, feature_map, *_rows(n_features))


def test_every_public_map_is_tried():
    tried = {type(feature_map) for feature_map, _ in MAPS}
    with_tests_of_their_own = {Nystroem, MEKA, SeededBlocks}
    assert set(public_classes(FeatureMap).values()) - tried == with_tests_of_their_own


def test_the_default_map_claims_its_own_error_on_rows_closer_than_those_of_fit():
    """Rows at 0.3 of the distances of ``fit``: a bandwidth found on them would claim 0.33 for 5e-6."""
    X = np.random.RandomState(0).rand(400, 3)
    Y = 0.3 * X[:3]
    fitted = feature_map(Gaussian(), 64, random_state=0).fit(X)
    K = fitted.kernel_(Y)
    draws = [feature_map(fitted.kernel_, 64, random_state=seed).fit(X).transform(Y) for seed in range(200)]
    errors = np.mean([(Z @ Z.T - K) ** 2 for Z in draws], axis=0)
    assert 0.5 < fitted.variance(Y)[0, 1] / errors[0, 1] < 2


def test_the_error_of_meka_is_that_of_its_fit():
    """Clusters, landmarks and links are learned: nothing of them is found anew on the rows asked about."""
    X = np.random.RandomState(0).rand(60, 3)
    meka = MEKA(Gaussian(), n_clusters=2, rank=4, random_state=0).fit(X)
    Y = 0.3 * X[:3]
    Z = meka.transform(Y)
    np.testing.assert_allclose(meka.variance(Y), (Z @ Z.T - meka.kernel_(Y)) ** 2, rtol=1e-9)


def test_landmarks_are_kept_in_re_draws_of_a_product():
    """The error of a product with Nystroem is that of the sketch and of the landmarks that ``fit`` chose."""
    X = np.random.RandomState(0).rand(80, 3)
    members = [Nystroem(Gaussian(), n_components=6), LinearFeatures()]
    fitted = TensorProduct(members, n_components=32, random_state=0).fit(X)
    Y = 0.3 * X[:3]
    estimates = []
    for seed in range(200):
        other = fitted.redrawn(np.random.RandomState(seed))
        assert other.maps_[0] is fitted.maps_[0]
        Z = other.transform(Y)
        estimates.append(Z @ Z.T)
    exact = [member.transform(Y) for member in fitted.maps_]
    mean = np.prod([Z @ Z.T for Z in exact], axis=0)
    assert_mean_close(estimates, mean)
    assert np.all(fitted.variance(Y) > (mean - fitted.kernel_(Y)) ** 2)


def test_a_member_without_a_closed_form_is_not_taken_for_an_exact_one():
    """With few Sobol points and a wide sketch nearly all of the error is the member's: a tenth used to be claimed."""
    X = np.random.RandomState(0).randn(6, 3)
    members = [QuasiRandomFeatures(Gaussian(gamma=0.5), n_components=4), LinearFeatures()]
    product = TensorProduct(members, n_components=512, random_state=0).fit(X)
    draws = [clone(product).set_params(random_state=seed).fit_transform(X) for seed in range(200)]
    errors = np.mean([(Z @ Z.T - product.kernel_(X)) ** 2 for Z in draws], axis=0)
    assert 0.5 < np.median(product.variance(X) / errors) < 2


def test_a_member_that_happens_to_be_right_on_the_rows_is_not_taken_for_an_exact_one():
    """Fourier pairs know k(x, x) = 1 without error, but the error of their product depends on which were drawn."""
    x = np.array([[1.0, 2.0, 0.5]])
    fourier = FourierFeatures(Gaussian(gamma=0.5), n_components=2)
    assert fourier.fit(x).variance(x).item() == 0
    assert TensorProduct([fourier, LinearFeatures()]).fit(x).exact_variance(x, x) is None


def test_a_composed_kernel_without_closed_moments_is_re_drawn_with_its_own_bandwidth(monkeypatch):
    """A user's scalar map without a variance: re-draws must keep the inner bandwidth of ``fit``."""

    class Unknown(FourierFeatures):
        def exact_variance(self, X, Y):
            return None

    monkeypatch.setitem(_table, StationaryKernel, None)
    register_scalar(StationaryKernel, lambda kernel, n: Unknown(kernel, n_components=n, pairs=False))
    composed = RandomMaclaurin(Composed(Polynomial(2, coef0=0.5), Gaussian()), n_components=8)
    _check_claim(monkeypatch, composed, *_rows(FEW))


def test_categories_that_fit_did_not_see_count_what_they_lose():
    codes = np.array([[0.0], [1.0], [2.0]])
    exact = CategoryFeatures(SameCategory(offset=0.5)).fit(codes)
    rows = np.array([[0.0], [8.0], [9.0]])
    Z = exact.transform(rows)
    np.testing.assert_allclose(exact.variance(rows), (Z @ Z.T - exact.kernel_(rows)) ** 2, atol=1e-15)
    assert exact.variance(rows)[1, 1] == 1


def test_biases_of_members_add_before_they_are_squared():
    """Two deterministic members, both too low: the squared error of the sum is not the sum of the squared errors."""
    X = np.random.RandomState(0).dirichlet(np.ones(4), size=5)
    both = Concatenate([AdditiveFeatures(n_components=12), Rescale(AdditiveFeatures(n_components=12), scale=2.0)])
    Z = both.fit_transform(X)
    np.testing.assert_allclose(both.variance(X), (Z @ Z.T - both.kernel_(X)) ** 2, atol=1e-15)


def test_a_truncated_series_of_random_maclaurin_counts_what_it_leaves_out(monkeypatch):
    cut = RandomMaclaurin(Exponential(gamma=2.0), n_components=64, max_degree=1)
    _check_claim(monkeypatch, cut, sample_rows(), sample_rows())


def test_re_draws_do_not_warn_again():
    with pytest.warns(UserWarning, match="structured=True is biased below 64 columns"):
        structured = OrthogonalFeatures(Gaussian(gamma=1.0), n_components=8, structured=True).fit(sample_rows())
    structured.variance(sample_rows())  # warnings are errors here


def test_sparse_rows_have_the_error_of_dense_ones():
    X, Y = _rows(FEW)
    for member in (TensorSketch(Gaussian(), n_components=24), CategoryFeatures(n_components=3), LinearFeatures()):
        fitted = member.set_params(random_state=0).fit(X)
        np.testing.assert_allclose(fitted.variance(sparse.csr_array(Y)), fitted.variance(Y), atol=1e-12)


def test_other_columns_than_those_of_fit_are_refused():
    K = np.exp(-np.square(np.subtract.outer(np.arange(30.0), np.arange(30.0))) / 50)
    for fitted, width in [
        (Nystroem("precomputed", n_components=5, random_state=0).fit(K), 4),
        (TensorSketch().fit(K), 31),
    ]:
        with pytest.raises(ValueError, match=rf"X has {width} columns, and the map was fitted on 30"):
            fitted.variance(np.ones((2, width)))
