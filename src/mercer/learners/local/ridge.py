"""Kernel ridge regression and classification, exact within leaves and of low rank between them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mercer._typing import Array
from mercer.data import Blocks
from mercer.kernels import Kernel
from mercer.learners.local.base import LocalLearner
from mercer.learners.local.calibration import Calibration
from mercer.state import Either, Member, Names, Reals, Sizes, Stored, require
from mercer.validation import check_finite_y, check_real, refuse_dates


class LocalKernelRidge(MultiOutputMixin, RegressorMixin, LocalLearner):
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

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        alpha: float | str = "loo",
        alphas: Any = None,
        n_landmarks: int = 512,
        leaf_rows: int = 1024,
        n_trees: int = 3,
        random_state: Any = None,
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

    def predict(self, X: Any) -> Array:
        """Return the predictions for the rows of X, an array or ``Blocks``."""
        scores = self._scores(X)
        return scores.ravel() if self.loo_residuals_.ndim == 1 else scores

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2 on the rows of X, an array with y, or ``Blocks``, which bring their own y and weights."""
        return float(super().score(X, *_scored_with(self, X, y, sample_weight)))

    def _check_y(self, y: Any) -> Array:
        return numbers_of(self, y)

    def _targets(self, y: Array, weight: Array) -> tuple[Array, Any]:
        self._n_dims = y.ndim
        return (y if y.ndim == 2 else y[:, None]), 1.0

    def _finish(self, Y: Array, residuals: Array, weight: Array) -> None:
        self.loo_residuals_ = residuals.ravel() if self._n_dims == 1 else residuals
        del self._n_dims

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(self.loo_residuals_.ndim == 2 or sizes["k"] == 1, "loo_residuals_ must have a column per target")


class LocalKernelRidgeClassifier(ClassifierMixin, LocalLearner):
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
        From scores to probabilities, fitted on the leave-one-out scores: isotonic for two classes, a temperature for
        more. So it needs no rows of its own.

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
        classes_=Names(("classes",)),
        loo_residuals_=Either((Reals((None,)), Reals((None, "k")))),
        calibration_=Member(Calibration),
    )

    classes_: Array
    calibration_: Calibration

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        alpha: float | str = "loo",
        alphas: Any = None,
        n_landmarks: int = 512,
        leaf_rows: int = 1024,
        n_trees: int = 3,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.alphas = alphas
        self.n_landmarks = n_landmarks
        self.leaf_rows = leaf_rows
        self.n_trees = n_trees
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the rows of X, an array or ``Blocks``: (n,) for two classes, else (n, n_classes)."""
        scores = self._scores(X)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """Return the class of each row of X, an array or ``Blocks``."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        classes: Array = self.classes_[chosen]
        return classes

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for the rows of X, an array or ``Blocks``: (n, n_classes)."""
        scores = self._scores(X)
        return self.calibration_.probabilities(scores.astype(np.float64)).astype(scores.dtype)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on the rows of X, an array with y, or ``Blocks``, which bring their own y and weights."""
        return float(super().score(X, *_scored_with(self, X, y, sample_weight)))

    def _check_y(self, y: Any) -> Array:
        return labels_of(self, y)

    def _targets(self, y: Array, weight: Array) -> tuple[Array, Any]:
        self.classes_, codes = found_classes(type(self).__name__, y, weight)
        totals = np.bincount(codes, weights=weight, minlength=len(self.classes_))
        of_class = class_weights(type(self).__name__, self.class_weight, self.classes_, totals)
        columns = np.arange(len(self.classes_)) if len(self.classes_) > 2 else 1
        return np.where(codes[:, None] == columns, 1.0, -1.0), of_class[codes]

    def _finish(self, Y: Array, residuals: Array, weight: Array) -> None:
        self.calibration_ = Calibration.of(Y - residuals, Y, weight)
        self.loo_residuals_ = residuals.ravel() if residuals.shape[1] == 1 else residuals

    def _check_params(self) -> None:
        super()._check_params()
        given = self.class_weight
        if given is not None and not isinstance(given, Mapping) and given != "balanced":
            raise ValueError(
                f"{type(self).__name__}: class_weight must be None, 'balanced' or a dict from class to weight, got "
                f"{given!r}."
            )

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        n_classes = sizes["classes"]
        require(n_classes >= 2 and sizes["k"] == (1 if n_classes == 2 else n_classes), "scores need a column per class")
        require(self.calibration_.n_columns == sizes["k"], "calibration_ must be of as many columns as the scores")


def numbers_of(owner: Any, y: Any) -> Array:
    """Return y as finite float64, one or several columns."""
    name = type(owner).__name__
    refuse_dates(name, "y", y)
    values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=owner, ensure_all_finite=False)
    if values.ndim > 2:
        raise ValueError(f"{name}: y must have one column, or one per target, got an array of shape {values.shape}.")
    return check_finite_y(name, values)


def labels_of(owner: Any, y: Any) -> Array:
    """Return y as labels, one per row."""
    labels: Array = check_finite_y(type(owner).__name__, column_or_1d(y, warn=True))
    check_classification_targets(labels)
    return labels


def found_classes(owner: str, y: Array, weight: Array) -> tuple[Array, Array]:
    """Return the classes of the rows of positive weight, and the number of each row's class."""
    classes, codes = np.unique(y, return_inverse=True)
    used = np.bincount(codes, weights=weight, minlength=len(classes)) > 0
    if used.sum() < 2:
        label = classes[used].tolist()[0] if used.any() else classes.tolist()[0]
        raise ValueError(
            f"{owner}: y must hold at least 2 classes, got 1 class: {label!r}. Check the labels, or give rows of "
            "another class."
        )
    return classes, codes


def class_weights(owner: str, given: Any, classes: Array, totals: Array) -> Array:
    """Return the weight of each class, from a dict, "balanced" or None."""
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, Mapping):
        unknown = [label for label in given if label not in classes]
        if unknown:
            raise ValueError(f"{owner}: class_weight names {unknown[0]!r}, which is no class of y: {classes}.")
        weights = [given.get(label, 1.0) for label in classes.tolist()]
        return np.array([check_real(owner, "class_weight", value, least=0) for value in weights])
    # A class whose rows all have weight 0 weighs nothing whatever it is multiplied by.
    return np.asarray(totals.sum() / (np.count_nonzero(totals) * np.where(totals > 0, totals, 1.0)))


def _scored_with(learner: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
    """Return y and the weights that predictions for X are scored with: those given, or those of ``Blocks``."""
    if isinstance(X, Blocks):
        y, sample_weight = X.labels()
    if y is None:
        raise ValueError(f"{type(learner).__name__}: score needs y: score(X, y), or score(as_blocks(X, y)).")
    return y, sample_weight
