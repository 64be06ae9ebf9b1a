"""What support vector problems change to where coordinate descent crawls, and when."""

from typing import Any, NamedTuple

from scipy import sparse

from mercer._typing import Array
from mercer.solvers.box import BoxProblems
from mercer.solvers.design import Design
from mercer.solvers.finite_newton import finite_newton
from mercer.solvers.interior_point import low_rank_program

# Inner steps were measured to take the time of about this many epochs for each of min(n, D) features, and of at least
# so many: the interior-point method of plain losses, and the Newton steps of squared ones (of one problem, and more for
# each beside it: an epoch reads a row once for all). To change after as many is at most twice as slow as the better.
_PLAIN_EPOCHS = 2.0
_SQUARED_EPOCHS, _BESIDE_IT = 1 / 8, 1 / 32
_LEAST_EPOCHS = 100
# Multiplications of a step, for all problems, below which its time does not matter; and its largest matrix.
_CHEAP_STEP = 2**32
_WIDEST_STEP = 4096


class Inner(NamedTuple):
    """Where inner steps have ended.

    ``weights`` are given where they are nearer to the solution than those of the duals; ``guess`` is a start for
    methods that go by bounds.
    """

    weights: Array | None
    duals: Array
    guess: Array
    steps: int


def patience(Z: Any, problems: BoxProblems, max_iter: int) -> int:
    """Return the epochs after which a problem that is not done changes to inner steps; max_iter for never."""
    (n_rows, width), n_problems = Z.shape, problems.targets.shape[1]
    rank = min(n_rows, width)
    if sparse.issparse(Z) or rank > _WIDEST_STEP or (problems.is_squared and n_rows < width):
        return max_iter
    squared = _SQUARED_EPOCHS + _BESIDE_IT * (n_problems - 1)
    epochs = int(rank * (squared if problems.is_squared else _PLAIN_EPOCHS))
    if n_problems * n_rows * rank**2 <= _CHEAP_STEP:
        epochs = min(epochs, max_iter // 2)
    return min(max(epochs, _LEAST_EPOCHS), max_iter)


def inner_steps(Z: Array, problem: BoxProblems, start: Array, tol: float) -> Inner:
    """Solve one problem on rows of cost > 0 to a gap of ``tol``, or as near as rounding allows."""
    if problem.is_squared:
        weights, duals, steps = finite_newton(Design(Z, problem.constant), problem, start, tol=tol)
        return Inner(weights, duals, duals, steps)
    duals, guess, steps = low_rank_program(problem.program(Z), tol=tol)
    return Inner(None, duals, guess, steps)
