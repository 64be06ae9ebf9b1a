"""Newton steps for squared losses: the optimum of badly scaled problems, its certificate, and few rows read."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer import config_context
from mercer.solvers import BoxProblems, Design
from mercer.solvers import finite_newton as newton
from mercer.testing import check_solver

LOSSES = ["squared_hinge", "squared_epsilon_insensitive"]


def finite_newton(*arguments, **options):
    solution = newton(*arguments, **options)
    return solution.value, solution.details["duals"], solution.iterations


def _problem(rng, loss, n, D, dtype=np.float64, spread=3.0, cost=1e3):
    """Features of sizes 1 to 10^spread, on which coordinate descent converges slowly."""
    Z = (rng.standard_normal((n, D)) * np.logspace(0, spread, D) / 4).astype(dtype)
    scores = Z @ rng.standard_normal(D) + 0.5 * rng.standard_normal(n)
    targets = np.where(scores > 0, 1.0, -1.0) if "hinge" in loss else scores
    return Design(Z, 0.7), BoxProblems.of(loss, targets[:, None], cost * (0.1 + rng.random_sample(n)), epsilon=0.2)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_is_scipy_s(rng, loss):
    design, problem = _problem(rng, loss, 300, 6, spread=1.0, cost=1.0)

    def objective(w):
        scores = design.Z @ w[:-1] + design.constant * w[-1]
        duals = problem.duals_at(scores[:, None])[:, 0]
        gradient = w - np.append(duals @ design.Z, design.constant * duals.sum())
        return 0.5 * w @ w + problem.losses(slice(None), scores[:, None]).sum(), gradient

    weights, duals, steps = finite_newton(design, problem, np.zeros(300), tol=1e-14)
    best = minimize(objective, np.zeros(7), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 10_000})
    assert objective(weights)[0] <= best.fun * (1 + 1e-12)
    np.testing.assert_allclose(weights, best.x, atol=1e-5)
    np.testing.assert_allclose(design.weights(duals), weights, rtol=1e-6)
    assert 0 < steps < 20


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_half_the_squared_gradient_is_the_gap(rng, loss, dtype):
    design, problem = _problem(rng, loss, 2000, 30, dtype)
    weights, duals, _ = finite_newton(design, problem, np.zeros(2000), tol=1e-6)
    scores = design.scores(weights)[:, None]
    primal = 0.5 * weights @ weights + problem.losses(slice(None), scores).sum()
    of_duals = design.weights(duals)
    dual = -0.5 * of_duals @ of_duals - problem.conjugates(slice(None), duals[:, None]).sum()
    assert -1e-12 * primal <= primal - dual <= 1e-6 * primal
    gradient = weights - of_duals
    assert primal - dual == pytest.approx(0.5 * gradient @ gradient, rel=1e-3, abs=1e-10 * primal)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_at_the_solution_takes_no_step(rng, loss):
    design, problem = _problem(rng, loss, 500, 10, spread=0.0, cost=1.0)
    weights, duals, steps = finite_newton(design, problem, np.zeros(500), tol=1e-10)
    again, same, none = finite_newton(design, problem, duals, tol=1e-9)
    assert steps > 0 == none
    np.testing.assert_allclose(again, weights, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(same, duals, rtol=1e-5, atol=1e-7)


def test_the_number_of_threads_changes_no_bit(rng):
    design, problem = _problem(rng, "squared_hinge", 20_000, 12, np.float32)
    results = []
    for threads in (1, 2, 3):
        with config_context(threads=threads):
            results.append(finite_newton(design, problem, np.zeros(20_000)))
    for weights, duals, steps in results[1:]:
        np.testing.assert_array_equal(weights, results[0][0])
        np.testing.assert_array_equal(duals, results[0][1])
        assert steps == results[0][2]


def test_products_that_overflow_end_it_where_it_stands(rng):
    design, problem = _problem(rng, "squared_hinge", 50, 3, np.float32)
    huge = Design((design.Z * np.float32(1e25)).astype(np.float32), 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        weights, duals, _ = finite_newton(huge, problem, np.zeros(50), max_iter=5)
    assert np.isfinite(weights).all()
    assert np.isfinite(duals).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("max_iter", [1, 500])
def test_it_keeps_the_laws_of_a_solver(rng, loss, dtype, max_iter):
    """On features of sizes 1 to 1000, also after one step.

    A start is given by duals. In float32 their weights differ from the weights of the solution by more than a step.
    """
    design, problem = _problem(rng, loss, 400, 8, dtype)

    def objective(weights):
        scores = design.Z.astype(np.float64) @ weights[:-1] + design.constant * weights[-1]
        return 0.5 * weights @ weights + problem.losses(slice(None), scores[:, None]).sum()

    solution = check_solver(
        lambda: newton(design, problem, np.zeros(400), tol=1e-6, max_iter=max_iter),
        objective=objective,
        tol=1e-6,
        resume=None if dtype == np.float32 else lambda found: newton(design, problem, found.details["duals"], tol=1e-6),
        rtol=1e-12 if dtype == np.float64 else 1e-5,
    )
    assert solution.success == (max_iter > 1)
