"""Averaged Pegasos: its gap is true, and falls."""

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers import BoxProblems, coordinate_descent, pegasos
from mercer.testing import check_solver


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_the_gap_bounds_the_distance_to_the_optimum(rng, loss, layout):
    Z = rng.standard_normal((500, 6))
    Y = Z @ rng.standard_normal((6, 2)) + rng.standard_normal((500, 2))
    Y = np.sign(Y) if loss == "hinge" else Y
    weight = rng.random_sample(500)
    parts = [slice(0, 100), slice(100, 500)]

    def passes():
        return ((layout(Z[rows]), Y[rows], weight[rows]) for rows in parts)

    solution = pegasos(passes, (6, 2), 500, C=0.02, loss=loss, epsilon=0.0 if loss == "hinge" else 0.1, tol=0.02)
    assert solution.success
    assert list(solution.history) == sorted(solution.history, reverse=True)
    problems = BoxProblems.of(loss, Y, 0.02 * weight, epsilon=0.1)
    exact = coordinate_descent(Z, problems)
    scores = Z @ solution.value[:, :-1].T + solution.value[:, -1]
    objective = 0.5 * (solution.value**2).sum(axis=1) + problems.losses(slice(0, 500), scores).sum(axis=0)
    relative = (objective - exact.details["objectives"]) / objective
    assert np.all(relative >= -1e-12)
    assert relative.max() <= solution.gap <= 0.02


def test_too_few_passes_end_with_advice(rng):
    Z = rng.standard_normal((300, 6))
    Y = np.sign(Z[:, :1] + rng.standard_normal((300, 1)))
    solution = pegasos(lambda: [(Z, Y, None)], (6, 1), 300, C=1.0, loss="hinge", tol=1e-6, max_iter=4)
    assert (solution.status, solution.iterations) == ("iteration limit", 4)
    assert "4 passes left a duality gap of" in solution.advice


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
@pytest.mark.parametrize(("C", "max_iter"), [(1e-3, 100), (10.0, 1)])
def test_it_keeps_the_laws_of_a_solver(rng, loss, layout, C, max_iter):
    """On columns of sizes 0.01 to 100, also where one pass leaves every mean worse than 0."""
    Z = rng.standard_normal((200, 5)) * np.logspace(-2, 2, 5)
    Y = np.sign(rng.standard_normal((200, 2)))
    problems, rows = BoxProblems.of(loss, Y, np.full(200, C), epsilon=0.1), layout(Z)

    def objective(value):
        scores = Z @ value[:, :-1].T + value[:, -1]
        return 0.5 * (value**2).sum(axis=1) + problems.losses(slice(None), scores).sum(axis=0)

    options = {"C": C, "loss": loss, "epsilon": 0.1, "tol": 0.05, "max_iter": max_iter}
    check_solver(lambda: pegasos(lambda: [(rows, Y, None)], (5, 2), 200, **options), objective=objective, tol=0.05)


def test_a_squared_loss_is_refused():
    with pytest.raises(ValueError, match="pegasos: loss must be one of 'epsilon_insensitive', 'hinge'"):
        pegasos(list, (1, 1), 1, C=1.0, loss="squared_hinge")
