"""What support vector problems change to where coordinate descent crawls, and when."""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from mercer._typing import Array
from mercer.solvers.support_vectors.dense_rows import Design
from mercer.solvers.support_vectors.finite_newton import finite_newton
from mercer.solvers.support_vectors.interior_point import low_rank_program
from mercer.solvers.support_vectors.svm_dual import BoxProblems

# Inner steps were measured to take the time of about this many epochs for each of min(n, D) features: the
# interior-point method of plain losses, and the Newton steps of squared ones (of one problem, and more for each beside
# it: an epoch reads a row once for all). To change after as many is at most twice as slow as the better of the two.
_PLAIN_EPOCHS = 2.0
_SQUARED_EPOCHS, _BESIDE_IT = 1 / 8, 1 / 32
# Epochs after which the pace of a descent tells how many are left; how many left are worth a change at least; and after
# how many it comes at the earliest where the pace does not call for it.
_EARLIEST, _LEAST_LEFT, _LEAST_EPOCHS = 16, 30, 100
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


class Patience(NamedTuple):
    """When a descent changes to inner steps: after so many epochs, or as soon as more than ``worth`` are left."""

    epochs: int
    worth: float = np.inf

    @classmethod
    def of(cls, Z: Any, problems: BoxProblems, max_iter: int) -> Self:
        """Return that of some problems on features; where there are no inner steps, max_iter epochs."""
        (n_rows, width), n_problems = Z.shape, problems.targets.shape[1]
        rank = min(n_rows, width)
        if sparse.issparse(Z) or rank > _WIDEST_STEP or (problems.is_squared and n_rows < width):
            return cls(max_iter)
        squared = _SQUARED_EPOCHS + _BESIDE_IT * (n_problems - 1)
        worth = rank * (squared if problems.is_squared else _PLAIN_EPOCHS)
        most = max_iter // 2 if n_problems * n_rows * rank**2 <= _CHEAP_STEP else max_iter
        epochs = max(min(int(worth), most), _LEAST_EPOCHS)
        return cls(epochs, max(worth, _LEAST_LEFT)) if epochs < max_iter else cls(max_iter)

    def is_over(self, history: list[float], tol: float) -> bool:
        """Whether a descent with these gaps after its epochs should change."""
        return len(history) >= self.epochs or _epochs_left(history, tol) > self.worth


def _epochs_left(history: list[float], tol: float) -> float:
    """Return how many more epochs the gap takes to ``tol`` at the pace of the later half; 0 where it shows none yet."""
    n, half = len(history), len(history) // 2
    if n < _EARLIEST or history[-1] <= tol:
        return 0.0
    before, now, end = np.log(np.maximum([history[half - 1], history[-1], tol], np.finfo(float).tiny))
    return float((n - half) * (now - end) / (before - now)) if before > now else np.inf


def inner_steps(Z: Array, problem: BoxProblems, start: Array, tol: float) -> Inner:
    """Solve one problem on rows of cost > 0 to a gap of ``tol``, or as near as rounding allows."""
    if problem.is_squared:
        weights, duals, steps = finite_newton(Design(Z, problem.constant), problem, start, tol=tol)
        return Inner(weights, duals, duals, steps)
    duals, guess, steps = low_rank_program(problem.program(Z), tol=tol)
    return Inner(None, duals, guess, steps)
