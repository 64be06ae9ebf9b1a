"""Solvers: one algorithm, one file. They know matrices and products, not rows, features or estimators."""

from mercer.solvers.block_descent import block_descent
from mercer.solvers.box import BoxProblems
from mercer.solvers.box_newton import box_newton, box_quadratic
from mercer.solvers.canonical import canonical_pairs
from mercer.solvers.cholesky import cholesky
from mercer.solvers.conjugate_gradients import conjugate_gradients
from mercer.solvers.coordinate_descent import coordinate_descent
from mercer.solvers.design import Design
from mercer.solvers.eigh import block_krylov, largest_eigenpairs
from mercer.solvers.finite_newton import finite_newton
from mercer.solvers.gcv import gcv_score
from mercer.solvers.heads import Heads, leading_directions
from mercer.solvers.interior_point import LowRankProgram, low_rank_program
from mercer.solvers.liblinear import liblinear
from mercer.solvers.losses import Logistic, Loss, Multinomial, SquaredEpsilonInsensitive, SquaredHinge
from mercer.solvers.nearest import NearestCentres, distances
from mercer.solvers.newton_cg import newton_cg
from mercer.solvers.one_class import one_class
from mercer.solvers.pegasos import pegasos
from mercer.solvers.preconditioner import gram_preconditioner
from mercer.solvers.ridge_path import RidgePath, ridge_path, singular_path
from mercer.solvers.seeding import kmeans_plus_plus, random_rows
from mercer.solvers.shifted_cg import ShiftedSolutions, shifted_conjugate_gradients
from mercer.solvers.solution import Solution
from mercer.solvers.tridiagonal_path import TridiagonalPath, tridiagonal_path

__all__ = [
    "BoxProblems",
    "Design",
    "Heads",
    "Logistic",
    "Loss",
    "LowRankProgram",
    "Multinomial",
    "NearestCentres",
    "RidgePath",
    "ShiftedSolutions",
    "Solution",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "TridiagonalPath",
    "block_descent",
    "block_krylov",
    "box_newton",
    "box_quadratic",
    "canonical_pairs",
    "cholesky",
    "conjugate_gradients",
    "coordinate_descent",
    "distances",
    "finite_newton",
    "gcv_score",
    "gram_preconditioner",
    "kmeans_plus_plus",
    "largest_eigenpairs",
    "leading_directions",
    "liblinear",
    "low_rank_program",
    "newton_cg",
    "one_class",
    "pegasos",
    "random_rows",
    "ridge_path",
    "shifted_conjugate_gradients",
    "singular_path",
    "tridiagonal_path",
]
