"""Maps of histogram kernels: the error falls with the order, Hellinger's is 0."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    AdditiveFeatures,
    Chi2,
    ExponentialChi2,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    feature_map,
)
from mercer.features import ExponentialChi2Features
from mercer.testing import assert_mean_close, check_feature_map

X = np.random.RandomState(0).dirichlet(np.full(6, 0.5), size=20)
X[X < 0.02] = 0


@parametrize_with_checks([AdditiveFeatures(), AdditiveFeatures(Hellinger()), ExponentialChi2Features()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "feature_map",
    [
        AdditiveFeatures(Chi2(), n_components=30),
        ExponentialChi2Features(n_components=11),
        AdditiveFeatures(n_components=4),
    ],
    ids=repr,
)
def test_the_protocol(feature_map):
    closed = isinstance(feature_map, AdditiveFeatures)  # re-draws are tested with those of all maps
    check_feature_map(feature_map, X[:6], n_draws=100, sklearn_checks=False, unbiased=False, variance=closed)


# Worst absolute error on these rows at orders 1, 3 and 5, with a factor 1.5 to spare.
@pytest.mark.parametrize(
    ("kernel", "worst"),
    [(Chi2(), (0.065, 0.013, 0.0035)), (JensenShannon(), (0.04, 0.006, 0.0015)), (Intersection(), (0.2, 0.13, 0.1))],
    ids=repr,
)
def test_the_error_falls_with_the_order(kernel, worst):
    for order, bound in zip((1, 3, 5), worst, strict=True):
        fitted = AdditiveFeatures(kernel, n_components=6 * (2 * order + 1)).fit(X)
        assert fitted.order_ == order
        Z = fitted.transform(X)
        error = Z @ Z.T - kernel(X)
        assert np.abs(error).max() < bound
        np.testing.assert_allclose(fitted.variance(X), error**2, atol=1e-12)


def test_half_the_error_of_scikit_learns_steps():
    uniform = np.random.RandomState(1).random_sample((40, 6))
    for rows in (X, uniform):
        K = Chi2()(rows)
        for order in (1, 2):
            ours = AdditiveFeatures(Chi2(), n_components=6 * (2 * order + 1)).fit_transform(rows)
            theirs = AdditiveChi2Sampler(sample_steps=order + 1).fit_transform(rows)
            assert theirs.shape == ours.shape
            assert np.linalg.norm(ours @ ours.T - K) < 0.6 * np.linalg.norm(theirs @ theirs.T - K)


def test_hellinger_is_exact_with_one_feature_a_column():
    fitted = AdditiveFeatures(Hellinger(), n_components=100).fit(X)
    Z = fitted.transform(sparse.csr_array(X))
    assert Z.shape == X.shape
    np.testing.assert_allclose(Z, np.sqrt(X), atol=1e-15)
    assert fitted.variance(X).max() < 1e-25


def test_fewer_features_than_columns_are_a_sketch_with_its_variance():
    estimates = []
    for seed in range(400):
        fitted = AdditiveFeatures(Hellinger(), n_components=4, random_state=seed).fit(X[:5])
        Z = fitted.transform(X[:5])
        estimates.append(Z @ Z.T)
    upper = np.triu_indices(5)
    K = Hellinger()(X[:5])
    assert_mean_close(np.array(estimates)[:, *upper], K[upper])
    assert_mean_close((np.array(estimates) - K)[:, *upper] ** 2, fitted.variance(X[:5])[upper])


def test_feature_map_knows_them():
    assert isinstance(feature_map(Intersection(), 60), AdditiveFeatures)
    assert isinstance(feature_map(ExponentialChi2(), 60), ExponentialChi2Features)


@pytest.mark.parametrize("kind", [AdditiveFeatures, ExponentialChi2Features])
def test_negative_rows_are_named_in_fit_and_in_transform(kind):
    bad = X.copy()
    bad[7, 1] = -1
    for call in (kind().fit, kind().fit(X).transform):
        for rows in (bad, sparse.csr_array(bad)):
            with pytest.raises(ValueError, match="Negative values in data: X holds -1 at row 7, column 1"):
                call(rows)


def test_other_kernels_are_refused():
    with pytest.raises(ValueError, match=r"AdditiveFeatures: kernel must be additive .* got Gaussian\(\)"):
        AdditiveFeatures(Gaussian()).fit(X)
    with pytest.raises(ValueError, match=r"kernel must be ExponentialChi2, got Chi2\(\)"):
        ExponentialChi2Features(Chi2()).fit(X)


@pytest.mark.parametrize("n_components", [40, 300, 2000], ids=["sketched", "order 0", "order 3"])
@pytest.mark.parametrize("kind", [AdditiveFeatures, ExponentialChi2Features])
def test_sparse_rows_have_the_features_of_dense_ones(kind, n_components):
    """At their non-zeros alone, with zeros that are stored, and empty rows."""
    S = sparse.random_array((30, 200), density=0.05, format="csr", rng=np.random.default_rng(0))
    S.data[::7] = 0
    S = sparse.vstack([S, sparse.csr_array((2, 200))], format="csr")
    drawn = kind(n_components=n_components, random_state=0).fit(S)
    np.testing.assert_allclose(drawn.transform(S), drawn.transform(S.toarray()), atol=1e-12)
