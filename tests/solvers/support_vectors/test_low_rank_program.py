"""Programs of low rank in a box, with a sum and without: against general solvers, and at the edges."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.solvers import LowRankProgram, low_rank_program


def _duals(program, **options):
    return low_rank_program(program, **options).details["duals"]


def _with_sum(Z, total):
    return LowRankProgram(Z, np.ones((1, len(Z))), np.zeros((1, len(Z))), np.ones(len(Z)), total=total)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_minimum_is_a_general_solver_s(rng, share):
    Z = rng.standard_normal((30, 5)) + 0.5
    total = share * 30
    beta = _duals(_with_sum(Z, total), tol=1e-12)
    peer = minimize(
        lambda b: 0.5 * np.sum((Z.T @ b) ** 2),
        np.full(30, share),
        jac=lambda b: Z @ (Z.T @ b),
        bounds=[(0, 1)] * 30,
        constraints={"type": "eq", "fun": lambda b: b.sum() - total, "jac": lambda b: np.ones(30)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    ours = 0.5 * np.sum((Z.T @ beta) ** 2)
    assert beta.min() >= 0
    assert beta.max() <= 1
    assert beta.sum() == pytest.approx(total, rel=1e-12)
    assert ours <= peer.fun + 1e-8 * max(peer.fun, 1.0)


def test_a_full_sum_leaves_one_point(rng):
    solution = low_rank_program(_with_sum(rng.standard_normal((6, 2)), 6.0))
    assert solution.details["duals"].tolist() == [1.0] * 6
    assert solution.iterations == 0


def test_rows_of_zeros_have_any_solution():
    beta = _duals(_with_sum(np.zeros((8, 3)), 2.0))
    assert beta.sum() == pytest.approx(2.0)


def _in_box(rng, n, D, n_sides, dtype=np.float64):
    side = np.where(rng.random_sample(n) < 0.5, 1.0, -1.0)[None]
    signs = side if n_sides == 1 else np.vstack([side, -side])
    linear = 0.2 - signs * rng.standard_normal(n)
    upper = 0.1 + rng.random_sample(n)
    return LowRankProgram(rng.standard_normal((n, D)).astype(dtype), signs, linear, upper, constant=0.7)


@pytest.mark.parametrize("n_sides", [1, 2])
@pytest.mark.parametrize(("n", "D"), [(40, 5), (15, 30), (9000, 3)], ids=["tall", "wide", "blocks"])
def test_the_minimum_in_a_box_has_no_slope_left(rng, n, D, n_sides):
    """x (slope)_+ and (u - x) (slope)_- are 0 where the slope of a coordinate has the sign its bound allows."""
    program = _in_box(rng, n, D, n_sides)
    solution = low_rank_program(program, tol=1e-11)
    beta, guess = solution.details["duals"], solution.details["guess"]
    assert solution.iterations < 40
    Z = np.column_stack([program.Z, np.full(n, 0.7)])
    for found, limit in ((beta, 1e-4), (guess, 1e-2)):
        # With two sides at most one is above 0: which, and how far, beta says.
        x = np.maximum(program.signs * found, 0.0)
        assert np.all(x <= program.upper)
        slopes = program.signs * (Z @ (Z.T @ found)) + program.linear
        gap = np.sum(x * slopes + program.upper * np.maximum(-slopes, 0))
        assert abs(gap) <= limit * np.sum(program.upper * np.abs(program.linear))


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_the_minimum_in_a_box_is_a_general_solver_s(rng, dtype):
    program = _in_box(rng, 40, 6, 2, dtype)
    Z = np.column_stack([program.Z, np.full(40, 0.7)]).astype(np.float64)

    def objective(x):
        x = x.reshape(2, -1)
        w = Z.T @ (program.signs * x).sum(axis=0)
        return 0.5 * w @ w + np.sum(program.linear * x), (program.signs * (Z @ w) + program.linear).ravel()

    bounds = [(0, u) for u in np.tile(program.upper, 2)]
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000}
    peer = minimize(objective, np.zeros(80), jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    beta = _duals(program, tol=1e-10)
    np.testing.assert_allclose(Z.T @ beta, Z.T @ (program.signs * peer.x.reshape(2, -1)).sum(axis=0), atol=1e-4)
