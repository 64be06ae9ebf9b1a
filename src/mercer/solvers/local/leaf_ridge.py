r"""Kernel ridge regression with a kernel that is exact within leaves and of low rank between them.

With landmark rows I, :math:`R R^T = k(I, I) + \epsilon` and :math:`z(x) = R^{-1} k(I, x)`, the Gram matrix of all
rows is

.. math:: \tilde K = Z Z^T + \mathrm{blockdiag}(K_b - Z_b Z_b^T),

which is positive semi-definite because :math:`K - Z Z^T` is. It is k within a leaf and the Nystroem approximation
between two leaves. With no landmarks it is a separate kernel machine per leaf; with one leaf it is exact kernel ridge
regression.

Where we depart from the textbook (partially independent conditionals: Snelson and Ghahramani, "Local and global sparse
Gaussian process approximations", AISTATS 2007): factors of leaves are in the precision of the rows, and only sums over
leaves are in float64; a leaf whose matrix has no Cholesky factor in that precision gets a larger ridge.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import get_lapack_funcs

from mercer import recycling, triangular
from mercer._typing import Array, Rows
from mercer.config import memory_budget
from mercer.kernels import Kernel
from mercer.parallel import for_each_block, one_blas_thread
from mercer.solvers.local.leaf_gram import lower_gram
from mercer.solvers.local.leaf_inverse import column_squares, inverted, solved

# What is added to the diagonal of k(I, I), relative to its mean, by precision.
_JITTER = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-10}
# The ridge of a leaf without a Cholesky factor is multiplied by this number, at most this number of times.
_GROWTH, _MOST_GROWTHS = 4.0, 16
# The part of the memory, and the bytes, that may hold parts of leaves between two passes; parts that need more are
# computed twice: the memory of a fit then does not grow with the machine.
_HELD_SHARE, _HELD_BYTES = 0.25, 2**30


@dataclass(frozen=True)
class LeafPart:
    """What the solution needs of a leaf with S_b = K_b - Z_b Z_b' + ridge: no matrix of its rows by its rows.

    Attributes
    ----------
    Zt : ndarray of shape (m, L)
        Z_b'.
    Wt : ndarray of shape (m, L)
        Z_b' S_b^-1, in Fortran order.
    solved : ndarray of shape (L, k + 1)
        S_b^-1 y_b.
    square : ndarray of shape (m, m)
        Z_b' S_b^-1 Z_b, its lower triangle.
    product : ndarray of shape (m, k + 1)
        Z_b' S_b^-1 y_b.
    diagonal : ndarray of shape (L,), float64, or None
        The diagonal of S_b^-1.
    ridge : float
        The ridge, or more if the matrix with this ridge has no Cholesky factor.
    """

    Zt: Array
    Wt: Array
    solved: Array
    square: Array
    product: Array
    diagonal: Array | None
    ridge: float


@dataclass(frozen=True)
class LeafSolution:
    """The solution of a ridge problem on leaves.

    Attributes
    ----------
    dual : ndarray of shape (n, k)
        The coefficient of k(., x_i) within the leaf of row i, in the order of the rows.
    landmark_coef : ndarray of shape (n_leaves, m, k)
        The coefficients of k(., I) in each leaf.
    intercept : ndarray of shape (k,), float64
        The weighted mean of the targets.
    loo_residuals : ndarray of shape (n, k), float64, or None
        y_i minus the prediction of the model without row i.
    ridges : ndarray of shape (n_leaves,)
        The ridge of each leaf: alpha, or more if the matrix with alpha has no Cholesky factor.
    """

    dual: Array
    landmark_coef: Array
    intercept: Array
    loo_residuals: Array | None
    ridges: Array


class LeafSystem:
    """The matrix of some rows in leaves, for any targets and ridges.

    Parameters
    ----------
    kernel : Kernel, resolved
    X : array or CSR matrix of shape (n, d), checked
        All factors have the precision of X.
    leaves : sequence of arrays of row numbers
        Every row is in one leaf. The rows may be those of some leaves of a tree only.
    landmarks : array or CSR matrix of shape (m, d), or None
        Rows that connect the leaves; None for a separate machine per leaf. Not used if there is one leaf.
    hold : bool
        Keep the matrices of the leaves, to solve for several ridges.

    Notes
    -----
    Time O(n (L^2 / 3 + 2 L m + m^2 / 2 + L d)) for leaves of L rows and m landmarks, about twice that with
    leave-one-out residuals. Memory O(L^2 + L m) per thread and O(m^2), and up to n (2 m + m^2 / L) numbers if they fit
    in 1 GiB and a quarter of the memory: the factors are then computed once instead of twice, with the same bits.
    """

    def __init__(
        self, kernel: Kernel, X: Rows, leaves: Sequence[Array], landmarks: "Rows | None" = None, *, hold: bool = False
    ):
        self.kernel, self.X, self.leaves = kernel, X, leaves
        self.dtype = np.dtype(X.dtype)
        self.landmarks = None if len(leaves) == 1 else landmarks
        self.n_landmarks = 0 if self.landmarks is None else self.landmarks.shape[0]
        self._hold = hold
        self._held: dict[int, tuple[Array, Array]] = {}
        self._root = np.empty((0, 0))
        self._columns: Callable[[Rows], Array] | None = None
        if self.landmarks is not None:
            self._root = _landmark_root(kernel, self.landmarks, self.dtype)
            self._typed_root = np.asfortranarray(self._root, dtype=self.dtype)
            self._columns = kernel.evaluator(self.landmarks, self.dtype)

    def solve(
        self,
        Y: Array,
        alpha: float,
        sample_weight: Array | None = None,
        *,
        left_out: Array | None = None,
        leave_one_out: bool = True,
    ) -> LeafSolution:
        """Minimise sum_i w_i (y_i - f(x_i))^2 + alpha |f|^2 about the weighted mean of y.

        Parameters
        ----------
        Y : ndarray of shape (n, k)
        alpha : float
            The ridge, positive.
        sample_weight : ndarray of shape (n,), optional
            Positive. A row of weight 2 counts as two rows.
        left_out : ndarray of shape (n,), optional
            The weight that leaving a row out removes, at most its weight; by default min(weight, 1), one of the two
            rows that a weight of 2 stands for.
        leave_one_out : bool
            Whether to compute the leave-one-out residuals. They are exact for the given leaves and landmarks: the mean
            of y is that of the other rows too.
        """
        weight = np.ones(len(Y)) if sample_weight is None else sample_weight
        mean = weight @ Y / weight.sum()
        # A last column of ones says how a change of the mean changes the solution.
        targets = np.column_stack([Y - mean, np.ones(len(Y))]).astype(self.dtype)
        parts = self._parts(_Problem(targets, alpha, weight, leave_one_out))
        inner, w = self._between(parts, targets.shape[1])
        dual = np.empty(targets.shape, dtype=self.dtype)
        coef = np.empty((len(self.leaves), self.n_landmarks, Y.shape[1]), dtype=self.dtype)
        diagonal = np.empty(len(Y)) if leave_one_out else None
        ridges = np.empty(len(self.leaves))

        def finish(b: int) -> None:
            rows, part = self.leaves[b], parts.get(b)
            ridges[b] = part.ridge
            dual[rows] = found = part.solved - part.Wt.T @ w.astype(self.dtype)
            w_b = w - part.Zt @ found
            coef[b] = triangular.solve(self._root, w_b[:, :-1], transposed=True)
            if diagonal is not None:
                # 1 / (K~ + ridge)_ii is a lower bound on the diagonal: rounding must not go below this bound.
                least = 1.0 / (self.kernel.evaluate_diag(self.X[rows]) + part.ridge / weight[rows])
                diagonal[rows] = np.maximum(_inverse_diagonal(part, inner), least)

        for_each_block(finish, range(len(self.leaves)))
        residuals = None
        if diagonal is not None:
            ridge = np.empty(len(Y))
            for rows, value in zip(self.leaves, ridges, strict=True):
                ridge[rows] = value
            taken = np.minimum(weight, 1.0) if left_out is None else left_out
            residuals = _residuals(Y - mean, dual, diagonal, ridge, weight, taken)
        return LeafSolution(np.ascontiguousarray(dual[:, :-1]), coef, mean, residuals, ridges)

    def _parts(self, problem: "_Problem") -> "_Parts":
        m, n_leaves = self.n_landmarks, len(self.leaves)
        n_numbers = len(problem.targets) * (2 * m + problem.targets.shape[1]) + n_leaves * m**2
        holds = n_numbers * self.dtype.itemsize <= min(_HELD_SHARE * memory_budget().n_bytes, _HELD_BYTES)
        return _Parts(lambda b: self._part(b, problem), n_leaves, holds=holds or not m)

    def _between(self, parts: "_Parts", n_targets: int) -> tuple[Array, Array]:
        """Return the Cholesky factor of A = I + sum_b Z_b' S_b^-1 Z_b, and w = A^-1 sum_b Z_b' S_b^-1 y_b."""
        inner, cross = np.eye(self.n_landmarks, order="F"), np.zeros((self.n_landmarks, n_targets))
        if not self.n_landmarks:
            return inner, cross

        def add(sums: tuple[Array, Array]) -> None:
            nonlocal inner, cross
            inner += sums[0]
            cross += sums[1]

        _each_in_order(parts.sums, len(self.leaves), add)
        with one_blas_thread():
            root = np.asfortranarray(cholesky(inner, lower=True, overwrite_a=True, check_finite=False))
            w = solve_triangular(root, solve_triangular(root, cross, lower=True), lower=True, trans="T")
        return root.astype(self.dtype, order="F"), w

    def _part(self, b: int, problem: "_Problem") -> LeafPart:
        """Factor the matrix of a leaf, with a larger ridge if rounding leaves no Cholesky factor."""
        rows, ridge = self.leaves[b], problem.alpha
        inverse = 1.0 / problem.weight[rows]
        for _ in range(_MOST_GROWTHS):
            S, Zt = self._residual(b)
            S[np.diag_indices_from(S)] += (ridge * inverse).astype(self.dtype)
            part = _part_of(S, Zt, problem.targets[rows], ridge, inverts=problem.leave_one_out)
            if part is not None:
                return part
            ridge *= _GROWTH
        raise ValueError(
            f"leaf_ridge: the Gram matrix of a leaf of {len(inverse)} rows has no Cholesky factor in {self.dtype} with "
            f"alpha up to {ridge / _GROWTH:g}. The kernel {self.kernel!r} may not be positive semi-definite; or raise "
            "alpha, scale X down, or pass float64."
        )

    def _residual(self, b: int) -> tuple[Array, Array]:
        """Return K_b - Z_b Z_b' (its lower triangle) and Z_b', in Fortran order; the first may be overwritten."""
        if b not in self._held:
            rows = self.X[self.leaves[b]]
            S = lower_gram(self.kernel, rows, self.dtype)
            Zt = np.empty((0, len(S)), dtype=self.dtype, order="F")
            if self._columns is not None:
                Zt = triangular.solve(self._typed_root, self._columns(rows).T, overwrite=True)
                triangular.add_square(S, Zt, -1.0, transposed=True)
            if not self._hold:
                return S, Zt
            self._held[b] = S, Zt
        S, Zt = self._held[b]
        copy = recycling.empty(S.shape, self.dtype).T
        copy[:] = S
        return copy, Zt


class _Problem(NamedTuple):
    """The arguments of a solution that its leaves need."""

    targets: Array
    alpha: float
    weight: Array
    leave_one_out: bool


class _Parts:
    """The parts of the leaves, held after the first use or computed again for each use."""

    def __init__(self, make: Callable[[int], LeafPart], n_leaves: int, *, holds: bool):
        self._make, self._holds = make, holds
        self._held: list[LeafPart | None] = [None] * n_leaves

    def get(self, b: int) -> LeafPart:
        found = self._held[b]
        if found is None:
            found = self._make(b)
            if self._holds:
                self._held[b] = found
        return found

    def sums(self, b: int) -> tuple[Array, Array]:
        """Return what the leaf adds to the sums over all leaves."""
        part = self.get(b)
        return part.square, part.product


def _landmark_root(kernel: Kernel, landmarks: Rows, dtype: np.dtype[np.generic]) -> Array:
    """Return R with R R' = k(I, I) + jitter, in float64."""
    gram = kernel.evaluator(landmarks, np.float64)(landmarks)
    kernel.check_finite(gram)
    gram = (gram + gram.T) / 2
    jitter = _JITTER[dtype] * float(np.mean(np.diagonal(gram)))
    for _ in range(_MOST_GROWTHS):
        gram[np.diag_indices_from(gram)] += jitter
        potrf = get_lapack_funcs("potrf", (gram,))
        with one_blas_thread():
            root, failed = potrf(gram, lower=1, clean=1)
        if not failed:
            return np.asfortranarray(root)
        jitter *= _GROWTH
    raise ValueError(
        f"leaf_ridge: {kernel!r} is not positive semi-definite: its Gram matrix on {landmarks.shape[0]} landmarks has "
        "no Cholesky factor. Choose a kernel that is, or work without landmarks."
    )


