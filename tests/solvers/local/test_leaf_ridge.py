"""Ridge regression on leaves against the dense matrix that it stands for, and every residual against a refit."""

import time

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid, config_context
from mercer.solvers.local import leaf_ridge
from mercer.solvers.local.leaf_ridge import LeafSystem
from mercer.solvers.local.trees import RandomTree

N, M, ALPHA = 120, 12, 0.1


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((N, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] ** 2]) + 5.0 + 0.1 * rng.standard_normal((N, 2))
    leaves = RandomTree.of(X, 32, rng).leaves
    return X, Y, leaves, X[rng.permutation(N)[:M]]


def dense_matrix(kernel, X, leaves, landmarks):
    """Return K~, from its definition."""
    K = kernel(X)
    if landmarks is None:
        approximated = np.zeros_like(K)
    else:
        W = kernel(landmarks)
        W[np.diag_indices_from(W)] += 1e-10 * np.mean(np.diag(W))
        approximated = kernel(X, landmarks) @ np.linalg.solve(W, kernel(landmarks, X))
    for rows in leaves:
        approximated[np.ix_(rows, rows)] = K[np.ix_(rows, rows)]
    return approximated


def dense_dual(K, Y, alpha, weight=None):
    """Return the dual coefficients about the weighted mean, and the mean."""
    weight = np.ones(len(Y)) if weight is None else weight
    mean = weight @ Y / weight.sum()
    return np.linalg.solve(K + alpha * np.diag(1 / weight), Y - mean), mean


