"""Generalised cross-validation against its definition in more digits: every path, few rows, y far from 0, float32."""

import numpy as np
import pytest
from scipy import sparse

from mercer import (
    FourierFeatures,
    Gaussian,
    KernelRidge,
    LinearFeatures,
    Polynomial,
    TensorSketch,
    config_context,
)
from mercer.solvers import gcv_score, ridge_path, singular_path, tridiagonal_path

ALPHAS = np.logspace(-6, 3, 10)
EXTENDED = np.finfo(np.longdouble).eps < 1e-18


def brute_force(Z, Y, alphas=ALPHAS, weight=None):
    """Return W |e|^2 / (W - df - 1)^2, where e = a M y and n - df = a trace M with M the inverse of K + a I.

    Neither is a difference; M by Gauss and Jordan's elimination in extended precision.
    """
    weight = np.ones(len(Z)) if weight is None else weight
    kept = weight > 0
    Z, Y, w = (np.asarray(part[kept], dtype=np.longdouble) for part in (Z, Y.reshape(len(Z), -1), weight))
    total = w.sum()
    A, B = (np.sqrt(w)[:, None] * (part - (w @ part) / total) for part in (Z, Y - (w @ Y) / total))
    scores = []
    for alpha in alphas:
        left, right = A @ A.T + np.longdouble(alpha) * np.eye(len(A)), np.hstack([B, np.eye(len(A))])
        for i in range(len(A)):
            right[i] /= left[i, i]
            left[i] /= left[i, i]
            factors = np.where(np.arange(len(A)) == i, 0, left[:, i])
            left -= np.outer(factors, left[i])
            right -= np.outer(factors, right[i])
        errors, trace = alpha * right[:, : B.shape[1]], alpha * np.trace(right[:, B.shape[1] :])
        scores.append(gcv_score(float((errors**2).sum()), float(total - len(A) - 1 + trace), float(total)))
    return np.array(scores)


def _loss(model, Z, Y, weight=None):
    """Return how much worse the chosen alpha is than the best, by the definition."""
    exact = brute_force(Z.toarray() if sparse.issparse(Z) else Z, np.asarray(Y), model.alphas_, weight)
    return exact[model.alphas_ == model.alpha_][0] / exact.min()


def _centred(rng, n, width, shift=0.0):
    Z, Y = rng.standard_normal((n, width)), rng.standard_normal((n, 2))
    return Z - Z.mean(axis=0), Y - Y.mean(axis=0), Z, Y + shift


@pytest.mark.skipif(not EXTENDED, reason="long doubles are doubles here")
@pytest.mark.parametrize("method", ["eigh", "tridiagonal", "svd"])
@pytest.mark.parametrize(("n", "width"), [(20, 8), (20, 19), (20, 20), (20, 50), (2, 5)])
def test_the_scores_are_the_definition_s(rng, method, n, width):
    """Rows that interpolate y have residuals far below the rounding of its sum of squares."""
    A, B, Z, Y = _centred(rng, n, width)
    make = {"eigh": ridge_path, "tridiagonal": tridiagonal_path}
    path = singular_path(A, B, n - 1) if method == "svd" else make[method](A.T @ A, A.T @ B, n - 1)
    scores = np.array([path.gcv(alpha, np.sum(B**2, axis=0), n) for alpha in ALPHAS])
    exact = brute_force(Z, Y)
    # Of the smallest alphas a reduction to a tridiagonal matrix keeps p^2 to eps^2 |H|^2 alone: too large, if anything.
    sure = ALPHAS >= 1e-3 if method == "tridiagonal" else ALPHAS > 0
    np.testing.assert_allclose(scores[sure], exact[sure], rtol=1e-4)
    assert np.all(scores >= 0.999 * exact)


def test_a_residual_is_never_nothing(rng):
    """A residual of 0 would be the least of all scores."""
    A, B, _, _ = _centred(rng, 30, 60)
    for method in (ridge_path, tridiagonal_path):
        path = method(A.T @ A, A.T @ B, 29)
        residuals = np.array([path.residual(alpha, np.sum(B**2, axis=0)) for alpha in ALPHAS])
        assert np.all(residuals > 0)
        assert np.all(np.diff(residuals, axis=0) > 0)  # they rise with alpha


def _polynomial(width):
    return TensorSketch(Polynomial(2, coef0=1.0), n_components=width, random_state=0)


N_SIGNS = 8

# From rows and columns, of a precision and within a memory, to the path that they take.
PATHS = {
    "svd": (70, 150, np.float64, None),
    "eigh": (70, 150, np.float32, None),
    "tridiagonal": (70, 300, np.float32, None),
    "shifted conjugate gradients": (150, 60, np.float64, 6 * 8 * 60**2 - 1),
}


