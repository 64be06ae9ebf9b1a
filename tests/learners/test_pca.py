"""Kernel PCA: scikit-learn's contract and exact answers, streams, products alone, pre-images, bad input."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles
from sklearn import decomposition
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    Gaussian,
    KernelPCA,
    Laplacian,
    Linear,
    LinearFeatures,
    Nystroem,
    RandomBinning,
    as_blocks,
    config_context,
)


@parametrize_with_checks([KernelPCA(), KernelPCA(n_components=2, fit_inverse_transform=True, alpha=0.1)])
def test_scikit_learn_s_contract(estimator, check):
    check(estimator)


@pytest.fixture
def rows(rng):
    return rng.standard_normal((300, 4)) * [2.0, 1.0, 0.7, 0.5]


def _same_but_for_signs(one, other, **tolerance):
    np.testing.assert_allclose(one * np.sign(np.sum(one * other, axis=0)), other, **tolerance)


def test_full_rank_nystroem_is_exact_kernel_pca():
    X = load_digits().data[:1000] / 16
    exact = decomposition.KernelPCA(8, kernel="rbf", gamma=0.05).fit(X)
    model = KernelPCA(features=Nystroem(Gaussian(gamma=0.05), n_components=1000, landmarks="uniform"), n_components=8)
    scores = model.fit_transform(X)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    # eigenvectors are right to rounding over the gaps of the eigenvalues
    _same_but_for_signs(scores, exact.transform(X), atol=1e-7)
    K = Gaussian(gamma=0.05)(X)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), exact.eigenvalues_.sum() / _centred_trace(K))


def _centred_trace(K):
    return np.trace(K) - K.mean() * len(K)


def test_the_map_s_own_error_bounds_spectrum_and_subspace():
    """Weyl: eigenvalues differ by at most |K - Z Z^T|; Davis and Kahan: sin(angle) by twice that over the gap."""
    X = load_digits().data[:1000] / 16
    kernel = Gaussian(gamma=0.02)
    model = KernelPCA(kernel, n_components=2, map_components=2000, random_state=0).fit(X)
    Z = model.feature_map_.transform(X)
    centre = np.eye(1000) - 1 / 1000
    error = np.linalg.norm(centre @ (kernel(X) - Z @ Z.T) @ centre, 2)
    exact = decomposition.KernelPCA(3, kernel="rbf", gamma=0.02).fit(X)
    assert np.abs(model.eigenvalues_ - exact.eigenvalues_[:2]).max() <= error * (1 + 1e-9)
    gap = exact.eigenvalues_[1] - exact.eigenvalues_[2]
    sine = np.sin(subspace_angles(model.transform(X), exact.transform(X)[:, :2]).max())
    assert sine <= 2 * error / gap
    assert 2 * error / gap < 0.9, "the bound says nothing: take milder parameters"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_with_a_linear_kernel_it_is_pca(rng, dtype):
    X = (rng.standard_normal((500, 5)) @ rng.standard_normal((5, 5)) + 30).astype(dtype)
    model = KernelPCA(Linear(), n_components=4, map_components=5).fit(X)
    exact = decomposition.PCA(4).fit(X.astype(np.float64))
    rtol = 1e-9 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=rtol)
    np.testing.assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=rtol)
    scores = model.transform(X)
    assert scores.dtype == dtype
    _same_but_for_signs(scores, exact.transform(X.astype(np.float64)), atol=rtol * 30)


def test_scores_have_the_explained_variance_and_no_correlation(rows):
    model = KernelPCA(Gaussian(gamma=0.3), random_state=0)
    scores = model.fit_transform(rows)
    assert scores.shape[1] == len(model.eigenvalues_) == model.get_feature_names_out().shape[0]
    np.testing.assert_allclose(np.cov(scores.T), np.diag(model.explained_variance_), atol=1e-12)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-13)


def test_weights_are_repetitions(rows, rng):
    weight = rng.randint(3, size=300)
    model = KernelPCA(Gaussian(gamma="scale"), n_components=3, random_state=0)
    one, other = model.fit(rows, sample_weight=weight), clone(model).fit(np.repeat(rows, weight, axis=0))
    np.testing.assert_allclose(one.explained_variance_, other.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(one.transform(rows), other.transform(rows), atol=1e-9)


def test_blocks_threads_and_arrays_give_the_same_bits(rng):
    X = rng.standard_normal((9000, 3)).astype(np.float32)
    weight = rng.random_sample(9000)
    model = KernelPCA(n_components=3, fit_inverse_transform=True, random_state=0)
    one = clone(model).set_params(n_jobs=1).fit(X, sample_weight=weight)
    parts = [slice(0, 10), slice(10, 5000), slice(5000, 9000)]
    sources = [
        as_blocks(X, sample_weight=weight, block_rows=77),
        as_blocks(lambda: ((X[part], None, weight[part]) for part in parts)),
    ]
    for source in sources:
        other = clone(model).set_params(n_jobs=2).fit(source)
        np.testing.assert_array_equal(other.components_, one.components_)
        np.testing.assert_array_equal(other.transform(source), one.transform(X))
        np.testing.assert_array_equal(other.inverse_.coef_, one.inverse_.coef_)


def test_products_alone_where_matrices_do_not_fit(rows):
    weight = np.linspace(0, 2, 300)
    model = KernelPCA(Gaussian(gamma=0.3), n_components=3, map_components=100, random_state=0)
    direct = clone(model).fit(rows, sample_weight=weight)
    with config_context(memory=6 * 8 * 100**2 - 1):
        products = clone(model).fit(rows, sample_weight=weight)
    assert products.solution_.details["solver"] == "block Krylov"
    np.testing.assert_allclose(products.transform(rows), direct.transform(rows), atol=1e-7)
    np.testing.assert_allclose(products.explained_variance_ratio_, direct.explained_variance_ratio_, rtol=1e-9)


def test_sparse_features_stay_sparse(rows):
    binning = RandomBinning(Laplacian(gamma=0.3), n_components=None, n_grids=30, sparse_output=True, random_state=0)
    model = KernelPCA(features=binning, n_components=3).fit(rows)
    Z = model.feature_map_.transform(rows)
    assert sparse.issparse(Z)
    exact = decomposition.PCA(3).fit(Z.toarray())
    np.testing.assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=1e-7)
    _same_but_for_signs(model.transform(rows), exact.transform(Z.toarray()), atol=1e-5)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_pre_images_are_ridge_on_the_scores(rows, make):
    model = KernelPCA(n_components=3, fit_inverse_transform=True, alpha=0.2, random_state=0).fit(make(rows))
    scores = model.transform(make(rows))
    Z = model.inverse_.feature_map_.transform(scores)
    exact = Ridge(alpha=0.2, solver="cholesky").fit(Z, rows)
    np.testing.assert_allclose(model.inverse_transform(scores), exact.predict(Z), atol=1e-9)


def test_pre_images_of_a_ring_take_noise_off(rng):
    """Scores of two components hold the angle, not the radius: pre-images lie nearer to the ring than the rows."""
    angle = rng.uniform(0, 2 * np.pi, 800)
    ring = np.column_stack([np.cos(angle), np.sin(angle), 0.5 * np.cos(2 * angle)])
    X = ring + 0.2 * rng.standard_normal((800, 3))
    model = KernelPCA(Gaussian(gamma=1.0), n_components=2, fit_inverse_transform=True, random_state=0).fit(X[:400])
    cleaned = model.inverse_transform(model.transform(X[400:]))
    assert np.square(cleaned - ring[400:]).sum() < 0.8 * np.square(X[400:] - ring[400:]).sum()


def test_progress_and_html(rows, capfd):
    model = KernelPCA(n_components=2, verbose=1, random_state=0).fit(rows)
    assert "KernelPCA: moments" in "".join(capfd.readouterr())
    assert "KernelPCA" in model._repr_html_()


X = np.random.RandomState(0).rand(20, 3)
NAN = np.where(np.arange(60).reshape(20, 3) == 19, np.nan, X)
BAD = [
    (lambda model: model.set_params(n_components=21).fit(X), "n_samples=20 must be at least n_components=21"),
    (lambda model: model.set_params(n_components=21).fit(as_blocks(lambda: iter([X]))), "n_samples=20 must be at lea"),
    (lambda model: model.set_params(n_components=9, map_components=8).fit(X), "n_components=9 must not exceed the 8 f"),
    (lambda model: model.set_params(n_components=0).fit(X), "n_components must be an integer >= 1, got 0"),
    (lambda model: model.set_params(map_components=0).fit(X), "map_components must be an integer >= 1, got 0"),
    (lambda model: model.fit(X[:1]), "n_samples=1 must be at least"),
    (lambda model: model.fit(np.ones((9, 3))), "the features have no variance: all rows of X are alike"),
    (
        lambda model: model.fit(X, sample_weight=np.full(20, 0.04)),
        "sample_weight sums to 0.8 and must sum to more than",
    ),
    (lambda model: model.fit(X, sample_weight=np.zeros(20)), "sample_weight must not be all zero"),
    (
        lambda model: model.fit(as_blocks(X), sample_weight=np.ones(20)),
        "X is Blocks, which bring their own y",
    ),
    (lambda model: model.fit(NAN), "X contains NaN at row 6, column 1"),
    (lambda model: model.set_params(kernel="rbf").fit(X), r"got the name 'rbf'. Write Gaussian\(gamma=1.0\)"),
    (lambda model: model.fit(iter([X])), "can be read once only, and KernelPCA needs several passes"),
    (
        lambda model: model.set_params(features=LinearFeatures()).fit(1e30 * X.astype(np.float32)),
        "products of the features o",
    ),
    (lambda model: clone(model).fit(X).inverse_transform(X), "Fit with fit_inverse_transform=True"),
    (
        lambda model: clone(model).fit(X).transform(as_blocks(X[:, :2])),
        "X has 2 features, but KernelPCA is expecting 3",
    ),
    (
        lambda model: clone(model).set_params(n_components=2, fit_inverse_transform=True).fit(X).inverse_transform(X),
        "X has 3 columns and must hold 2 scores",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=range(len(BAD)))
def test_bad_input_is_named_and_leaves_the_estimator_as_it_was(call, message):
    fitted = KernelPCA(random_state=0).fit(X)
    before, params = fitted.transform(X), fitted.get_params()
    for model in (KernelPCA(), fitted):
        with pytest.raises((ValueError, TypeError), match=message):
            call(model)
    np.testing.assert_array_equal(fitted.set_params(**params).transform(X), before)
    with pytest.raises(NotFittedError):
        KernelPCA().transform(X)


@pytest.mark.parametrize("last", [2, 3], ids=["survey", "moments"])
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(rows, last):
    model = KernelPCA(n_components=2, random_state=0).fit(rows)
    before, passes = model.transform(rows), []

    def factory():
        passes.append(0)
        for i in range(5):
            if len(passes) == last and i == 3:
                raise KeyboardInterrupt
            yield rows

    with pytest.raises(KeyboardInterrupt):
        model.fit(as_blocks(factory))
    np.testing.assert_array_equal(model.transform(rows), before)


@pytest.mark.skipif("MERCER_DATA" not in os.environ, reason="MERCER_DATA names no folder of data sets")
def test_constant_columns_of_real_rows_do_no_harm():
    """A fifth of MNIST's columns are 0 in every row."""
    with np.load(Path(os.environ["MERCER_DATA"]) / "mnist.npz") as data:
        X = data["X_train"][:2000].reshape(2000, -1) / np.float32(255)
    model = KernelPCA(Gaussian(gamma="scale"), n_components=10, map_components=300, random_state=0).fit(X)
    assert 0.2 < model.explained_variance_ratio_.sum() < 1
