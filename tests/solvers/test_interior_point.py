"""Programs of low rank with a sum and a box: against a general solver, and at the edges."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.solvers import low_rank_program


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_minimum_is_a_general_solver_s(rng, share):
    Z = rng.standard_normal((30, 5)) + 0.5
    total = share * 30
    beta, _ = low_rank_program(Z, total, tol=1e-12)
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
    beta, iterations = low_rank_program(rng.standard_normal((6, 2)), 6.0)
    assert beta.tolist() == [1.0] * 6
    assert iterations == 0


def test_rows_of_zeros_have_any_solution():
    beta, _ = low_rank_program(np.zeros((8, 3)), 2.0)
    assert beta.sum() == pytest.approx(2.0)
