"""What learners on leaves share: rows in memory, trees, a ridge problem per tree, and scores of new rows."""

from collections.abc import Sequence
from math import ceil
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_random_state

from mercer._typing import Array, Rows, RowsLike, Seed
from mercer.config import get_config
from mercer.data import Blocks
from mercer.fitting import HeldTargets, Passes, Targets, held_rows
from mercer.fitting.progress import progress
from mercer.fresh_fit import adopt, unfitted
from mercer.kernels import Kernel, Matern, TransformedKernel
from mercer.kernels.parameter import as_kernel
from mercer.learners.base import Learner
from mercer.learners.training_rows import training_rows
from mercer.parallel import for_each_block, on_threads
from mercer.solvers.local.leaf_ridge import LeafSystem
from mercer.solvers.local.leaf_sample import LeafSample, relative_error
from mercer.solvers.local.trees import RandomTree
from mercer.state import Many, Member, Real, Reals, Sizes, Stored, require
from mercer.state import Rows as StoredRows
from mercer.validation import check_integer, check_memory, check_real

# Leaves of the first tree, and landmarks, on which alpha is chosen.
_CHOICE_LEAVES, _CHOICE_LANDMARKS = 5, 256
# Values of alpha that are tried, as multiples of the mean of k(x, x): float32 factors fail below.
_ALPHAS = np.logspace(-4, 1, 11)
# Rows per block of a prediction: one of so many shares of all rows, between these numbers of rows, and at least so many
# per leaf: a thread prepares the rows of a leaf once per block, which takes the time of about 20 predictions.
_SHARES, _LEAST_ROWS, _MOST_ROWS, _ROWS_PER_LEAF = 8, 1024, 2**14, 64
# Kernel values that a thread holds for the rows of a prediction.
_TILE_ENTRIES = 2**20


class LeafExpansion(NamedTuple):
    """What the scores of a row x, transformed as the kernel does, are made of.

    scale * (intercept + the mean over the trees of the sums, over the rows i of the leaf of x and over the landmarks j,
    of k(x, x_i) dual_i and k(x, x_j) landmark_coef_j).
    """

    kernel: Kernel
    rows: Rows
    landmarks: Rows | None
    trees: list[RandomTree]
    dual: list[Array]
    landmark_coef: list[Array]
    intercept: Array
    scale: Array