KERNELS = [
    Gaussian(gamma=0.5),
    Matern(1.5, length_scale=1.0),
    Laplacian(gamma=0.5),
    Polynomial(2, coef0=1.0) + Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_solution_is_that_of_the_dense_matrix(problem, kernel):
    X, Y, leaves, landmarks = problem
    K = dense_matrix(kernel, X, leaves, landmarks)
    assert np.linalg.eigvalsh(K).min() > -1e-8 * np.abs(K).max()
    solution = LeafSystem(kernel, X, leaves, landmarks).solve(Y, ALPHA)
    dual, mean = dense_dual(K, Y, ALPHA)
    np.testing.assert_allclose(solution.intercept, mean)
    np.testing.assert_allclose(solution.dual, dual, atol=1e-6 * np.abs(dual).max())
    np.testing.assert_array_equal(solution.ridges, ALPHA)
    # On the training rows, what the leaf and the landmarks predict is K~ times the dual coefficients.
    for b, rows in enumerate(leaves):
        within = kernel(X[rows]) @ solution.dual[rows] + kernel(X[rows], landmarks) @ solution.landmark_coef[b]
        np.testing.assert_allclose(within, K[rows] @ dual, atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS[:3], ids=repr)
def test_every_residual_is_that_of_a_refit(problem, kernel, weighted, rng):
    X, Y, leaves, landmarks = problem
    K = dense_matrix(kernel, X, leaves, landmarks)
    weight = rng.choice([0.3, 1.0, 2.0, 2.5], N) if weighted else np.ones(N)
    found = LeafSystem(kernel, X, leaves, landmarks).solve(Y, ALPHA, weight if weighted else None).loo_residuals
    for i in range(N):
        left = weight.copy()
        left[i] -= min(left[i], 1.0)  # one repetition is left out
        kept = left > 0
        dual, mean = dense_dual(K[np.ix_(kept, kept)], Y[kept], ALPHA, left[kept])
        np.testing.assert_allclose(found[i], Y[i] - mean - K[i, kept] @ dual, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("with_landmarks", [True, False])
def test_leaves_of_many_blocks_are_solved_like_the_dense_matrix(dtype, with_landmarks, rng):
    """Leaves beyond the rows that are evaluated, inverted and squared at once."""
    X, sizes = rng.standard_normal((900, 3)).astype(dtype), [500, 400]
    leaves = np.split(rng.permutation(900), np.cumsum(sizes)[:-1])
    landmarks, Y = X[:20] if with_landmarks else None, np.sin(2 * X[:, :2].astype(float))
    solution = LeafSystem(KERNELS[1], X, leaves, landmarks).solve(Y, ALPHA)
    exact = None if landmarks is None else landmarks.astype(float)
    inverse = np.linalg.inv(dense_matrix(KERNELS[1], X.astype(float), leaves, exact) + ALPHA * np.eye(900))
    dual = inverse @ (Y - Y.mean(axis=0))
    residuals = dual / np.diag(inverse)[:, None]
    # the other rows' mean
    ones = inverse.sum(axis=1) / np.diag(inverse)
    residuals += ones[:, None] * (Y - Y.mean(axis=0)) / 899
    tolerance = 2e-3 if dtype == np.float32 else 1e-6
    np.testing.assert_allclose(solution.dual, dual, atol=tolerance * np.abs(dual).max())
    np.testing.assert_allclose(solution.loo_residuals, residuals, atol=tolerance * np.abs(residuals).max())
    quick = LeafSystem(KERNELS[1], X, leaves, landmarks).solve(Y, ALPHA, leave_one_out=False)
    assert quick.loo_residuals is None
    np.testing.assert_allclose(quick.dual, dual, atol=tolerance * np.abs(dual).max())
    np.testing.assert_allclose(quick.landmark_coef, solution.landmark_coef, atol=20 * tolerance)


def test_a_row_may_be_left_out_whole(problem, rng):
    X, Y, leaves, landmarks = problem
    K, weight = dense_matrix(KERNELS[0], X, leaves, landmarks), rng.choice([0.3, 2.0, 5.0], N)
    found = LeafSystem(KERNELS[0], X, leaves, landmarks).solve(Y, ALPHA, weight, left_out=weight).loo_residuals
    for i in range(0, N, 10):
        kept = np.arange(N) != i
        dual, mean = dense_dual(K[np.ix_(kept, kept)], Y[kept], ALPHA, weight[kept])
        np.testing.assert_allclose(found[i], Y[i] - mean - K[i, kept] @ dual, rtol=1e-5, atol=1e-7)


def test_weights_are_repetitions(problem, rng):
    X, Y, leaves, landmarks = problem
    kernel, counts = KERNELS[0], rng.randint(1, 4, N)
    repeated = np.repeat(np.arange(N), counts)
    place = np.split(np.arange(len(repeated)), np.cumsum(counts)[:-1])
    many = [np.concatenate([place[i] for i in rows]) for rows in leaves]
    one = LeafSystem(kernel, X, leaves, landmarks).solve(Y, ALPHA, counts.astype(float))
    other = LeafSystem(kernel, X[repeated], many, landmarks).solve(Y[repeated], ALPHA)
    np.testing.assert_allclose(one.landmark_coef, other.landmark_coef, atol=1e-6 * np.abs(one.landmark_coef).max())
    np.testing.assert_allclose(one.loo_residuals[repeated], other.loo_residuals, rtol=1e-6, atol=1e-9)
    sums = np.add.reduceat(other.dual, np.concatenate([[0], np.cumsum(counts)[:-1]]))
    np.testing.assert_allclose(one.dual, sums, atol=1e-7 * np.abs(sums).max())


def test_one_leaf_is_exact_kernel_ridge_and_needs_no_landmarks(problem):
    X, Y, _, landmarks = problem
    system = LeafSystem(KERNELS[0], X, [np.arange(N)], landmarks)
    assert system.n_landmarks == 0
    np.testing.assert_allclose(system.solve(Y, ALPHA).dual, dense_dual(KERNELS[0](X), Y, ALPHA)[0], rtol=1e-6)


def test_no_landmarks_are_separate_machines(problem):
    X, Y, leaves, _ = problem
    solution = LeafSystem(KERNELS[0], X, leaves).solve(Y, ALPHA)
    for rows in leaves:
        K = KERNELS[0](X[rows]) + ALPHA * np.eye(len(rows))
        np.testing.assert_allclose(solution.dual[rows], np.linalg.solve(K, Y[rows] - Y.mean(axis=0)), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_memory_and_held_matrices_change_no_bit(problem, dtype, monkeypatch):
    X, Y, leaves, landmarks = problem
    X, landmarks = X.astype(dtype), landmarks.astype(dtype)
    expected = LeafSystem(KERNELS[0], X, leaves, landmarks).solve(Y, ALPHA)
    assert expected.dual.dtype == dtype
    held = LeafSystem(KERNELS[0], X, leaves, landmarks, hold=True)
    held.solve(Y, 1.0)
    with config_context(threads=2):
        others = [LeafSystem(KERNELS[0], X, leaves, landmarks).solve(Y, ALPHA), held.solve(Y, ALPHA)]
    monkeypatch.setattr(leaf_ridge, "_HELD_SHARE", 0.0)
    others.append(LeafSystem(KERNELS[0], X, leaves, landmarks).solve(Y, ALPHA))
    for other in others:
        for name in ("dual", "landmark_coef", "intercept", "loo_residuals", "ridges"):
            np.testing.assert_array_equal(getattr(other, name), getattr(expected, name), err_msg=name)


def test_float32_and_csr_rows_agree_with_float64(problem):
    X, Y, leaves, landmarks = problem
    expected = LeafSystem(KERNELS[1], X, leaves, landmarks).solve(Y, ALPHA).loo_residuals
    single = LeafSystem(KERNELS[1], X.astype(np.float32), leaves, landmarks.astype(np.float32)).solve(Y, ALPHA)
    np.testing.assert_allclose(single.loo_residuals, expected, atol=1e-3)
    rows = sparse.csr_array(X)
    found = LeafSystem(KERNELS[1], rows, leaves, sparse.csr_array(landmarks)).solve(Y, ALPHA).loo_residuals
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_repeated_rows_and_a_small_ridge_raise_the_ridge_of_their_leaf_only(rng):
    X = rng.standard_normal((60, 2)).astype(np.float32)
    X[:30] = X[0]
    Y = rng.standard_normal((60, 1))
    leaves = [np.arange(30), np.arange(30, 60)]
    solution = LeafSystem(Gaussian(gamma=1.0), X, leaves).solve(Y, 1e-9)
    assert solution.ridges[0] > 1e-9
    assert np.isfinite(solution.dual).all()
    apart = LeafSystem(Gaussian(gamma=100.0), X, leaves).solve(Y, 1e-3)
    np.testing.assert_array_equal(apart.ridges, 1e-3)


def test_the_last_row_of_all_is_predicted_by_nothing():
    solution = LeafSystem(Gaussian(gamma=1.0), np.ones((1, 2)), [np.arange(1)]).solve(np.array([[3.0]]), 1.0)
    assert np.isfinite(solution.loo_residuals).all()


def test_a_kernel_that_is_not_positive_definite_is_refused_in_words(rng):
    X = 3 * rng.standard_normal((40, 2))
    leaves = [np.arange(20), np.arange(20, 40)]
    with pytest.raises(ValueError, match="not positive semi-definite"):
        LeafSystem(Sigmoid(gamma=1.0, coef0=-5.0), X, leaves, X[:10])
    with pytest.raises(ValueError, match="has no Cholesky factor in float64"):
        LeafSystem(Sigmoid(gamma=1.0, coef0=-5.0), X, leaves).solve(X[:, :1], 1e-12)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_parts_are_taken_in_order_whichever_is_ready_first(threads):
    taken = []

    def late(number):
        time.sleep(0.02 if number % 3 == 0 else 0.0)
        return number

    with config_context(threads=threads):
        leaf_ridge._each_in_order(late, 11, taken.append)
    assert taken == list(range(11))
