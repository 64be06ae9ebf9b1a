"""Solvers: one algorithm, one file. They know matrices and products, not rows, features or estimators."""

from mercer.solvers.cholesky import cholesky
from mercer.solvers.conjugate_gradients import conjugate_gradients
from mercer.solvers.ridge_path import RidgePath, ridge_path
from mercer.solvers.solution import Solution

__all__ = ["RidgePath", "Solution", "cholesky", "conjugate_gradients", "ridge_path"]
