"""When coordinate descent stalls, and what solves the problem instead."""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows
from mercer.solvers.solution import Solution
from mercer.solvers.support_vectors.dense_rows import Design
from mercer.solvers.support_vectors.finite_newton import finite_newton
from mercer.solvers.support_vectors.low_rank_program import low_rank_program
from mercer.solvers.support_vectors.svm_dual import BoxProblems

# Cost of the inner steps in epochs per feature (of min(n, D)), as measured: the interior-point method of the plain
# losses, and the Newton steps of the squared ones, for the first problem and for each further one (an epoch reads a row
# once for all problems). A switch after that number of epochs takes at most twice as long as the faster of the two
# methods.
_PLAIN_EPOCHS = 2.0
_SQUARED_EPOCHS, _FURTHER_PROBLEM = 1 / 8, 1 / 32
# First epoch with an estimate; fewest remaining epochs that justify a switch; earliest forced switch.
_EARLIEST, _LEAST_LEFT, _LEAST_EPOCHS = 16, 30, 100
# Multiplications of a step, for all problems, below which its time does not matter; width of its largest matrix.
_CHEAP_STEP = 2**32
_WIDEST_STEP = 4096


class Patience(NamedTuple):
    """When a descent switches to inner steps: after ``epochs``, or if it projects more than ``worth`` further ones."""

    epochs: int
    worth: float = np.inf

    @classmethod
    def of(cls, Z: Rows, problems: BoxProblems, max_iter: int) -> Self:
        """Return the patience with some problems; max_iter epochs if there are no inner steps for them."""
        (n_rows, width), n_problems = Z.shape, problems.targets.shape[1]
        rank = min(n_rows, width)
        if sparse.issparse(Z) or rank > _WIDEST_STEP or (problems.is_squared and n_rows < width):
            return cls(max_iter)
        squared = _SQUARED_EPOCHS + _FURTHER_PROBLEM * (n_problems - 1)
        worth = rank * (squared if problems.is_squared else _PLAIN_EPOCHS)
        most = max_iter // 2 if n_problems * n_rows * rank**2 <= _CHEAP_STEP else max_iter
        epochs = max(min(int(worth), most), _LEAST_EPOCHS)
        return cls(epochs, max(worth, _LEAST_LEFT)) if epochs < max_iter else cls(max_iter)

    def is_over(self, history: list[float], tol: float) -> bool:
        """Whether a descent with these gaps after its epochs should switch."""
        return len(history) >= self.epochs or _epochs_left(history, tol) > self.worth


def _epochs_left(history: list[float], tol: float) -> float:
    """Project the number of epochs until the gap is ``tol``, at the rate of the later half; 0 in the first epochs."""
    n, half = len(history), len(history) // 2
    if n < _EARLIEST or history[-1] <= tol:
        return 0.0
    before, now, end = np.log(np.maximum([history[half - 1], history[-1], tol], np.finfo(float).tiny))
    return float((n - half) * (now - end) / (before - now)) if before > now else np.inf


def inner_steps(Z: Array, problem: BoxProblems, start: Array, tol: float) -> Solution:
    """Solve one problem on rows of cost > 0 to a gap of ``tol``, or as near as rounding allows.

    ``details`` hold the ``duals``, and a ``guess``: duals with the entries that will end at a bound put there.
    """
    if problem.is_squared:
        return finite_newton(Design(Z, problem.constant), problem, start, tol=tol)
    return low_rank_program(problem.program(Z), tol=tol)
