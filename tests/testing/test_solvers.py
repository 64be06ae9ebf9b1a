"""The kit for solvers finds solvers that break its laws."""

from itertools import count

import numpy as np
import pytest

from mercer.solvers import Solution, Status
from mercer.solvers.solution import Remedy
from mercer.testing import check_solver


def _objective(w):
    return float(np.sum((w - 1.0) ** 2))


def _good(**changes):
    return Solution.converged(np.ones(2), "exact", **changes)


def test_a_sound_solver_passes_and_its_solution_is_returned():
    solution = check_solver(lambda: _good(gap=0.0), objective=_objective, tol=1e-9, resume=lambda solution: solution)
    assert solution.success
    stopped = Solution.stopped(np.ones(2), "s", Status.STALLED, "2 steps left 1", [Remedy.SCALE])
    assert check_solver(lambda: stopped, objective=_objective, tol=1e-9) is stopped


@pytest.mark.parametrize(
    ("solution", "words"),
    [
        (np.ones(2), "a solver returns a Solution, not ndarray"),
        (Solution(np.ones(2), "stalled", details={"solver": "s"}), "stalled: the advice is ''"),
        (Solution(np.ones(2), advice="raise C", details={"solver": "s"}), "success: the advice is 'raise C'"),
        (Solution(np.ones(2)), "details name the solver"),
        (Solution.converged(np.array([np.nan]), "s"), "the value is not finite"),
        (_good(history=[np.float64(1.0)]), "the history holds plain numbers"),
        (_good(gap=-1.0), "a gap of -1"),
        (Solution.converged(np.ones(2), 200 * "s"), "the text of a solution is long"),
    ],
)
def test_a_solution_of_bad_form_is_found(solution, words):
    with pytest.raises(AssertionError, match=words):
        check_solver(lambda: solution)


def test_a_second_run_that_differs_is_found():
    runs = count()
    with pytest.raises(AssertionError, match="a second run differs"):
        check_solver(lambda: Solution.converged(np.full(2, next(runs)), "s"))


def test_a_value_worse_than_zero_or_than_another_point_is_found():
    far = Solution.converged(np.full(2, 5.0), "s")
    with pytest.raises(AssertionError, match="a point that the solver has seen"):
        check_solver(lambda: far, objective=_objective)
    half = Solution.converged(np.full(2, 0.5), "s")
    check_solver(lambda: half, objective=_objective)
    with pytest.raises(AssertionError, match="a point that the solver has seen"):
        check_solver(lambda: half, objective=_objective, others=(np.full(2, 0.9),))


def test_a_success_without_its_certificate_is_found():
    with pytest.raises(AssertionError, match=r"the certificate 0.1 is above tol=0.01"):
        check_solver(lambda: _good(gap=0.1), tol=0.01)
    with pytest.raises(AssertionError, match="needs a certificate"):
        check_solver(_good, tol=0.01)
    check_solver(_good, tol=0.01, certificate=lambda solution: 0.0)


def test_a_start_at_the_solution_that_wanders_off_is_found():
    with pytest.raises(AssertionError, match="took 7 iterations"):
        check_solver(_good, resume=lambda solution: _good(iterations=7))
    stopped = Solution.stopped(np.ones(2), "s", Status.STALLED, "2 steps left 1", [Remedy.SCALE])
    with pytest.raises(AssertionError, match="a start at the solution ended with stalled"):
        check_solver(_good, resume=lambda solution: stopped)
    worse = Solution.converged(np.zeros(2), "s")
    with pytest.raises(AssertionError, match="a point that the solver has seen"):
        check_solver(_good, objective=_objective, resume=lambda solution: worse)
