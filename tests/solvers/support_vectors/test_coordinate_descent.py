"""Dual coordinate descent: LIBLINEAR's objective, optimality, true gaps, threads, starts, interrupts."""

import signal
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.svm import LinearSVC, LinearSVR

from mercer import config_context
from mercer.solvers import BoxProblems, coordinate_descent
from mercer.solvers.support_vectors.svm_dual import LOSSES
from mercer.solvers.support_vectors.when_descent_stalls import Patience
from mercer.testing import check_solver


def _targets(rng, loss, Z, n_problems):
    scores = Z @ rng.standard_normal((Z.shape[1], n_problems)) + 0.5 * rng.standard_normal((len(Z), n_problems)) + 0.3
    return np.where(scores > 0, 1.0, -1.0) if "hinge" in loss else scores


@pytest.fixture(params=LOSSES)
def loss(request):
    return request.param


def _objective(problems, Z, value):
    scores = Z @ value[:, :-1].T + problems.constant * value[:, -1]
    return 0.5 * (value**2).sum(axis=1) + problems.losses(slice(0, len(Z)), scores).sum(axis=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_the_objective_is_liblinear_s(rng, loss, dtype, layout):
    Z = rng.standard_normal((700, 20)) / 4
    targets, cost = _targets(rng, loss, Z, 3), rng.random_sample(700) + 0.1
    problems = BoxProblems.of(loss, targets, cost, epsilon=0.1)
    tol = 1e-5 if loss.startswith("squared") else 1e-3
    solution = coordinate_descent(layout(Z.astype(dtype)), problems, tol=tol)
    assert solution.success
    assert solution.gap <= tol
    options = {"loss": loss, "dual": True, "tol": 1e-9, "max_iter": 1_000_000, "C": 1.0, "random_state": 0}
    for k in range(3):
        peer = LinearSVC(**options) if "hinge" in loss else LinearSVR(epsilon=0.1, **options)
        peer.fit(Z, targets[:, k], cost)
        best = np.append(np.ravel(peer.coef_), peer.intercept_)[None]
        least = _objective(problems, Z, best)[k]
        # The gap is measured with scores of the features' own precision.
        rounding = 0 if dtype == np.float64 else 1e-5
        assert _objective(problems, Z, solution.value)[k] <= least * (1 + solution.gap + rounding)


def test_the_gap_is_the_difference_of_the_objectives(rng, loss):
    Z = rng.standard_normal((600, 10))
    problems = BoxProblems.of(loss, _targets(rng, loss, Z, 2), np.full(600, 0.5), epsilon=0.1, constant=2.0)
    solution = coordinate_descent(Z, problems, tol=1e-2)
    duals = solution.details["duals"]
    np.testing.assert_array_equal(problems.clipped(duals), duals)
    np.testing.assert_allclose(solution.value, np.hstack([duals.T @ Z, 2 * duals.sum(axis=0)[:, None]]), atol=1e-10)
    dual = -(0.5 * (solution.value**2).sum(axis=1) + problems.conjugates(slice(0, 600), duals).sum(axis=0))
    primal = _objective(problems, Z, solution.value)
    assert solution.gap == pytest.approx(((primal - dual) / primal).max(), rel=1e-6)
    np.testing.assert_allclose(solution.details["objectives"], primal)
    assert len(solution.history) == solution.iterations > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("max_iter", [1, 1000])
def test_it_keeps_the_laws_of_a_solver(rng, loss, dtype, layout, max_iter):
    """On columns of sizes 1e-3 to 1e3, also after one epoch."""
    Z = (rng.standard_normal((600, 8)) * np.logspace(-3, 3, 8)).astype(dtype)
    problems = BoxProblems.of(loss, _targets(rng, loss, Z, 2), np.full(600, 10.0), epsilon=0.1)
    rows = layout(Z)
    check_solver(
        lambda: coordinate_descent(rows, problems, max_iter=min(max_iter, 100)),
        objective=lambda value: _objective(problems, Z.astype(np.float64), value),
        tol=1e-4,
        resume=lambda solution: coordinate_descent(rows, problems, duals=solution.details["duals"]),
        rtol=1e-12 if dtype == np.float64 else 1e-3,
    )


def test_small_problems_are_solved_to_rounding(rng, loss):
    """Against a general minimiser over the box, on rows of which some repeat and one is 0."""
    Z = rng.standard_normal((12, 3))
    Z[5], Z[7] = Z[4], 0
    cost = rng.random_sample(12)
    cost[2] = 0
    problems = BoxProblems.of(loss, _targets(rng, loss, Z, 1), cost, epsilon=0.1, constant=0.0)
    solution = coordinate_descent(Z, problems)
    assert solution.gap < 1e-13
    positive = problems.clipped(np.full((12, 1), np.inf)).ravel()
    negative = problems.clipped(np.full((12, 1), -np.inf)).ravel()
    upper = [None if np.isinf(bound) else bound for bound in np.concatenate([positive, -negative])]

    def dual(parts):
        beta = parts[:12] - parts[12:]
        slope = Z @ (Z.T @ beta) + problems.ridge * beta - problems.targets[:, 0]
        value = beta @ (slope - problems.targets[:, 0]) / 2 + problems.epsilon * parts.sum()
        return value, np.concatenate([slope, -slope]) + problems.epsilon

    found = minimize(dual, np.zeros(24), jac=True, bounds=[(0, bound) for bound in upper], tol=1e-14)
    assert solution.details["objectives"][0] == pytest.approx(-found.fun, rel=1e-6)
    np.testing.assert_allclose(solution.value[0, :3], Z.T @ (found.x[:12] - found.x[12:]), atol=1e-4)


def test_weights_are_repetitions(rng, loss):
    Z = rng.standard_normal((60, 4))
    targets, count = _targets(rng, loss, Z, 2), rng.randint(4, size=60)
    once = coordinate_descent(Z, BoxProblems.of(loss, targets, 1.0 * count, epsilon=0.1))
    rows = np.repeat(np.arange(60), count)
    often = coordinate_descent(Z[rows], BoxProblems.of(loss, targets[rows], np.ones(len(rows)), epsilon=0.1))
    np.testing.assert_allclose(once.value, often.value, atol=1e-9 * np.abs(often.value).max())


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_threads_do_not_change_a_bit(rng, loss, layout):
    Z = layout(rng.standard_normal((900, 33)).astype(np.float32))
    problems = BoxProblems.of(loss, _targets(rng, loss, np.asarray(Z @ np.eye(33)), 5), np.ones(900), epsilon=0.1)
    results = []
    for threads in (1, 2, 3):
        with config_context(threads=threads):
            results.append(coordinate_descent(Z, problems, max_iter=15))
    for other in results[1:]:
        np.testing.assert_array_equal(other.value, results[0].value)
        assert other.history == results[0].history


def test_a_start_near_the_solution_saves_epochs(rng, loss):
    Z = rng.standard_normal((800, 15)) / 8
    targets = _targets(rng, loss, Z, 1)
    descend = partial(coordinate_descent, Z, max_iter=99)  # too few for inner steps
    cold = descend(BoxProblems.of(loss, targets, np.ones(800), epsilon=0.1))
    problems = BoxProblems.of(loss, targets, np.full(800, 1.05), epsilon=0.1)
    warm = descend(problems, duals=cold.details["duals"])
    assert warm.iterations < descend(problems).iterations
    assert warm.success


def test_too_few_epochs_end_with_advice(rng):
    Z = rng.standard_normal((800, 15)).astype(np.float32)
    solution = coordinate_descent(Z, BoxProblems.of("hinge", _targets(rng, "hinge", Z, 2), np.ones(800)), max_iter=2)
    assert (solution.status, solution.iterations, len(solution.history)) == ("iteration limit", 2, 2)
    assert solution.gap > 1e-4
    assert "2 epochs left a duality gap of" in solution.advice
    assert "raise max_iter or tol, lower C" in solution.advice


def _crawling(rng, loss, n, dtype):
    """Costs so large that descent alone would leave most of the gap."""
    Z = (rng.standard_normal((n, 20)) / 4).astype(dtype)
    cost = 1e3 * np.where(np.arange(n) % 10 == 3, 0.0, rng.random_sample(n))
    return Z, BoxProblems.of(loss, _targets(rng, loss, Z, 3), cost, epsilon=0.01, constant=0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_what_crawls_ends_by_inner_steps(rng, loss, dtype):
    Z, problems = _crawling(rng, loss, 700, dtype)
    one, two = (_on(threads, Z, problems) for threads in (1, 2))
    assert one.success
    assert 16 <= one.iterations < 100  # as soon as its pace shows
    inner = "finite Newton" if loss.startswith("squared") else "interior point"
    assert one.details["solver"] == f"dual coordinate descent, {inner}"
    duals = one.details["duals"]
    np.testing.assert_array_equal(problems.clipped(duals), duals)
    Z = Z.astype(np.float64)
    of_duals = np.hstack([duals.T @ Z, 0.5 * duals.sum(axis=0)[:, None]])
    dual = -(0.5 * (of_duals**2).sum(axis=1) + problems.conjugates(slice(0, 700), duals).sum(axis=0))
    primal = _objective(problems, Z, one.value)
    assert np.all(primal - dual <= 1.01e-4 * primal)
    assert one.gap == pytest.approx(((primal - dual) / primal).max(), rel=1e-3, abs=1e-9)
    np.testing.assert_array_equal(one.value, two.value)
    again = coordinate_descent(Z.astype(dtype), problems, duals=duals)
    assert again.success


def _on(threads, Z, problems):
    with config_context(threads=threads):
        return coordinate_descent(Z, problems)


def test_small_problems_that_crawl_are_exact_too(rng, loss):
    solution = coordinate_descent(*_crawling(rng, loss, 300, np.float64))
    assert ", " in solution.details["solver"]
    assert solution.gap < 1e-11


def test_patience_ends_with_the_pace_or_the_epochs():
    patience = Patience(epochs=200, worth=50.0)
    halving = [0.5**i for i in range(100)]
    assert not patience.is_over(halving[:16], 1e-4)
    assert not patience.is_over(halving[:15], 1e-30)  # too early to tell
    assert patience.is_over(halving[:16], 1e-30)  # 84 epochs left
    assert not patience.is_over(halving[:51], 1e-30)  # 50 left
    assert patience.is_over([1.0] * 16, 1e-4)  # no pace at all
    assert patience.is_over([-1e-9] * 8 + [1.0] * 8, 0.0)  # an estimate may be negative, and nothing be enough
    assert not patience.is_over([1e-5] * 199, 1e-4)  # it is there
    assert patience.is_over([1e-5] * 200, 1e-4)


def test_inner_steps_are_for_dense_features_and_long_descents(rng):
    Z, problems = _crawling(rng, "hinge", 700, np.float32)
    solution = coordinate_descent(Z, problems, max_iter=99)
    assert solution.details["solver"] == "dual coordinate descent"
    assert not solution.success
    sparse_rows = coordinate_descent(sparse.csr_array(Z), problems, max_iter=200)
    assert sparse_rows.details["solver"] == "dual coordinate descent"


@pytest.mark.skipif(sys.platform == "win32", reason="needs pthread_kill")
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_is_seen_within_a_second(rng, threads):
    Z = rng.standard_normal((20_000, 200)).astype(np.float32)
    problems = BoxProblems.of("hinge", _targets(rng, "hinge", Z, 4), np.full(20_000, 1e6))
    # A real signal, which wakes a thread that waits; _thread.interrupt_main would not.
    threading.Timer(0.5, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
    start = time.monotonic()
    with config_context(threads=threads), pytest.raises(KeyboardInterrupt):
        coordinate_descent(Z, problems, tol=1e-15, max_iter=100_000)
    # Generous: what must not happen is that the descent goes on for its minutes.
    assert time.monotonic() - start < 20