class LocalLearner(Learner):
    """A mean of ridge problems on the leaves of random trees.

    A subclass writes ``_targets`` (what y means) and ``_finish`` (what it makes of the leave-one-out residuals).
    """

    # p columns after the kernel's own transformation; n rows of positive weight; m landmarks; k targets.
    _stored = Stored(
        kernel_=Member(Kernel),
        alpha_=Real(positive=True),
        alpha_errors_=Reals((None,), 0.0),
        rows=StoredRows(("n", "p"), attribute="_rows"),
        landmarks=StoredRows(("m", "p"), attribute="_landmarks", nullable=True),
        trees_=Many(Member(RandomTree, {"n_rows": "n", "n_columns": "p"}), "trees"),
        dual=Many(Reals(("n", "k")), "trees", attribute="_dual"),
        landmark_coef=Many(Reals((None, None, "k")), "trees", attribute="_landmark_coef"),
        intercept=Reals(("k",), attribute="_intercept"),
        scale=Reals(("k",), positive=True, attribute="_scale"),
    )

    _natural_kernel: ClassVar[Kernel] = Matern(1.5)
    kernel_: Kernel
    trees_: list[RandomTree]

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        alpha: float | str = "loo",
        alphas: Sequence[float] | None = None,
        n_landmarks: int = 512,
        leaf_rows: int = 1024,
        n_trees: int = 3,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.alphas = alphas
        self.n_landmarks = n_landmarks
        self.leaf_rows = leaf_rows
        self.n_trees = n_trees
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: RowsLike | Blocks, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit a ridge problem on the leaves of each tree.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or ``Blocks``
            The rows are held in memory, as the fitted model holds them.
        y : array of shape (n_samples,) or, in regression, (n_samples, n_targets)
            Left out where X is ``Blocks``, which bring their own.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows in the ridge problem. Trees and landmarks are drawn from the rows of
            positive weight, without their weights.

        Returns
        -------
        self
        """
        fitted = unfitted(self)
        with self._threads(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            fitted._fit(X, y, sample_weight)
        adopt(self, fitted)
        return self

    def _fit(self, X: RowsLike | Blocks, y: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        self._check_params()
        name = type(self).__name__
        rng = check_random_state(self.random_state)
        blocks, targets = training_rows(self, X, y, sample_weight, self._targets())
        rows, labels, weight = held_rows(blocks.recut(_MOST_ROWS, name), Passes(name, self._engine))
        self.fit_held(rows, HeldTargets.of(targets, labels, weight), rng)

    def fit_held(
        self, X: Rows, held: HeldTargets[Targets], rng: np.random.RandomState, least_gain: float | None = None
    ) -> Self:
        """Fit an estimator without a past on checked rows and targets in memory; the model may keep the rows.

        With ``least_gain``, ``n_trees`` is the most: from the second tree on, one more must be expected to take this
        part off the leave-one-out error.
        """
        kept, Y = held.kept, held.Y
        some = held if kept.all() else held.some(kept)
        rows = X if kept.all() else X[kept]
        kernel = as_kernel(type(self).__name__, self.kernel, self._natural_kernel)
        self.kernel_ = kernel.resolve(rows, some.weight)
        self.kernel_.check_domain("X", rows)
        self._rows = self._transformed(rows)
        self._check_size(Y.shape[1])
        self._scale = _scales(Y)
        residuals = np.empty_like(Y)
        weights = some.weight, some.left_out
        residuals[kept] = self._fit_trees(some.Y / self._scale, *weights, rng, least_gain) * self._scale
        if not kept.all():
            residuals[~kept] = Y[~kept] - self._block_scores(X[~kept])
        if not np.isfinite(residuals).all():
            raise ValueError(
                f"{type(self).__name__}: the coefficients overflow: X or y are too large. Scale them down "
                "(sklearn.preprocessing.StandardScaler), or pass float64."
            )
        self.n_features_in_ = X.shape[1]
        self._finish(held, residuals)
        return self

    def _fit_trees(
        self, Y: Array, weight: Array, left_out: Array, rng: np.random.RandomState, least_gain: float | None
    ) -> Array:
        """Fit all trees, or as many as are worth their time, and return the mean of their leave-one-out residuals."""
        name, n_rows = type(self).__name__, self._rows.shape[0]
        inner, m = self._inner_kernel, min(self.n_landmarks, n_rows)
        several = n_rows > self.leaf_rows
        drawn = np.sort(rng.permutation(n_rows)[:m])
        self._landmarks = self._rows[drawn] if several and m else None
        n_trees = self.n_trees if several else 1  # with one leaf all trees are the same
        seeds = rng.randint(2**31 - 1, size=n_trees)
        self.trees_ = on_threads(
            lambda seed: RandomTree.of(self._rows, self.leaf_rows, np.random.RandomState(seed)), seeds.tolist()
        )
        self.alpha_, self.alpha_errors_ = self._chosen_alpha(Y, weight, left_out, rng)
        self._dual, self._landmark_coef, mean = [], [], _MeanOfTrees(Y, weight)
        with progress(f"{name}: trees", n_trees * n_rows, self.verbose) as advance:
            for tree in self.trees_:
                system = LeafSystem(inner, self._rows, tree.leaves, self._landmarks)
                solution = system.solve(Y, self.alpha_, weight, left_out=left_out)
                self._dual.append(solution.dual)
                self._landmark_coef.append(solution.landmark_coef)
                self._intercept = solution.intercept
                assert solution.loo_residuals is not None  # noqa: S101, for the type checker
                mean.add(solution.loo_residuals)
                if advance is not None:
                    advance(n_rows)
                if least_gain is not None and mean.next_gain < least_gain:
                    break
        self.trees_ = self.trees_[: mean.n_trees]
        return mean.residuals

    def _chosen_alpha(
        self, Y: Array, weight: Array, left_out: Array, rng: np.random.RandomState
    ) -> tuple[float, Array]:
        """Return alpha, and the leave-one-out error of each that was tried on a few whole leaves."""
        if self.alpha != "loo":
            return float(self.alpha), np.empty(0)
        diagonal = self._inner_kernel.evaluate_diag(self._rows[: min(1000, self._rows.shape[0])])
        alphas = _ALPHAS * float(np.mean(diagonal)) if self.alphas is None else np.ravel(self.alphas).astype(float)
        sample = LeafSample.of(self.trees_[0], _CHOICE_LEAVES, rng)
        rows = self._rows[sample.rows]
        landmarks = None if self._landmarks is None else self._landmarks[:_CHOICE_LANDMARKS]
        system = LeafSystem(self._inner_kernel, rows, sample.leaves, landmarks, hold=True)
        some, targets = (weight[sample.rows], left_out[sample.rows]), Y[sample.rows]
        errors = np.array([relative_error(system, targets, alpha, *some) for alpha in alphas])
        return float(alphas[np.argmin(errors)]), errors

    def _scores(self, X: RowsLike | Blocks) -> Array:
        """Return the scores of rows (n, k), an array or ``Blocks``."""
        return self._results(X, self._block_scores, "score", self._rows_to_score)

    @property
    def most_rows_to_score(self) -> int:
        """The rows per block of predictions, where there are as many."""
        return max(_MOST_ROWS, self._rows_for_all_leaves)

    def _rows_to_score(self, blocks: Blocks) -> int:
        """Return the rows per block of a prediction, whatever the number of threads."""
        if blocks.n_rows is None:
            return self.most_rows_to_score
        least = max(_LEAST_ROWS, self._rows_for_all_leaves)
        return int(np.clip(-(-blocks.n_rows // _SHARES), least, self.most_rows_to_score))

    @property
    def _rows_for_all_leaves(self) -> int:
        return _ROWS_PER_LEAF * max(tree.n_leaves for tree in self.trees_)

    def _block_scores(self, X: Rows) -> Array:
        """Return the scores of some rows, in the precision of these."""
        self.kernel_.check_domain("X", X)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._scores_of(self._transformed(X).astype(self._rows.dtype, copy=False))
        return values.astype(X.dtype, copy=False)

    def share_rows(self, other: "LocalLearner") -> None:
        """Hold the rows of another model instead of equal ones: memory and model files then hold them once."""
        if self._rows.shape == other._rows.shape and np.array_equal(self._rows, other._rows):
            self._rows = other._rows

    def _scores_of(self, X: Rows) -> Array:
        """Return the scores of transformed rows in float64: the mean over the trees."""
        total = np.zeros((X.shape[0], len(self._intercept)))
        for tree, dual, coef in zip(self.trees_, self._dual, self._landmark_coef, strict=True):
            leaf = tree.leaf_of(X)
            order = np.argsort(leaf, kind="stable")
            ends = np.searchsorted(leaf[order], np.arange(tree.n_leaves), side="right")
            leaves = tree.leaves

            def work(b: int, leaves: list[Array] = leaves, dual: Array = dual, coef: Array = coef) -> None:
                rows = order[ends[b - 1] if b else 0 : ends[b]]  # noqa: B023 - used before the next tree
                centres, weights = self._rows[leaves[b]], dual[leaves[b]]
                if self._landmarks is not None:
                    centres, weights = _stack(self._landmarks, centres), np.concatenate([coef[b], weights])
                values = self._inner_kernel.evaluator(centres, self._rows.dtype)
                step = max(16, _TILE_ENTRIES // len(weights))
                for start in range(0, len(rows), step):
                    some = rows[start : start + step]
                    total[some] += values(X[some]) @ weights

            used = [b for b in range(tree.n_leaves) if ends[b] > (ends[b - 1] if b else 0)]
            for_each_block(work, used)
        return (total / len(self.trees_) + self._intercept) * self._scale

    @property
    def expansion(self) -> LeafExpansion:
        """What the scores of rows are made of."""
        return LeafExpansion(
            self._inner_kernel,
            self._rows,
            self._landmarks,
            self.trees_,
            self._dual,
            self._landmark_coef,
            self._intercept,
            self._scale,
        )

    @property
    def _inner_kernel(self) -> Kernel:
        """The kernel of transformed rows."""
        kernel = self.kernel_
        while isinstance(kernel, TransformedKernel):
            kernel = kernel.kernel
        return kernel

    def _transformed(self, X: Rows) -> Rows:
        """Return rows as the kernel sees them: trees are cut there, and no tile transforms them again."""
        kernel = self.kernel_
        while isinstance(kernel, TransformedKernel):
            X, kernel = kernel.apply(X), kernel.kernel
        return X

    def _check_params(self) -> None:
        """Refuse parameters that ``fit`` refuses, whatever the rows."""
        name = type(self).__name__
        as_kernel(name, self.kernel, self._natural_kernel)
        check_integer(name, "n_landmarks", self.n_landmarks, least=0)
        check_integer(name, "leaf_rows", self.leaf_rows)
        check_integer(name, "n_trees", self.n_trees)
        if not (isinstance(self.alpha, str) and self.alpha == "loo"):
            way_out = "Or write alpha='loo' to choose it by leave-one-out errors."
            check_real(name, "alpha", self.alpha, least=0, strict=True, way_out=way_out)
        alphas = [] if self.alphas is None else np.ravel(self.alphas).tolist()
        for alpha in alphas:
            check_real(name, "alphas", alpha, least=0, strict=True)
        if self.alphas is not None and not alphas:
            raise ValueError(f"{name}: alphas must hold at least one number > 0. Leave it out for those of {name}.")

    def _check_size(self, n_targets: int) -> None:
        """Refuse leaves and landmarks beyond memory before any work."""
        n_rows, itemsize = self._rows.shape[0], self._rows.dtype.itemsize
        width = min(self.leaf_rows, n_rows)
        n_leaves, m = ceil(n_rows / width), min(self.n_landmarks, n_rows)
        if n_leaves == 1:
            m = 0
        model = self.n_trees * (n_rows * n_targets + n_leaves * (m * n_targets + 2 * self._rows.shape[1]))
        threads = min(get_config().threads, n_leaves)
        work = threads * (3 * width**2 + 3 * width * m) + 4 * m**2
        n_bytes = (model + work) * itemsize
        what = f"leaves of {width} rows, {m} landmarks and {self.n_trees} trees"
        way_out = "Lower leaf_rows, n_landmarks or n_trees, pass float32 rows, or fit on fewer rows."
        check_memory(type(self).__name__, "leaf_rows", self.leaf_rows, n_bytes, what, way_out=way_out)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        m = 0 if self._landmarks is None else sizes["m"]
        require(sizes["trees"] >= 1, "trees_ must hold a tree")
        for tree, coef in zip(self.trees_, self._landmark_coef, strict=True):
            require(coef.shape[:2] == (tree.n_leaves, m), "landmark_coef must have the leaves and the landmarks")
        dtypes = {self._rows.dtype, *(dual.dtype for dual in self._dual)}
        require(len(dtypes) == 1, "rows and dual must be of one precision")

    def _targets(self) -> Targets:
        """Return what y means to this learner."""
        raise NotImplementedError

    def _finish(self, held: HeldTargets[Targets], residuals: Array) -> None:
        """Keep what the model needs of the leave-one-out residuals (n, k)."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trees_")


