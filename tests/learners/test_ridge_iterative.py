"""Ridge regression by conjugate gradients: the direct answer, where matrices do not fit or features are sparse."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from mercer import (
    KernelRidge,
    Laplacian,
    Linear,
    LinearFeatures,
    RandomBinning,
    config_context,
)

ALPHAS = np.logspace(-3, 2, 6)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((300, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(300)


def _labels(y, n_classes):
    return np.array(list("abc"))[np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))]


def test_conjugate_gradients_where_matrices_do_not_fit(rows):
    X, y = rows
    weight = np.linspace(0, 2, 300)
    model = KernelRidge(n_components=60, alpha=0.5, random_state=0)
    direct = clone(model).fit(X, y, weight)
    with config_context(memory=6 * 8 * 60**2 - 1):
        iterative = clone(model).fit(X, y, weight)
    assert iterative.solution_.details["solver"] == "conjugate gradients"
    np.testing.assert_allclose(iterative.predict(X), direct.predict(X), atol=1e-7)


def test_leave_one_out_is_gcv_where_matrices_do_not_fit_and_says_so(rows):
    X, y = rows
    exact = KernelRidge(n_components=60, random_state=0).fit(X, y)
    assert exact.solution_.details["criterion"] == "leave-one-out"
    with config_context(memory=6 * 8 * 60**2 - 1):
        models = [KernelRidge(n_components=60, alpha=rule, random_state=0).fit(X, y) for rule in ("loo", "gcv")]
    for model in models:
        assert model.solution_.details["criterion"] == "generalised cross-validation"
    np.testing.assert_array_equal(models[0].scores_, models[1].scores_)
    assert models[0].alpha_ == models[1].alpha_


def test_gcv_by_conjugate_gradients_is_gcv(rows):
    """The scores differ by the estimate of the trace alone: sqrt(2 df / 4) is its standard error at most."""
    X, y = rows
    weight = np.linspace(0, 2, 300)
    model = KernelRidge(n_components=60, alpha="gcv", alphas=np.logspace(-6, 4, 21), random_state=0)
    direct = clone(model).fit(X, y, weight)
    with config_context(memory=6 * 8 * 60**2 - 1):
        path = clone(model).fit(X, y, weight)
    assert path.solution_.details["solver"] == "shifted conjugate gradients"
    reached = np.isfinite(path.scores_)
    assert reached.sum() == path.solution_.details["converged"]
    assert reached[np.argmin(path.scores_) :].all()
    np.testing.assert_allclose(path.coef_path_[reached], direct.coef_path_[reached], rtol=1e-5, atol=1e-7)
    Z = direct.feature_map_.transform(X)
    Z -= np.average(Z, weights=weight, axis=0)
    for alpha, score, exact in zip(model.alphas, path.scores_, direct.scores_, strict=True):
        if np.isfinite(score):
            gram = Z.T @ (weight[:, None] * Z)
            df = np.trace(gram @ np.linalg.inv(gram + alpha * np.eye(60)))
            off = 5 * np.sqrt(2 * df / 4)  # five standard errors
            left = weight.sum() - df - 1
            assert left**2 / (left + off) ** 2 <= score / exact * (1 + 1e-9) + 1e-9
            assert score / exact <= left**2 / (left - off) ** 2 * (1 + 1e-9)


def test_sparse_features_choose_alpha_too(rows):
    X, y = rows
    binning = RandomBinning(Laplacian(gamma=0.3), n_components=None, n_grids=50, sparse_output=True, random_state=0)
    model = KernelRidge(features=binning, alpha="gcv").fit(X, y)
    Z = model.feature_map_.transform(X).toarray()
    exact = Ridge(alpha=model.alpha_, solver="cholesky").fit(Z, y)
    np.testing.assert_allclose(model.predict(X), exact.predict(Z), atol=1e-6)
    assert model.alphas_[0] < model.alpha_ < model.alphas_[-1]
    few = RandomBinning(Laplacian(gamma=0.1), n_components=None, n_grids=20, sparse_output=True, random_state=0)
    with pytest.warns(ConvergenceWarning, match="KernelRidge: iteration limit. 500 products reached"):
        KernelRidge(features=few, alpha="gcv", alphas=[1e-13, 1e-14]).fit(X, y)


def test_a_tiny_alpha_warns_with_advice(rng):
    X = np.repeat(rng.standard_normal((50, 1)), 4, axis=1).astype(np.float32) * 1e3
    with pytest.warns(ConvergenceWarning, match="KernelRidge: ill-conditioned. alpha=1e-12 is below the rounding"):
        KernelRidge(features=LinearFeatures(Linear(), n_components=4), alpha=1e-12).fit(X, X[:, 0])
