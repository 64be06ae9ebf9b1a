"""Solvers: one algorithm, one file. They know matrices and products, not rows, features or estimators."""

from mercer.solvers.cholesky import cholesky
from mercer.solvers.conjugate_gradients import conjugate_gradients
from mercer.solvers.losses import Logistic, Loss, Multinomial, SquaredEpsilonInsensitive, SquaredHinge
from mercer.solvers.newton_cg import newton_cg
from mercer.solvers.preconditioner import gram_preconditioner
from mercer.solvers.ridge_path import RidgePath, ridge_path
from mercer.solvers.solution import Solution

__all__ = [
    "Logistic",
    "Loss",
    "Multinomial",
    "RidgePath",
    "Solution",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "cholesky",
    "conjugate_gradients",
    "gram_preconditioner",
    "newton_cg",
    "ridge_path",
]