@pytest.mark.skipif(not EXTENDED, reason="long doubles are doubles here")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("solver", ["svd", "eigh", "tridiagonal"])
@pytest.mark.parametrize("seed", range(3))
def test_few_rows_of_many_features_do_not_choose_the_smallest_alpha(solver, weighted, seed):
    """Noise alone wants the largest alpha."""
    n, width, dtype, _ = PATHS[solver]
    rng = np.random.RandomState(seed)
    X, y = rng.standard_normal((n, 20)).astype(dtype), rng.standard_normal(n)
    weight = rng.uniform(0.5, 1.0, n) * (rng.random_sample(n) < 0.9) if weighted else None
    model = KernelRidge(features=_polynomial(width), alpha="gcv", alphas=ALPHAS)
    model.fit(X, y, weight)
    assert model.solution_.details["solver"] == solver
    assert model.alpha_ >= 100
    assert _loss(model, model.feature_map_.transform(X), y, weight) <= 1.1


@pytest.mark.skipif(not EXTENDED, reason="long doubles are doubles here")
@pytest.mark.parametrize("shift", [1e8, 1e12])
@pytest.mark.parametrize("solver", PATHS)
def test_targets_far_from_zero_choose_as_near_ones_do(rng, solver, shift):
    n, _, dtype, memory = PATHS[solver]
    width = {"tridiagonal": 300, "shifted conjugate gradients": 60}.get(solver, 10)
    X = rng.standard_normal((n, width)).astype(dtype)
    far = np.array([shift, -shift])
    Y = np.column_stack([X[:, 0] + 0.5 * rng.standard_normal(n), X[:, 1] - X[:, 2]]) + far
    model = KernelRidge(features=LinearFeatures(n_components=width), alpha="gcv", alphas=ALPHAS)
    with config_context(memory=memory):
        model.fit(X, Y)
    assert model.solution_.details["solver"] == solver
    assert _loss(model, model.feature_map_.transform(X), Y) <= 1.01  # of four signs the estimate is near enough
    near = KernelRidge(features=LinearFeatures(n_components=width), alpha=model.alpha_).fit(X, Y - far)
    np.testing.assert_allclose(model.coef_, near.coef_, atol=1e-3 if dtype == np.float32 else 1e-5)


def test_blocks_of_weight_zero_do_not_move_the_origin_of_y(rng):
    """The first block of y lies elsewhere, and counts for nothing."""
    X, y = rng.standard_normal((5000, 3)), 1e9 + rng.standard_normal(5000)
    y[:4500] -= 1e9
    weight = np.where(np.arange(5000) < 4500, 0.0, 1.0)
    model = KernelRidge(features=LinearFeatures(n_components=3), alpha="gcv", alphas=ALPHAS)
    scores = model.fit(X, y, weight).scores_
    np.testing.assert_allclose(scores, model.fit(X[4500:], y[4500:]).scores_, rtol=1e-6)


@pytest.mark.skipif(not EXTENDED, reason="long doubles are doubles here")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_smooth_targets_still_choose_a_small_alpha(rng, dtype):
    X = rng.standard_normal((100, 4)).astype(dtype)
    y = np.sin(X[:, 0].astype(np.float64))
    features = FourierFeatures(Gaussian(gamma=0.05), n_components=200, random_state=0)
    model = KernelRidge(features=features, alpha="gcv", alphas=ALPHAS).fit(X, y)
    assert model.alpha_ <= 1e-2
    assert _loss(model, model.feature_map_.transform(X), y) <= (1.01 if dtype == np.float64 else 2.0)


@pytest.mark.parametrize("seed", range(3))
def test_signs_of_rows_estimate_the_freedom_that_few_rows_leave(seed):
    """Signs of the columns would be off by sqrt(n / 2), and what is left at a small alpha is much less.

    A mean of m products u^T M u with random signs u has the variance 2 (|M|^2 - |diag M|^2) / m.
    """
    rng = np.random.RandomState(seed)
    X, y = rng.standard_normal((70, 3)), rng.standard_normal(70)
    features = FourierFeatures(Gaussian(gamma=1.0), n_components=500, random_state=seed)
    with config_context(memory=6 * 8 * 500**2 - 1):
        model = KernelRidge(features=features, alpha="gcv", alphas=ALPHAS).fit(X, y)
    assert model.solution_.details["solver"] == "shifted conjugate gradients"
    Z = model.feature_map_.transform(X)
    assert Z.shape[1] >= 500
    A, b = Z - Z.mean(axis=0), y - y.mean()
    reached = np.flatnonzero(np.isfinite(model.scores_))
    assert len(reached) >= 4
    for i in reached:
        M = ALPHAS[i] * np.linalg.inv(A @ A.T + ALPHAS[i] * np.eye(70)) - 1 / 70
        left = np.sqrt(70 * np.sum((M @ b) ** 2) / model.scores_[i])
        error = np.sqrt(2 * (np.sum(M**2) - np.sum(np.diag(M) ** 2)) / N_SIGNS)
        assert abs(left - np.trace(M)) <= 5 * error + 1e-6 * np.trace(M)  # five standard errors
