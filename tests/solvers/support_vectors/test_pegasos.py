"""Averaged Pegasos: its gap is true, and falls."""

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers import BoxProblems, coordinate_descent, pegasos


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
