"""The one-class machine: scikit-learn's on the features, its contract, and what it refuses."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    Gaussian,
    KernelOneClassSVM,
    as_blocks,
    config_context,
)
from mercer.fitting import feature_rows
from mercer.testing import check_learner


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((700, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(700)


def test_the_one_class_machine_is_scikit_learn_s_on_the_features(rows):
    X = rows[0]
    model = KernelOneClassSVM(Gaussian(gamma=0.3), n_components=30, nu=0.2, tol=1e-5, random_state=0).fit(X)
    Z = model.feature_map_.transform(X)
    peer = OneClassSVM(kernel="linear", nu=0.2, tol=1e-8).fit(Z)
    scale = 0.2 * len(X)
    np.testing.assert_allclose(model.score_samples(X), peer.score_samples(Z) / scale, atol=0.02 * model.offset_)
    assert np.mean(model.predict(X) == peer.predict(Z)) > 0.98
    streamed = clone(model).fit(as_blocks(lambda: (X[part] for part in (slice(0, 99), slice(99, 700)))))
    np.testing.assert_array_equal(streamed.coef_, model.coef_)
    with config_context(memory=300_000), pytest.raises(MemoryError, match="KernelOneClassSVM: n_components=30 needs"):
        clone(model).fit(X)


@parametrize_with_checks([KernelOneClassSVM()])
def test_scikit_learn_s_contract(estimator, check):
    check(estimator)


def test_our_own_contract():
    check_learner(KernelOneClassSVM(n_components=32), rtol=2e-2, sklearn_checks=False)


def test_it_shows_as_html():
    assert "KernelOneClassSVM" in KernelOneClassSVM()._repr_html_()


def test_what_it_refuses(rng):
    X = rng.rand(20, 3)
    for nu in (0, 1.5):
        with pytest.raises(ValueError, match="KernelOneClassSVM: nu must be"):
            KernelOneClassSVM(nu=nu).fit(X)
    with pytest.raises(TypeError, match="sample_weight"):
        KernelOneClassSVM().fit(X, sample_weight=np.ones(20))
    with pytest.raises(NotFittedError):
        KernelOneClassSVM().predict(X)


def test_weights_of_blocks_are_not_read(rng):
    X = rng.rand(50, 3)
    model = KernelOneClassSVM(random_state=0)
    plain = model.fit(X).coef_
    weighted = model.fit(as_blocks(X, sample_weight=np.arange(50.0))).coef_
    np.testing.assert_array_equal(weighted, plain)


def test_features_that_cannot_be_held_are_an_error(monkeypatch, rng):
    def fail(*arguments, **options):
        raise MemoryError("no memory left")

    monkeypatch.setattr(feature_rows, "empty", fail)
    with pytest.raises(MemoryError, match=r"KernelOneClassSVM: the solver holds the features of all 300 rows.*Lower"):
        KernelOneClassSVM().fit(rng.rand(300, 2))