def _scales(Y: Array) -> Array:
    """Return powers of 2 near the largest entry of each target: targets of any size then have float32 factors."""
    exponents = np.frexp(np.abs(Y).max(axis=0))[1]
    return np.asarray(np.ldexp(1.0, np.clip(exponents, -1000, 1000)))


def _stack(landmarks: Rows, rows: Rows) -> Rows:
    both = (landmarks, rows)
    return sparse.vstack(both, format="csr") if sparse.issparse(rows) else np.concatenate(both)


class _MeanOfTrees:
    """The leave-one-out residuals of the mean of some trees, and what one more tree would take off its error.

    All trees are alike: a mean of n has the error c + (e - c) / n, where e is the error of one tree and c what any two
    trees have in common.

    >>> import numpy as np
    >>> mean = _MeanOfTrees(np.zeros((2, 1)), np.ones(2))
    >>> mean.add(np.array([[2.0], [1.0]]))
    >>> mean.next_gain
    inf
    >>> mean.add(np.array([[1.0], [2.0]]))  # e is 5, c is 4: two trees have 9 / 2, three would have 13 / 3
    >>> round(mean.next_gain * 27, 9)
    1.0
    """

    def __init__(self, Y: Array, weight: Array):
        self._sum, self._weight, self._squares, self.n_trees = np.zeros_like(Y), weight, 0.0, 0

    def add(self, residuals: Array) -> None:
        """Take one more tree into the mean."""
        self._sum += residuals
        self._squares += self._error(residuals)
        self.n_trees += 1

    @property
    def residuals(self) -> Array:
        """The leave-one-out residuals of the mean."""
        return np.asarray(self._sum / self.n_trees)

    @property
    def next_gain(self) -> float:
        """The part of the error that one more tree is expected to take off: inf while there is one tree."""
        if self.n_trees == 1:
            return np.inf
        single, mean = self._squares / self.n_trees, self._error(self.residuals)
        return (single - mean) / (self.n_trees**2 - 1) / mean if mean > 0 else 0.0

    def _error(self, residuals: Array) -> float:
        return float(np.sum(self._weight @ residuals**2))
