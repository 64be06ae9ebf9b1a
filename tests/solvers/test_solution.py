"""Solutions: statuses that are text, advice in one place, a short text, and model files that hold them."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from mercer.solvers import Remedy, Solution, Status


def _stopped(remedies):
    return Solution.stopped(
        np.zeros(3), "method", Status.STALLED, "3 steps left 0.1", remedies, iterations=3, history=[0.5, 0.1], gap=0.1
    )


def test_a_status_is_text_and_a_member_of_the_enumeration():
    solution = Solution.converged(np.zeros(3), "method", iterations=2, history=[1.0, 0.0], gap=0.0, rank=2)
    assert solution.status is Status.SUCCESS
    assert solution.status == "success"
    assert f"{solution.status}" == "success"
    assert solution.success
    assert solution.advice == ""
    assert solution.details == {"solver": "method", "rank": 2}
    assert solution.history == (1.0, 0.0)


@pytest.mark.parametrize(
    ("remedies", "ways"),
    [
        ([Remedy.COST], "lower C."),
        ([Remedy.COST, Remedy.SCALE], "lower C or scale the features."),
        ([Remedy.MAX_ITER, Remedy.COST, Remedy.SCALE], "raise max_iter, lower C, or scale the features."),
    ],
)
def test_advice_says_what_was_left_and_the_ways_out(remedies, ways):
    solution = _stopped(remedies)
    assert not solution.success
    assert solution.advice == f"3 steps left 0.1: {ways}"


def test_the_text_is_short_whatever_the_value():
    text = repr(replace(_stopped([Remedy.COST]), value=np.zeros((1000, 7))))
    assert text == "Solution(stalled, method, value of shape (1000, 7), 3 iterations, gap 1.0e-01)"


def test_copies_keep_the_status():
    solution = _stopped([Remedy.COST]).with_details(block_rows=7)
    for other in (replace(solution), pickle.loads(pickle.dumps(solution))):
        assert other.status is Status.STALLED
        assert other.details["block_rows"] == 7


def test_an_unknown_status_is_refused():
    with pytest.raises(ValueError, match="tired"):
        Solution(np.zeros(1), "tired").status  # noqa: B018