def _part_of(S: Array, Zt: Array, targets: Array, ridge: float, *, inverts: bool) -> LeafPart | None:
    """Return the part of a leaf with the matrix S, which is overwritten; None if S has no Cholesky factor."""
    m = len(Zt)
    # Targets are further rows of Z_b': two more rows of a product cost little, a product of two rows costs much.
    both = np.empty((m + targets.shape[1], len(S)), dtype=S.dtype, order="F")
    both[:m], both[m:] = Zt, targets.T
    found = inverted(S, both) if inverts else solved(S, both)
    if found is None:
        return None
    squares, diagonal = found
    return LeafPart(Zt, both[:m], both[m:].T, squares[:m, :m], squares[m:, :m].T, diagonal, ridge)


def _inverse_diagonal(part: LeafPart, inner: Array) -> Array:
    """Return the diagonal of the inverse of K~ + ridge, for the rows of a leaf."""
    assert part.diagonal is not None  # noqa: S101, for the type checker
    if not len(inner):
        return part.diagonal
    return part.diagonal - column_squares(triangular.solve(inner, part.Wt))


def _residuals(Y: Array, dual: Array, diagonal: Array, ridge: Array, weight: Array, left_out: Array) -> Array:
    """Return the leave-one-out residuals.

    If the part u of its weight w is left out, a row has the ridge r / (w - u) instead of r / w. With c the diagonal of
    the inverse and a the dual coefficient, the residual of the row is then r w a / (w (w - u) + r u c), which is a / c
    for u = w = 1. The mean of the other rows is lower by d = u (y - mean) / (W - u): this adds d times the residual of
    a target of ones.
    """
    others = weight.sum() - left_out
    lowered = np.divide(left_out, others, out=np.zeros_like(others), where=others > 0)[:, None] * Y
    factor = ridge * weight / (weight * (weight - left_out) + ridge * left_out * diagonal)
    return np.asarray(factor[:, None] * (dual[:, :-1] + lowered * dual[:, -1:]))


_Part = TypeVar("_Part")


def _each_in_order(part: Callable[[int], _Part], n_parts: int, take: Callable[[_Part], None]) -> None:
    """Call take(part(0)), take(part(1)), ... one after the other. The threads compute parts without waiting for others.

    A part that is ready before its turn is kept. The thread that computes the next one hands on all that are ready.
    """
    ready: dict[int, _Part] = {}
    lock, n_taken = Lock(), 0

    def work(b: int) -> None:
        nonlocal n_taken
        found = part(b)
        with lock:
            ready[b] = found
            while n_taken in ready:
                take(ready.pop(n_taken))
                n_taken += 1

    for_each_block(work, range(n_parts))
