"""Kernel ridge regression and classification, exact within leaves and of low rank between them."""

from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.base import MultiOutputMixin

from mercer._typing import Array, RowsLike, Seed
from mercer.data import Blocks
from mercer.fitting import Classes, HeldTargets, Numbers, Targets
from mercer.fitting.targets import ClassWeight, class_factors
from mercer.kernels import Kernel
from mercer.learners.chunks import Out, written
from mercer.learners.classification import ClassScores
from mercer.learners.local.base import LocalLearner
from mercer.learners.local.calibration import Calibration
from mercer.learners.regression import OneTarget
from mercer.state import Either, Member, Reals, Sizes, Stored, require


class LocalKernelRidge(LocalLearner, MultiOutputMixin, OneTarget):
    r"""Kernel ridge regression that is exact within leaves and of low rank between them, the mean of a few trees.

    Random trees cut the rows into leaves. For each tree the kernel matrix is

    .. math:: \tilde K = Z Z^T + \mathrm{blockdiag}(K_b - Z_b Z_b^T),

    with Nystroem features Z of a few landmark rows: the kernel itself within a leaf, its Nystroem approximation between
    leaves. The prediction is the mean over the trees. It resolves far finer detail than a feature map of the same cost,
    and returns to the mean of y far from all rows. With at most ``leaf_rows`` rows it is exact kernel ridge regression.

    Parameters
    ----------
    kernel : Kernel, default=Matern(1.5)
        Any positive semi-definite kernel. Trees are cut in the space of a kernel's own transformation, such as that of
        ``Metric`` or ``ScaledColumns``.
    alpha : float or "loo", default="loo"
        The ridge. "loo" takes the one of ``alphas`` with the least leave-one-out error on five whole leaves.
    alphas : sequence of float, optional
        Values to choose from; by default 11 from 1e-4 to 10 times the mean of k(x, x).
    n_landmarks : int, default=512
        Rows that carry what leaves have in common; 0 for separate machines.
    leaf_rows : int, default=1024
        Rows per leaf at most. Time grows with its square, accuracy with its logarithm.
    n_trees : int, default=3
        Random trees whose predictions are averaged.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads; leaves are shared among them.
    verbose : int

    Attributes
    ----------
    kernel_ : Kernel
    alpha_ : float
    alpha_errors_ : ndarray
        The leave-one-out error of each of ``alphas`` in units of the variance of y; empty where alpha was given.
    trees_ : list of RandomTree
    loo_residuals_ : ndarray, of the shape of y
        y minus the prediction of the model without that row: exact for the trees and landmarks of this model.

    Notes
    -----
    Time O(n (L^2 + 3 L m + m^2 + L d)) per tree for leaves of L rows and m landmarks; O((L + m) d) per tree for the
    prediction of a row, whatever n. The model holds the training rows. Float32 rows are factored in float32 (with sums
    over leaves in float64), which takes half the time and is exact enough for alpha above 1e-4. A leaf whose matrix has
    no factor in the precision of X gets a larger ridge.

    With weights, a row of weight 2 counts as two rows, exactly so for up to ``leaf_rows`` rows; trees and landmarks do
    not see weights.

    References
    ----------
    E. Snelson and Z. Ghahramani, "Local and global sparse Gaussian process approximations", AISTATS 2007.
    J. Chen, H. Avron and V. Sindhwani, "Hierarchically compositional kernels for scalable nonparametric learning",
    JMLR 18, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LocalKernelRidge, Matern
    >>> X = np.random.RandomState(0).rand(500, 2)
    >>> y = np.sin(10 * X[:, 0]) + X[:, 1]
    >>> model = LocalKernelRidge(Matern(1.5), leaf_rows=100, n_landmarks=50, random_state=0).fit(X, y)
    >>> bool(np.sqrt(np.mean(model.loo_residuals_**2)) < 0.05), len(model.trees_)
    (True, 3)
    """

    _stored = Stored(loo_residuals_=Either((Reals((None,)), Reals((None, "k")))))

    loo_residuals_: Array

    def predict(self, X: RowsLike | Blocks, *, out: Out = None) -> Array:
        """Return the predictions for the rows of X, an array or ``Blocks``; ``out`` as in ``KernelRidge.predict``."""
        if out is not None:
            return written(self, "predict", X, out)
        scores = self._scores(X)
        return scores.ravel() if self.loo_residuals_.ndim == 1 else scores

    def _targets(self) -> Numbers:
        return Numbers(type(self).__name__)

    def _finish(self, held: HeldTargets[Targets], residuals: Array) -> None:
        self.loo_residuals_ = residuals.ravel() if held.targets.is_flat else residuals

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(self.loo_residuals_.ndim == 2 or sizes["k"] == 1, "loo_residuals_ must have a column per target")


