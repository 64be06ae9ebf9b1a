"""Ridge regression on more sparse features than rows: the space of the rows gives what dense features give."""

import numpy as np
import pytest

from mercer import KernelRidge, KernelRidgeClassifier, config_context
from mercer.features import PartFeatures
from mercer.kernels import Normalized, Spectrum
from mercer.learners import ridge_dual
from mercer.structures import Strings

ALPHAS = np.logspace(-3, 2, 6)


@pytest.fixture(scope="module")
def strings():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("acgt"), size=rng.integers(5, 30))) for _ in range(60)]
    y = np.array([text.count("ac") - text.count("g") for text in texts], dtype=float)
    return Strings(texts).astype(np.float64), y


def maps():
    """The same hashed features, sparse and dense."""
    return [
        PartFeatures(Normalized(Spectrum(3)), n_components=97, sparse_output=sparse, random_state=0)
        for sparse in (True, False)
    ]


@pytest.mark.parametrize("alpha", [0.1, "loo", "gcv"])
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_dense_features(strings, alpha, weighted):
    X, y = strings
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.0], size=len(y)) if weighted else None
    sparse, dense = (
        KernelRidge(features=features, alpha=alpha, alphas=ALPHAS, far_rows="keep").fit(X, y, sample_weight=weight)
        for features in maps()
    )
    assert sparse.alpha_ == dense.alpha_
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)
    np.testing.assert_allclose(sparse.predict(X), dense.predict(X), atol=1e-8)
    if alpha != 0.1:
        np.testing.assert_allclose(sparse.scores_, dense.scores_, rtol=1e-6)
        expected = "leave-one-out" if alpha == "loo" else "generalised cross-validation"
        assert sparse.solution_.details["criterion"] == expected


@pytest.mark.parametrize("alpha", [0.1, "gcv"])
def test_products_alone_for_many_rows(strings, monkeypatch, alpha):
    X, y = strings
    direct = KernelRidge(features=maps()[0], alpha=alpha, alphas=ALPHAS).fit(X, y)
    monkeypatch.setattr(ridge_dual, "_GRAM_ROWS", 10)
    monkeypatch.setattr(ridge_dual, "_PROBES", 64)
    by_products = KernelRidge(features=maps()[0], alpha=alpha, alphas=ALPHAS).fit(X, y)
    assert by_products.solution_.success
    assert by_products.alpha_ == direct.alpha_
    np.testing.assert_allclose(by_products.predict(X), direct.predict(X), atol=1e-5)


def test_eigenvectors_are_left_to_few_rows(strings, monkeypatch):
    X, y = strings
    monkeypatch.setattr(ridge_dual, "_EIGEN_ROWS", 10)
    model = KernelRidge(features=maps()[0], alphas=ALPHAS).fit(X, y)
    assert model.solution_.details["criterion"] == "generalised cross-validation"
    assert not hasattr(model, "coef_path_")


def test_classes_and_default_width(strings):
    X, y = strings
    labels = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [0.33, 0.66]))]
    model = KernelRidgeClassifier(Normalized(Spectrum(3)), n_components=2**18, random_state=0).fit(X, labels)
    assert model.coef_.shape == (3, 2**18)
    assert model.score(X, labels) > 0.9


def test_features_that_do_not_fit_are_not_held(strings):
    """Without the memory for the features, passes over the rows solve the problem as before."""
    X, y = strings
    with config_context(memory="20KiB"):
        model = KernelRidge(features=maps()[0], alpha=0.1).fit(X, y)
    expected = KernelRidge(features=maps()[0], alpha=0.1).fit(X, y)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-4)
