"""Descent on one block after the other: the optimum of all rows, a true gap, threads, advice."""

import numpy as np
import pytest
from scipy import sparse

from mercer import config_context
from mercer.solvers import BoxProblems, block_descent, coordinate_descent
from mercer.solvers.support_vectors.svm_dual import LOSSES
from mercer.testing import check_solver

PARTS = [slice(0, 70), slice(70, 71), slice(71, 600)]


def _problem(rng, loss, n_targets, dtype=np.float64):
    Z = (rng.standard_normal((600, 8)) / 3).astype(dtype)
    Y = Z @ rng.standard_normal((8, n_targets)) + 0.5 * rng.standard_normal((600, n_targets))
    return Z, np.sign(Y) if "hinge" in loss else Y, rng.random_sample(600)


def _solve(layout, Z, Y, weight, loss, **options):
    def passes():
        return ((layout(Z[rows]), Y[rows], None if weight is None else weight[rows]) for rows in PARTS)

    return block_descent(passes, (8, Y.shape[1]), 600, C=0.5, loss=loss, epsilon=0.1, **options)


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_is_that_of_all_rows_held(rng, loss, layout, dtype, n_targets):
    Z, Y, weight = _problem(rng, loss, n_targets, dtype)
    solution = _solve(layout, Z, Y, weight, loss, tol=1e-3)
    assert solution.success
    problems = BoxProblems.of(loss, Y, 0.5 * weight, epsilon=0.1)
    Z = Z.astype(np.float64)
    exact = coordinate_descent(Z, problems, tol=1e-6, max_iter=10_000)
    scores = Z @ solution.value[:, :-1].T + solution.value[:, -1]
    objective = 0.5 * (solution.value**2).sum(axis=1) + problems.losses(slice(0, 600), scores).sum(axis=0)
    relative = (objective - exact.details["objectives"]) / objective
    assert np.all(relative >= -1e-6)
    assert relative.max() <= solution.gap + 1e-6 <= 1e-3 + 1e-6


def test_threads_and_other_targets_leave_the_bits(rng):
    Z, Y, _ = _problem(rng, "hinge", 3)
    found = []
    for threads in (1, 2):
        with config_context(threads=threads):
            found.append(_solve(np.asarray, Z, Y, None, "hinge", max_iter=3).value)
    np.testing.assert_array_equal(*found)


def test_too_few_passes_end_with_advice(rng):
    Z, Y, _ = _problem(rng, "hinge", 1)
    solution = _solve(np.asarray, Z, Y, None, "hinge", tol=1e-9, max_iter=2)
    assert (solution.status, solution.iterations, solution.details["passes"]) == ("iteration limit", 2, 3)
    assert "2 passes left a duality gap of" in solution.advice


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("max_iter", [1, 100])
def test_it_keeps_the_laws_of_a_solver(rng, loss, layout, max_iter):
    """On columns of sizes 0.01 to 100, also after one pass."""
    Z, Y, weight = _problem(rng, loss, 2)
    Z = Z * np.logspace(-2, 2, 8)
    problems = BoxProblems.of(loss, Y, 0.5 * weight, epsilon=0.1)

    def objective(value):
        scores = Z @ value[:, :-1].T + value[:, -1]
        return 0.5 * (value**2).sum(axis=1) + problems.losses(slice(None), scores).sum(axis=0)

    check_solver(lambda: _solve(layout, Z, Y, weight, loss, tol=1e-2, max_iter=max_iter), objective=objective, tol=1e-2)
