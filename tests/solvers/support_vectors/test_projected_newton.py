"""Projected Newton steps: exact duals in few steps, and no long search where rounding hides the bounds."""

import numpy as np
import pytest

from mercer.solvers import BoxProblems, coordinate_descent
from mercer.solvers.support_vectors.projected_newton import projected_newton
from mercer.solvers.support_vectors.svm_dual import LOSSES
from mercer.testing import check_solver


def _problem(rng, loss, scales=1.0, cost=1.0, n=120):
    Z = rng.standard_normal((n, 6)) * scales
    scores = Z @ rng.standard_normal(6) + 0.5 * rng.standard_normal(n)
    targets = np.where(scores > 0, 1.0, -1.0) if LOSSES[loss].one_sided else scores
    return Z, BoxProblems.of(loss, targets[:, None], np.full(n, cost), epsilon=0.1)


@pytest.mark.parametrize("loss", LOSSES)
def test_it_keeps_the_laws_of_a_solver(rng, loss):
    Z, problems = _problem(rng, loss)
    Q, exact = Z @ Z.T + 1.0, coordinate_descent(Z, problems).details["duals"]
    near = problems.clipped((1 - 1e-6) * exact)[:, 0]

    def objective(beta):
        quadratic = 0.5 * beta @ (Q + np.diag(problems.ridge)) @ beta
        return quadratic - problems.targets[:, 0] @ beta + problems.epsilon * np.abs(beta).sum()

    solution = check_solver(
        lambda: projected_newton(Q, problems, 0, near),
        objective=objective,
        others=(near,),
        tol=1e-11,
        certificate=lambda solution: solution.history[-1],
        resume=lambda solution: projected_newton(Q, problems, 0, solution.value),
    )
    assert solution.success
    np.testing.assert_array_equal(problems.clipped(solution.value[:, None])[:, 0], solution.value)


@pytest.mark.parametrize("loss", LOSSES)
def test_it_does_not_search_for_long_if_rounding_hides_the_bounds(rng, loss):
    """Three hundred factorisations took seconds, and led nowhere."""
    Z, problems = _problem(rng, loss, np.logspace(-4, 4, 6), 1e5)
    solution = projected_newton(Z @ Z.T + 1.0, problems, 0, np.zeros(120))
    assert solution.success or solution.iterations < 100
