"""The laws of a solver."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from mercer._typing import Array
from mercer.solvers import Solution, Status
from mercer.testing.samples import rounding

# Largest length of the text of a solution.
_LONGEST_REPR = 200


def check_solver(
    solve: Callable[[], Solution],
    *,
    objective: Callable[[Array], ArrayLike] | None = None,
    others: tuple[Array, ...] = (),
    tol: float | None = None,
    certificate: Callable[[Solution], float] | None = None,
    resume: Callable[[Solution], Solution] | None = None,
    rtol: float | None = None,
) -> Solution:
    """Check the laws of a solver on one problem, and return its solution.

    - The status is a ``Status``; there is advice if and only if it is not success. The text of a solution is short.
    - The value is finite, and the history holds plain numbers.
    - A second run gives the same bits.
    - No objective is larger than at 0, or than at any of the ``others``, such as the start.
    - Success means that the certificate is at most ``tol``.
    - A run that starts at the solution of a successful run takes at most one iteration, and is no worse.

    Parameters
    ----------
    solve : function
        Solves the problem, and returns a ``Solution``.
    objective : function, optional
        From a value to the objective, or to the objectives of several problems.
    others : tuple of ndarray
        Further points that the solver has seen.
    tol : float, optional
        The tolerance that the solver was called with.
    certificate : function, optional
        From a solution to the number that is at most ``tol`` after success; ``solution.gap`` by default.
    resume : function, optional
        From a solution to the solution of a run that starts there.
    rtol : float, optional
        Rounding of the objective, relative to it; that of a float64 sum of 1000 terms by default.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers import conjugate_gradients
    >>> from mercer.testing import check_solver
    >>> A, b = np.diag([1.0, 2.0]), np.ones((2, 1))
    >>> check_solver(
    ...     lambda: conjugate_gradients(lambda v: A @ v, b, tol=1e-9),
    ...     objective=lambda w: 0.5 * np.sum(w * (A @ w)) - np.sum(b * w),
    ...     tol=1e-9,
    ...     certificate=lambda solution: solution.history[-1],
    ... )
    Solution(success, conjugate gradients, value of shape (2, 1), 2 iterations)
    """
    solution = solve()
    _check_form(solution)
    _check_same(solution, solve())
    slack = rounding(np.float64, 1000) if rtol is None else rtol
    if objective is not None:
        for point in (np.zeros_like(solution.value), *others):
            _check_lower(objective, solution, point, slack)
    if solution.success and tol is not None:
        reached = solution.gap if certificate is None else certificate(solution)
        assert reached is not None, "a solver without a gap needs a certificate"
        assert reached <= tol, f"the status is success, and the certificate {reached:.3g} is above tol={tol:g}"
    if solution.success and resume is not None:
        again = resume(solution)
        _check_form(again)
        assert again.success, f"a start at the solution ended with {again.status}"
        assert again.iterations <= 1, f"a start at the solution took {again.iterations} iterations"
        if objective is not None:
            _check_lower(objective, again, solution.value, slack)
    return solution


def _check_form(solution: Solution) -> None:
    assert isinstance(solution, Solution), f"a solver returns a Solution, not {type(solution).__name__}"
    assert isinstance(solution.status, Status)
    assert solution.success == (solution.status == "success")
    assert bool(solution.advice) != solution.success, f"{solution.status}: the advice is {solution.advice!r}"
    assert isinstance(solution.details.get("solver"), str), "details name the solver"
    assert np.isfinite(solution.value).all(), "the value is not finite"
    assert all(type(error) is float for error in solution.history), "the history holds plain numbers"
    assert solution.gap is None or solution.gap >= 0, f"a gap of {solution.gap}"
    assert len(repr(solution)) <= _LONGEST_REPR, "the text of a solution is long"


def _check_same(one: Solution, other: Solution) -> None:
    np.testing.assert_array_equal(one.value, other.value, err_msg="a second run differs")
    assert (one.status, one.iterations, one.history) == (other.status, other.iterations, other.history)


def _check_lower(objective: Callable[[Array], ArrayLike], solution: Solution, point: Array, slack: float) -> None:
    found, other = np.asarray(objective(solution.value)), np.asarray(objective(point))
    scale = np.maximum(np.abs(found), np.abs(other))
    assert np.all(found <= other + slack * scale), (
        f"the objective is {found}, and {other} at a point that the solver has seen ({solution})"
    )
