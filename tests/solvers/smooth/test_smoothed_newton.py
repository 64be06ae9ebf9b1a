"""Plain losses by smoothing: the optimum of coordinate descent, a gap that is the true one, starts, stalls, advice."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers import BoxProblems, PlainLoss, coordinate_descent, gram_preconditioner, smoothed_newton
from mercer.testing import check_solver

NAMES = ("hinge", "epsilon_insensitive")
EPSILON, C = 0.1, 0.5


def _loss(name):
    return PlainLoss(name == "hinge", 0.0 if name == "hinge" else EPSILON)


def _problem(rng, name, n_targets, dtype=np.float64):
    Z = (rng.standard_normal((600, 8)) / 3).astype(dtype)
    Y = Z @ rng.standard_normal((8, n_targets)) + 0.5 * rng.standard_normal((600, n_targets))
    return Z, np.sign(Y) if name == "hinge" else Y, rng.random_sample(600)


def _reduce(Z, Y, weight=None, cuts=(70, 71)):
    def reduce(title, work, into):
        for a, b in pairwise([0, *cuts, Z.shape[0]]):
            into.merge(work(Z[a:b], Y[a:b], None if weight is None else weight[a:b]))
        return into

    return reduce


def _solve(name, Z, Y, weight=None, *, start=None, cuts=(70, 71), **options):
    start = np.zeros((Z.shape[1] + 1, Y.shape[1])) if start is None else start
    A = np.hstack([Z.toarray() if sparse.issparse(Z) else Z, np.ones((Z.shape[0], 1))]).astype(np.float64)
    precondition = gram_preconditioner(A.T @ A / len(A), 1.0, 1.0)
    eps = float(np.finfo(Z.dtype).eps)
    return smoothed_newton(
        _loss(name), _reduce(Z, Y, weight, cuts), start, C=C, precondition=precondition, eps=eps, **options
    )


def _objectives(name, Z, Y, weight):
    problems = BoxProblems.of(name, Y, C * weight, epsilon=EPSILON)

    def objectives(value):
        scores = Z @ value[:, :-1].T + value[:, -1]
        return 0.5 * (value**2).sum(axis=1) + problems.losses(slice(0, len(Y)), scores).sum(axis=0)

    return problems, objectives


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", NAMES)
def test_the_optimum_is_that_of_coordinate_descent(rng, name, layout, dtype, n_targets):
    Z, Y, weight = _problem(rng, name, n_targets, dtype)
    solution = _solve(name, layout(Z), Y, weight, tol=1e-3)
    assert solution.success
    problems, objectives = _objectives(name, Z.astype(np.float64), Y, weight)
    exact = coordinate_descent(Z.astype(np.float64), problems, tol=1e-6, max_iter=10_000)
    found = objectives(solution.value)
    relative = (found - exact.details["objectives"]) / found
    assert np.all(relative >= -1e-6)
    assert relative.max() <= solution.gap + 1e-6 <= 1e-3 + 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_the_laws_of_solvers(rng, name):
    Z, Y, weight = _problem(rng, name, 2)
    _, objectives = _objectives(name, Z, Y, weight)
    solution = check_solver(lambda: _solve(name, Z, Y, weight, tol=1e-4), objective=objectives, tol=1e-4)
    assert solution.success
    assert list(solution.history) == sorted(solution.history, reverse=True)  # the best gap so far


@pytest.mark.parametrize("name", NAMES)
def test_the_gap_is_primal_minus_dual(rng, name):
    """At the first point, w = 0, the duals of both widths are known: the better bound decides."""
    Z, Y, weight = _problem(rng, name, 1)
    solution = _solve(name, Z, Y, weight, tol=1e-12, max_passes=1)
    problems, objectives = _objectives(name, Z, Y, weight)
    zero = np.zeros((1, 9))
    primal, bounds = objectives(zero)[0], [0.0]
    loss, excess = _loss(name), _loss(name).excess(np.zeros_like(Y), Y)
    for shrink in (1.0, 0.4):
        width = shrink * 2.0 * primal / (C * weight.sum())
        duals = C * weight[:, None] * loss.slopes(excess, width) * loss.signs(np.zeros_like(Y), Y)
        np.testing.assert_array_equal(problems.clipped(duals), duals)  # feasible
        w = np.append(Z.T @ duals, duals.sum())
        bounds.append(-(0.5 * w @ w + problems.conjugates(slice(0, 600), duals).sum()))
    np.testing.assert_allclose(solution.history[0], (primal - max(bounds)) / primal, rtol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_cuts_and_other_targets_change_rounding_only(rng, name):
    Z, Y, weight = _problem(rng, name, 1)
    one = _solve(name, Z, Y, weight, tol=1e-6)
    np.testing.assert_allclose(_solve(name, Z, Y, weight, tol=1e-6, cuts=(5, 300)).value, one.value, atol=1e-3)
    both = _solve(name, Z, np.hstack([Y, -Y]), weight, tol=1e-6)
    np.testing.assert_allclose(both.value, np.vstack([one.value, -one.value]), atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_a_start_near_the_solution_saves_passes_and_a_bad_one_does_no_harm(rng, name):
    Z, Y, _ = _problem(rng, name, 2)
    cold = _solve(name, Z, Y, tol=1e-5)
    warm = _solve(name, Z, Y, tol=1e-5, start=cold.value.T)
    assert warm.success
    assert warm.details["passes"] < cold.details["passes"] / 2
    bad = _solve(name, Z, Y, tol=1e-5, start=np.full((9, 2), 1e3))
    np.testing.assert_array_equal(bad.value, cold.value)


def test_targets_within_the_tube_have_the_weights_0(rng):
    Z, Y, _ = _problem(rng, "epsilon_insensitive", 2)
    solution = _solve("epsilon_insensitive", Z, np.clip(Y, -EPSILON, EPSILON))
    assert solution.success
    assert not solution.value.any()


def test_too_few_passes_end_with_advice(rng):
    Z, Y, _ = _problem(rng, "hinge", 1)
    solution = _solve("hinge", Z, Y, tol=1e-9, max_passes=4)
    assert solution.status == "iteration limit"
    assert "passes left a duality gap of" in solution.advice
    assert "take the squared loss" in solution.advice


def test_rounding_ends_in_a_stall_with_the_best_point(rng):
    Z, Y, weight = _problem(rng, "hinge", 1, np.float32)
    solution = _solve("hinge", Z, Y, weight, tol=1e-15, max_passes=2000)
    assert solution.status == "stalled"
    assert solution.gap < 1e-5
