"""Ridge regression and classification on the features of a kernel."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array
from mercer.data import Block, Blocks
from mercer.learners.base import KernelLearner
from mercer.solvers import RidgePath, Solution, cholesky, conjugate_gradients, ridge_path
from mercer.stats import Gradient, Moments, Totals
from mercer.validation import check_real, machine_memory

# Matrices of D x D in float64 that a direct solve holds at once: total, parts in work, factor or eigenvectors.
_SQUARE_MATRICES = 6


class _Ridge(KernelLearner):
    _keeps_columns: bool

    def __init__(
        self,
        kernel: Any = None,
        *,
        n_components: int = 100,
        features: Any = None,
        alpha: Any = 1.0,
        alphas: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.features = features
        self.alpha = alpha
        self.alphas = alphas
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _solve(self, blocks: Blocks) -> Solution:
        name = type(self).__name__
        alphas = self._alphas()
        first = next(blocks.labelled())
        Z = self.feature_map_.transform(first.X)
        n_features, n_targets = Z.shape[1], self._targets(first).shape[1]
        if not sparse.issparse(Z) and 8 * _SQUARE_MATRICES * n_features**2 <= machine_memory():
            return self._by_moments(blocks, alphas, Moments.of(n_features, n_targets, Z.mean(axis=0, dtype=np.float64)))
        if isinstance(self.alpha, str):
            raise ValueError(
                f"{name}: alpha={self.alpha!r} needs a matrix of {n_features} x {n_features}, which sparse features or "
                "the memory do not allow. Give alpha as a number, or take fewer or dense features."
            )
        return self._by_conjugate_gradients(blocks, alphas[0], n_features, n_targets)

    def _by_moments(self, blocks: Blocks, alphas: Array, empty: Moments) -> Solution:
        """Solve with the moments of one pass; leave-one-out takes a second."""
        moments = self._reduce("moments", lambda block: self._update(empty.zero(), block), blocks, empty)
        self._check_total(moments.weight)
        gram, cross, squares = moments.centred()
        if not (np.isfinite(gram).all() and np.isfinite(cross).all()):
            raise ValueError(
                f"{type(self).__name__}: products of the features overflow {blocks.dtype}. Scale X down "
                "(sklearn.preprocessing.StandardScaler), or pass float64."
            )
        if not isinstance(self.alpha, str):
            solution = cholesky(gram, cross, alphas[0])
            self._set(solution.value, moments.feature_mean, moments.target_mean, alphas[0])
            return solution
        path = ridge_path(gram, cross)
        if self.alpha == "gcv":
            scores = np.array([path.gcv(alpha, squares, moments.weight) for alpha in alphas])
        else:
            scores = self._left_out(blocks, alphas, path, moments)
        best = int(np.argmin(scores))
        self.alphas_, self.scores_ = alphas, scores
        self.coef_path_ = np.array([path.coef(alpha).T for alpha in alphas])
        solution = Solution(path.coef(alphas[best]), details={"solver": "eigh"})
        self._set(solution.value, moments.feature_mean, moments.target_mean, alphas[best])
        return solution

    def _left_out(self, blocks: Blocks, alphas: Array, path: RidgePath, moments: Moments) -> Array:
        """Return the mean squared leave-one-out error of each alpha."""
        mean, centre = moments.feature_mean, moments.target_mean

        def work(block: Block) -> Totals:
            Z = self.feature_map_.transform(block.X)
            Z -= mean.astype(Z.dtype)
            Y, weight = self._targets(block) - centre, self._block_weight(block)
            return Totals(path.leave_one_out(Z, Y, alphas, moments.weight, weight))

        totals = self._reduce("leave-one-out", work, blocks, Totals.of(len(alphas)))
        return np.asarray(totals.values / moments.weight)

    def _update(self, moments: Moments, block: Block) -> Moments:
        Z = self.feature_map_.transform(block.X)
        return moments.update(Z, self._targets(block), self._block_weight(block))

    def _by_conjugate_gradients(self, blocks: Blocks, alpha: float, n_features: int, n_targets: int) -> Solution:
        """Solve with products Z^T W Z v, a pass over the rows each, and the mean taken off by hand."""

        def sums(block: Block) -> Gradient:
            Z = self.feature_map_.transform(block.X)
            Y, weight = self._targets(block), self._weights(block)[:, None]
            ones = np.hstack([weight * Y, weight])
            part = Gradient.of(n_features + 1, n_targets + 1)
            part.vector[:-1] = Gradient.of(n_features, n_targets + 1).update(Z, ones).vector
            part.vector[-1] = ones.sum(axis=0)
            return part

        totals = self._reduce("sums", sums, blocks, Gradient.of(n_features + 1, n_targets + 1)).vector
        weight = float(totals[-1, -1])
        self._check_total(weight)
        mean, target_mean = totals[:-1, -1] / weight, totals[-1, :-1] / weight
        right = totals[:-1, :-1] - np.outer(totals[:-1, -1], target_mean)

        def product(direction: Array) -> Array:
            def work(block: Block) -> Gradient:
                Z = self.feature_map_.transform(block.X)
                scores = Z @ direction.astype(Z.dtype) - mean @ direction
                return Gradient.of(*direction.shape).update(Z, self._weights(block)[:, None] * scores)

            total = self._reduce("product", work, blocks, Gradient.of(*direction.shape)).vector
            return np.asarray(total + alpha * direction)

        tol = 1e-10 if blocks.dtype == np.float64 else 1e-5
        solution = conjugate_gradients(product, right, tol=tol)
        self._set(solution.value, mean, target_mean, alpha)
        return solution

    def _set(self, coef: Array, feature_mean: Array, target_mean: Array, alpha: float) -> None:
        intercept = target_mean - feature_mean @ coef
        self.alpha_ = float(alpha)
        self.coef_ = coef.T if self._keeps_columns else coef[:, 0]
        self.intercept_ = intercept if self._keeps_columns else float(intercept[0])

    def _alphas(self) -> Array:
        """Return the alphas to try: one, or those the rule chooses from."""
        name = type(self).__name__
        if not isinstance(self.alpha, str):
            return np.array([check_real(name, "alpha", self.alpha, least=0, strict=True)])
        if self.alpha not in ("gcv", "loo"):
            raise ValueError(f"{name}: alpha must be a number > 0, 'gcv' or 'loo', got {self.alpha!r}.")
        alphas = np.logspace(-6, 3, 30) if self.alphas is None else np.ravel(self.alphas)
        if not len(alphas):
            raise ValueError(f"{name}: alphas must hold at least one number > 0, got {self.alphas!r}.")
        return np.array([check_real(name, "alphas", value, least=0, strict=True) for value in alphas.tolist()])

    def _block_weight(self, block: Block) -> Array | None:
        return None if block.sample_weight is None else self._weights(block)

    def _check_total(self, weight: float) -> None:
        if not weight > 0:
            raise ValueError(
                f"{type(self).__name__}: sample_weight must not be all zero. Leave it out for equal weights."
            )


class KernelRidge(MultiOutputMixin, RegressorMixin, _Ridge):
    r"""Kernel ridge regression at linear cost: least squares on D features with a squared penalty.

    .. math:: \min_{w, b} \sum_i w_i (y_i - \langle w, z(x_i) \rangle - b)^2 + \alpha \|w\|^2

    Parameters
    ----------
    kernel : Kernel, default=Gaussian()
    n_components : int, default=100
        Number of features D.
    features : feature map, optional
        A map of one's own; ``kernel`` and ``n_components`` are then not used.
    alpha : float, "gcv" or "loo", default=1.0
        The penalty; or the rule that chooses it among ``alphas``: generalised cross-validation, or the mean squared
        leave-one-out error, which is exact and takes a second pass over the rows.
        GCV puts the mean leverage in the place of each row's own: with a few rows far from all others it chooses
        alpha too small, and "loo" is the safe choice.
    alphas : array, optional
        30 from 1e-6 to 1e3 by default.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads; ``config_context``'s by default, -1 for all.
    verbose : int, default=0
        1 shows the progress of each pass.

    Attributes
    ----------
    coef_ : ndarray of shape (D,) or (n_targets, D)
    intercept_ : float or ndarray of shape (n_targets,)
    alpha_ : float
    alphas_, scores_, coef_path_ : ndarray
        The alphas tried, their scores (a mean squared error) and their coefficients; with "gcv" and "loo" only.
    feature_map_ : fitted feature map
    solution_ : Solution

    Notes
    -----
    Time n D^2 / 2 + D^3 / 3 multiplications; 9 D^3 with "gcv"; n D^2 more with "loo". Memory: a few matrices of D x D
    and a block of features for each thread, whatever the number of rows. Where D x D matrices or sparse features do not
    allow that, conjugate gradients, a pass over the rows each.

    The kernel's data-dependent parameters and the map are fitted on all rows up to 4096 (or 4 D, if more), and on a
    uniform sample of that size beyond. The exact solution, at cost n^3, is ``sklearn.kernel_ridge.KernelRidge``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelRidge
    >>> X = np.random.RandomState(0).rand(500, 2)
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1] ** 2
    >>> model = KernelRidge(Gaussian(gamma=1.0), n_components=200, alpha="gcv", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.999)
    True
    """

    def predict(self, X: Any) -> Array:
        """Return the predictions for the rows of X, an array or ``Blocks``."""
        return self._scores(X)

    def _check_y(self, y: Any) -> Array:
        values: Array = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self)
        return values

    def _solve(self, blocks: Blocks) -> Solution:
        self._keeps_columns = np.asarray(next(blocks.labelled()).y).ndim == 2
        return super()._solve(blocks)

    def _targets(self, block: Block) -> Array:
        values = self._check_y(block.y)
        return values if values.ndim == 2 else values[:, None]


class KernelRidgeClassifier(ClassifierMixin, _Ridge):
    """Ridge regression on targets +1 and -1, one column a class (one in all for two classes).

    Parameters
    ----------
    kernel, n_components, features, alpha, alphas, random_state, n_jobs, verbose : as in ``KernelRidge``

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (D,) for two classes, else (n_classes, D)
    intercept_, alpha_, alphas_, scores_, coef_path_, feature_map_, solution_ : as in ``KernelRidge``

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelRidgeClassifier
    >>> X = np.random.RandomState(0).randn(300, 2)
    >>> y = np.where(np.hypot(*X.T) > 1, "outside", "inside")
    >>> model = KernelRidgeClassifier(Gaussian(gamma=1.0), alpha=0.1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the rows of X, an array or ``Blocks``: (n,) for two classes, else (n, n_classes)."""
        return self._scores(X)

    def predict(self, X: Any) -> Array:
        """Return the class of each row of X, an array or ``Blocks``."""
        check_is_fitted(self)
        scores = self._scores(X)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        classes: Array = self.classes_[chosen]
        return classes

    def _solve(self, blocks: Blocks) -> Solution:
        name = type(self).__name__
        found: Array | None = None
        for y in blocks.targets():
            classes = np.unique(self._check_y(y))
            found = classes if found is None else np.unique(np.concatenate([found, classes]))
        assert found is not None  # noqa: S101
        if len(found) < 2:
            raise ValueError(f"{name}: y must hold at least 2 classes, got 1 class: {found[0]!r}.")
        self.classes_, self._keeps_columns = found, len(found) > 2
        return super()._solve(blocks)

    def _check_y(self, y: Any) -> Array:
        labels: Array = column_or_1d(y, warn=True)
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y", estimator_name=type(self).__name__)
        check_classification_targets(labels)
        return labels

    def _targets(self, block: Block) -> Array:
        belongs = np.asarray(block.y)[:, None] == (self.classes_ if self._keeps_columns else self.classes_[1:])
        return np.where(belongs, 1.0, -1.0)