class LocalKernelRidgeClassifier(LocalLearner, ClassScores):
    """Classification by ``LocalKernelRidge`` on targets of +1 and -1, with calibrated probabilities.

    Parameters
    ----------
    kernel, alpha, alphas, n_landmarks, leaf_rows, n_trees : as in ``LocalKernelRidge``
    class_weight : dict, "balanced" or None
        Weights of the classes, by which the weights of their rows are multiplied; "balanced" gives all classes the
        same total. Probabilities are those of the weighted rows.
    random_state, n_jobs, verbose : as in ``LocalKernelRidge``

    Attributes
    ----------
    classes_ : ndarray
    kernel_, alpha_, alpha_errors_, trees_ : as in ``LocalKernelRidge``
    loo_residuals_ : ndarray of shape (n,) for two classes, else (n, n_classes)
        The targets minus their leave-one-out scores.
    calibration_ : Calibration
        From scores to probabilities, fitted on the leave-one-out scores: isotonic for two classes, a power of
        estimated probabilities for more. So it needs no rows of its own.

    Notes
    -----
    Costs are those of ``LocalKernelRidge``: the factors are shared by all classes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LocalKernelRidgeClassifier
    >>> X = np.random.RandomState(0).rand(500, 2)
    >>> y = np.where(np.sin(10 * X[:, 0]) > X[:, 1], "above", "below")
    >>> model = LocalKernelRidgeClassifier(leaf_rows=100, n_landmarks=50, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.97), model.predict_proba(X).shape
    (True, (500, 2))
    """

    _stored = Stored(
        loo_residuals_=Either((Reals((None,)), Reals((None, "k")))),
        calibration_=Member(Calibration),
    )

    calibration_: Calibration

    loo_residuals_: Array

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        alpha: float | str = "loo",
        alphas: Sequence[float] | None = None,
        n_landmarks: int = 512,
        leaf_rows: int = 1024,
        n_trees: int = 3,
        class_weight: ClassWeight = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            kernel,
            alpha=alpha,
            alphas=alphas,
            n_landmarks=n_landmarks,
            leaf_rows=leaf_rows,
            n_trees=n_trees,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def predict_proba(self, X: RowsLike | Blocks) -> Array:
        """Return the probability of each class for the rows of X, an array or ``Blocks``: (n, n_classes)."""
        scores = super()._scores(X)  # of each class, also of two
        return self.calibration_.probabilities(scores.astype(np.float64)).astype(scores.dtype)

    def _scores(self, X: RowsLike | Blocks) -> Array:
        scores = super()._scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def _targets(self) -> Classes:
        return Classes(type(self).__name__, class_weight=self.class_weight)

    def _finish(self, held: HeldTargets[Targets], residuals: Array) -> None:
        targets = held.targets
        assert isinstance(targets, Classes)  # noqa: S101, for the type checker
        self.classes_ = targets.classes
        self.calibration_ = Calibration.of(held.Y - residuals, held.Y, held.weight)
        self.loo_residuals_ = residuals.ravel() if targets.is_flat else residuals

    def _check_params(self) -> None:
        super()._check_params()
        if not isinstance(self.class_weight, Mapping):
            class_factors(type(self).__name__, self.class_weight, np.arange(2), np.ones(2))

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        class_factors(type(self).__name__, self.class_weight, self.classes_, np.ones(len(self.classes_)))
        require(self.calibration_.n_columns == sizes["k"], "calibration_ must be of as many columns as the scores")

    def _n_scores(self, sizes: Sizes) -> int:
        return sizes["k"]
