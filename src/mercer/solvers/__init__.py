"""Solvers: one algorithm per file. Solvers work on matrices and products, and know no estimators."""

from mercer.solvers.box.box_newton import box_newton, box_quadratic
from mercer.solvers.clustering.heads import Heads, leading_directions
from mercer.solvers.clustering.nearest import NearestCentres, distances, first_of_equals
from mercer.solvers.clustering.seeding import kmeans_plus_plus, random_rows
from mercer.solvers.ridge.cholesky import cholesky
from mercer.solvers.ridge.conjugate_gradients import conjugate_gradients
from mercer.solvers.ridge.dual_path import DualPath, dual_gcv, shift_roots
from mercer.solvers.ridge.gcv import gcv_score
from mercer.solvers.ridge.ridge_path import RidgePath, ridge_path, singular_path
from mercer.solvers.ridge.shifted_cg import ShiftedSolutions, shifted_conjugate_gradients
from mercer.solvers.ridge.tridiagonal_path import TridiagonalPath, tridiagonal_path
from mercer.solvers.smooth.losses import Logistic, Loss, Multinomial, SquaredEpsilonInsensitive, SquaredHinge
from mercer.solvers.smooth.low_rank import LowRank
from mercer.solvers.smooth.newton_cg import newton_cg
from mercer.solvers.smooth.plain_losses import PlainLoss
from mercer.solvers.smooth.preconditioner import gram_preconditioner, low_rank_preconditioner
from mercer.solvers.smooth.smoothed_newton import smoothed_newton
from mercer.solvers.solution import Remedy, Solution, Status
from mercer.solvers.spectra.canonical import canonical_pairs
from mercer.solvers.spectra.eigh import block_krylov, largest_eigenpairs
from mercer.solvers.support_vectors.block_descent import block_descent
from mercer.solvers.support_vectors.coordinate_descent import coordinate_descent
from mercer.solvers.support_vectors.dense_rows import Design
from mercer.solvers.support_vectors.finite_newton import finite_newton
from mercer.solvers.support_vectors.liblinear import liblinear
from mercer.solvers.support_vectors.low_rank_program import LowRankProgram, low_rank_program
from mercer.solvers.support_vectors.one_class import one_class
from mercer.solvers.support_vectors.pegasos import pegasos
from mercer.solvers.support_vectors.svm_dual import BoxProblems

__all__ = [
    "BoxProblems",
    "Design",
    "DualPath",
    "Heads",
    "Logistic",
    "Loss",
    "LowRank",
    "LowRankProgram",
    "Multinomial",
    "NearestCentres",
    "PlainLoss",
    "Remedy",
    "RidgePath",
    "ShiftedSolutions",
    "Solution",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "Status",
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
    "dual_gcv",
    "finite_newton",
    "first_of_equals",
    "gcv_score",
    "gram_preconditioner",
    "kmeans_plus_plus",
    "largest_eigenpairs",
    "leading_directions",
    "liblinear",
    "low_rank_preconditioner",
    "low_rank_program",
    "newton_cg",
    "one_class",
    "pegasos",
    "random_rows",
    "ridge_path",
    "shift_roots",
    "shifted_conjugate_gradients",
    "singular_path",
    "smoothed_newton",
    "tridiagonal_path",
]
