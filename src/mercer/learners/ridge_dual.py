"""Ridge regression in the space of the rows, for sparse features of which there are more than rows."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from mercer._typing import Array, Csr
from mercer.fitting import FeatureRows
from mercer.learners.hashing import splitmix64
from mercer.parallel import for_each_block, row_blocks
from mercer.solvers import (
    DualPath,
    Remedy,
    ShiftedSolutions,
    Solution,
    Status,
    cholesky,
    conjugate_gradients,
    dual_gcv,
    gcv_score,
    shift_roots,
    shifted_conjugate_gradients,
    tridiagonal_path,
)

# Rows up to which their Gram matrix is made, and up to which its eigenvectors are: for leave-one-out.
_GRAM_ROWS, _EIGEN_ROWS = 4608, 2048
# Matrices of n x n in float64 that are held at once.
_SQUARE_MATRICES = 4
# Rows of the Gram matrix made at once.
_BLOCK_ROWS = 128
# Random signs of the rows that estimate a trace, and alphas below the best after which the path ends.
_PROBES, _PAST_THE_BEST = 8, 3


def is_dual(rows: FeatureRows) -> bool:
    """Return whether the rows are fewer than their sparse features, and these can be held."""
    return rows.is_sparse and rows.n_rows < rows.n_features and rows.fits


@dataclass(frozen=True)
class DualFit:
    """What a solution in the space of the rows leaves: coefficients (D, n_targets), means, and scores of alphas."""

    solution: Solution
    coef: Array
    feature_mean: Array
    target_mean: Array
    alpha: float
    scores: Array | None
    criterion: str | None = None


class DualSystem:
    """Centred, weighted rows Z and targets Y: products with their Gram matrix K, which is made if they are few."""

    def __init__(self, rows: FeatureRows):
        Z, Y, weight = rows.matrix()
        self._Z: Csr = sparse.csr_array(Z, dtype=np.float64)
        self._transposed: Csr = self._Z.T.tocsr()
        Y = np.asarray(Y, dtype=np.float64)
        self.weight, n_rows = weight, Y.shape[0]
        count = np.ones(n_rows) if weight is None else weight
        self.total, self.roots = float(count.sum()), np.sqrt(count)
        self.feature_mean = np.asarray(self._transposed @ count) / self.total
        origin = rows.targets.origin
        self.target_mean = origin + count @ (Y - origin) / self.total
        self.right = self.roots[:, None] * (Y - self.target_mean)
        self.n_counted = rows.targets.n_counted(self.total)
        self.left_out = None if weight is None else np.minimum(weight, rows.targets.weight_of_one(Y))
        few = n_rows <= _GRAM_ROWS and rows.allows(8.0 * _SQUARE_MATRICES * n_rows**2)
        self.gram = self._gram() if few else None

    def _gram(self) -> Array:
        n_rows = len(self.roots)
        K = np.empty((n_rows, n_rows))

        def make(block: slice) -> None:
            K[block] = (self._Z[block] @ self._transposed).toarray()

        for_each_block(make, row_blocks(n_rows, _BLOCK_ROWS))
        products = self._Z @ self.feature_mean
        K -= products[:, None]
        K -= products - self.feature_mean @ self.feature_mean
        K *= self.roots[:, None]
        K *= self.roots
        return K

    def product(self, v: Array) -> Array:
        """Return K times an array of shape (n, m), by two products with the features."""
        u = self.roots[:, None] * v
        direction = self._transposed @ u - np.outer(self.feature_mean, u.sum(axis=0))
        return np.asarray(self.roots[:, None] * (self._Z @ direction - self.feature_mean @ direction))

    def coef(self, duals: Array) -> Array:
        """Return the coefficients (D, n_targets) of dual variables, which sum to 0 with the roots of the weights."""
        return np.asarray(self._transposed @ (self.roots[:, None] * duals))


def solve_dual(rows: FeatureRows, alphas: Array, rule: str | None) -> DualFit:
    """Solve for one alpha, or choose one by ``rule``, "loo" or "gcv".

    Up to 2048 rows, leave-one-out errors are exact, from the eigenvectors of the n x n Gram matrix. Up to 4608 rows,
    generalised cross-validation is exact. With more rows, conjugate gradients solve for all alphas at once, and random
    signs of the rows estimate the degrees of freedom.
    """
    system = DualSystem(rows)
    if rule is None:
        alpha = float(alphas[0])
        solution = _one(system, alpha)
        return _fit(system, solution, solution.value, alpha, None)
    if system.gram is None:
        return _by_products(system, alphas)
    if rule == "loo" and len(system.right) <= _EIGEN_ROWS:
        path = DualPath.of(system.gram, system.right, system.roots)
        scores = np.array([path.leave_one_out(alpha, system.weight, system.left_out) for alpha in alphas])
        scores /= system.total
        best = int(np.argmin(scores))
        duals, solver = path.duals(alphas[best]), "eigh"
    else:
        rule, shift = "gcv", shift_roots(system.gram, system.roots)
        reduced = tridiagonal_path(system.gram, system.right)
        every = reduced.coefs(alphas)
        spectrum = reduced.eigenvalues
        scores = np.array(
            [dual_gcv(a, found, spectrum, shift, system.n_counted) for a, found in zip(alphas, every, strict=True)]
        )
        best = int(np.argmin(scores))
        duals, solver = every[best], "tridiagonal"
    solution = Solution.converged(duals, solver)
    return _fit(system, solution, duals, float(alphas[best]), scores, rule)


def _fit(
    system: DualSystem, solution: Solution, duals: Array, alpha: float, scores: Array | None, rule: str | None = None
) -> DualFit:
    coef = system.coef(duals)
    solution = replace(solution, value=coef)
    return DualFit(solution, coef, system.feature_mean, system.target_mean, alpha, scores, rule)


def _one(system: DualSystem, alpha: float) -> Solution:
    if system.gram is None:
        return conjugate_gradients(lambda v: system.product(v) + alpha * v, system.right, tol=1e-8)
    shift_roots(system.gram, system.roots)
    return cholesky(system.gram, system.right, alpha)


def _by_products(system: DualSystem, alphas: Array) -> DualFit:
    """Solve for all alphas by one sequence of products, and score them by generalised cross-validation."""
    probes = _probes(system.roots)
    k, order = system.right.shape[1], np.argsort(alphas)[::-1]
    scores = np.full(len(alphas), np.inf)

    def enough(found: ShiftedSolutions) -> bool:
        for i in np.flatnonzero(found.converged & ~np.isfinite(scores)):
            solved = found.values[i]
            left = alphas[i] * float(np.einsum("ij,ij->", probes, solved[:, k:])) / _PROBES
            left += system.n_counted - len(probes)
            scores[i] = gcv_score(float(np.square(alphas[i] * solved[:, :k]).sum()), left, system.n_counted)
        falling = scores[order]
        return int(np.isfinite(falling).sum()) > int(np.argmin(falling)) + _PAST_THE_BEST

    found = shifted_conjugate_gradients(
        system.product, np.hstack([system.right, probes]), alphas, tol=1e-6, enough=enough
    )
    done = enough(found) or bool(found.converged.all())
    best = int(np.argmin(scores)) if np.isfinite(scores).any() else int(np.argmax(alphas))
    duals = found.values[best, :, :k]
    solution = Solution.converged(duals, "shifted conjugate gradients in the dual", iterations=found.iterations)
    if not done:
        left = f"{found.iterations} products reached {int(found.converged.sum())} of {len(alphas)} alphas"
        solution = solution.unfinished(Status.ITERATION_LIMIT, left, [Remedy.ALPHAS])
    return _fit(system, solution, duals, float(alphas[best]), scores, "gcv")


def _probes(roots: Array) -> Array:
    """Return columns of random signs, which depend on the numbers of the rows, without their part along the roots."""
    bits = splitmix64(np.arange(len(roots), dtype=np.uint64))[:, None] >> np.arange(_PROBES, dtype=np.uint64)
    signs = 2.0 * (bits & np.uint64(1)) - 1.0
    return np.asarray(signs - np.outer(roots, roots @ signs) / np.square(roots).sum())
