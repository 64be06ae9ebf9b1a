"""The one-class machine: scikit-learn's optimum on the same features, and a true gap."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import OneClassSVM

from mercer import FourierFeatures, Gaussian
from mercer.solvers import one_class
from mercer.testing import check_solver


def _objective(Z, nu, w, rho):
    return 0.5 * w @ w - rho + np.maximum(rho - Z @ w, 0).sum() / (nu * len(Z))


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("nu", [0.1, 0.5, 0.9])
def test_the_optimum_is_scikit_learn_s(rng, nu, dtype, layout):
    features = FourierFeatures(Gaussian(gamma=0.3), n_components=40, random_state=0)
    Z = features.fit_transform(rng.standard_normal((600, 3))).astype(dtype)
    solution = one_class(layout(Z), nu, tol=1e-3)
    assert solution.success
    peer = OneClassSVM(kernel="linear", nu=nu, tol=1e-8).fit(Z)
    scale = nu * len(Z)  # libsvm's objective is ours times this, squared
    Z = Z.astype(np.float64)
    best = _objective(Z, nu, peer.coef_.ravel() / scale, peer.offset_[0] / scale)
    ours = _objective(Z, nu, solution.value[0, :-1], -solution.value[0, -1])
    assert best - 1e-6 * abs(best) <= ours <= best + (1e-3 + 1e-5) * abs(best)
    outliers = np.mean(Z @ solution.value[0, :-1] + solution.value[0, -1] < 0)
    assert outliers <= nu


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_an_optimum_of_0_is_found_and_certified(rng, layout, dtype):
    """Rows around the origin: no gap is small relative to an objective of 0."""
    X = rng.standard_normal((50, 3)).astype(dtype)
    Z = layout(np.vstack([X, -X]))
    solution = check_solver(
        lambda: one_class(Z, 0.5),
        objective=lambda value: _objective(np.vstack([X, -X]), 0.5, value[0, :-1], -value[0, -1]),
        tol=1e-4,
        rtol=np.finfo(dtype).eps,
    )
    assert solution.success
    assert abs(solution.details["objectives"][0]) < 1e-12
    assert solution.iterations < 100


@pytest.mark.parametrize("max_iter", [1, 3, 1000])
def test_it_keeps_the_laws_of_a_solver(rng, max_iter):
    Z = rng.standard_normal((200, 4)) + 1
    check_solver(
        lambda: one_class(Z, 0.3, max_iter=max_iter),
        objective=lambda value: _objective(Z, 0.3, value[0, :-1], -value[0, -1]),
        tol=1e-4,
    )


def test_all_rows_are_support_vectors_at_nu_1(rng):
    """The box then holds one point: w is the mean of the rows."""
    Z = rng.standard_normal((50, 4)) + 1
    solution = one_class(Z, 1.0)
    np.testing.assert_allclose(solution.value[0, :-1], Z.mean(axis=0), atol=1e-12)
    assert solution.value[0, -1] == pytest.approx(-np.max(Z @ Z.mean(axis=0)), rel=1e-12)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_too_few_steps_end_with_advice(rng, layout):
    Z = rng.standard_normal((900, 10)).astype(np.float32) + 1.0
    solution = one_class(layout(Z), 0.2, max_iter=2, tol=1e-8)
    assert solution.status == "iteration limit"
    assert "steps left a duality gap of" in solution.advice


@pytest.mark.parametrize("seed", range(5))
def test_repeated_rows_do_not_stall_dense_problems(seed):
    """Rows that are mostly the same leave the dual flat in most directions."""
    X = np.random.RandomState(seed).uniform(size=(40, 3))
    X[X < 0.8] = 0
    Z = FourierFeatures(Gaussian(gamma=1.0), n_components=100, random_state=seed).fit_transform(X)
    solution = one_class(Z, 0.5, tol=1e-6)
    assert solution.success
    assert solution.iterations < 100
