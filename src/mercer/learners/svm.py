"""Support vector classification and regression on the features of a kernel."""

from dataclasses import replace

import numpy as np

from mercer import core
from mercer._typing import Seed
from mercer.checkpoints import kept
from mercer.features import FeatureMap
from mercer.fitting import FeatureRows
from mercer.fitting.feature_rows import FeaturePasses
from mercer.fitting.targets import ClassWeight
from mercer.kernels import Kernel
from mercer.learners.by_newton import by_newton_cg, by_smoothed_newton
from mercer.learners.classification import KernelClassifier
from mercer.learners.regression import ManyTargets
from mercer.learners.warm_start import WarmLearner
from mercer.solvers import (
    BoxProblems,
    PlainLoss,
    Solution,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    block_descent,
    coordinate_descent,
    liblinear,
    pegasos,
)
from mercer.solvers.support_vectors.svm_dual import LOSSES
from mercer.validation import check_integer, check_real

# The gap, relative to the objective, that averaged Pegasos reaches in ``_PASSES`` passes. The solution is usually much
# closer to the minimum than its dual, which the gap is measured with.
_PEGASOS_TOL = 5e-2
# Most passes beyond the budget, each of which makes all features again. Newton's method on a smoothed loss needs more
# passes where C is large, and each takes less time.
_PASSES, _SMOOTHED_PASSES = 100, 300
# Part of the memory budget that dual variables may take where features do not fit, and the bytes of one.
_DUAL_SHARE, _DUAL_BYTES = 0.125, 8

# Rows times problems above which coordinate descent in plain NumPy, without the compiled core, takes seconds.
_NUMPY_ENTRIES = 2048


class SupportVectorLearner(WarmLearner):
    """A linear model with a hinge or an insensitive loss, its intercept the weight of a constant feature.

    Dual coordinate descent while the features fit the memory budget. Beyond it, and for rows in other processes, passes
    over the blocks: Newton's method, for the plain losses on a smoothed loss. Sparse features, and those whose D x D
    matrix does not fit, leave Newton's method without a good preconditioner. Plain losses on them are then solved by
    descent in the duals of one block after the other, or by averaged Pegasos where not even the duals fit.
    """

    _losses: tuple[str, str]
    loss: str
    C: float
    tol: float
    max_iter: int

    def _solve(self, rows: FeatureRows) -> Solution:
        if rows.fits:
            solution = self._in_memory(rows)
        elif LOSSES[self.loss].is_squared:
            solution = self._by_newton(rows)
        elif not rows.passes.engine.shares_memory or rows.has_gram:
            solution = self._by_smoothing(rows)
        elif core.COMPILED and rows.allows(_DUAL_BYTES * rows.n_rows * rows.targets.n_columns, _DUAL_SHARE):
            solution = self._by_blocks(rows)
        else:
            solution = self._by_pegasos(rows)
        self._set_linear(rows.targets, solution.value[:, :-1], solution.value[:, -1])
        return solution

    def _in_memory(self, rows: FeatureRows) -> Solution:
        Z, Y, weight = rows.matrix()
        cost = np.full(rows.n_rows, float(self.C)) if weight is None else self.C * weight
        if not core.COMPILED and Y.size > _NUMPY_ENTRIES:
            return liblinear(Z, Y, cost, loss=self.loss, epsilon=self._epsilon(), tol=self.tol, max_iter=self.max_iter)
        problems = BoxProblems.of(self.loss, Y, cost, epsilon=self._epsilon())
        start = None if rows.start is None else rows.start.duals
        if start is not None and start.shape != Y.shape:
            start = None
        return coordinate_descent(Z, problems, tol=self.tol, max_iter=self.max_iter, duals=start)

    def _by_blocks(self, rows: FeatureRows) -> Solution:
        return kept(
            "solution",
            lambda: block_descent(
                FeaturePasses(rows, "pass"),
                (rows.n_features, rows.targets.n_columns),
                rows.n_rows,
                C=self.C,
                loss=self.loss,
                epsilon=self._epsilon(),
                tol=self.tol,
                max_iter=min(self.max_iter, _PASSES),
            ),
        )

    def _by_smoothing(self, rows: FeatureRows) -> Solution:
        loss = PlainLoss(LOSSES[self.loss].one_sided, self._epsilon())
        most = min(self.max_iter, _SMOOTHED_PASSES)
        return by_smoothed_newton(rows, loss, C=self.C, tol=self.tol, max_passes=most)

    def _by_pegasos(self, rows: FeatureRows) -> Solution:
        return kept(
            "solution",
            lambda: pegasos(
                FeaturePasses(rows, "pass"),
                (rows.n_features, rows.targets.n_columns),
                rows.n_rows,
                C=self.C,
                loss=self.loss,
                epsilon=self._epsilon(),
                tol=max(self.tol, _PEGASOS_TOL),
                max_iter=min(self.max_iter, _PASSES),
            ),
        )

    def _by_newton(self, rows: FeatureRows) -> Solution:
        loss = SquaredHinge() if self.loss == "squared_hinge" else SquaredEpsilonInsensitive(self._epsilon())
        shape, penalty = (rows.n_features + 1, rows.targets.n_columns), 1.0 / self.C
        # A truncated step may underestimate the decrement, hence a tenth of the tolerance.
        solution = by_newton_cg(
            rows,
            loss,
            shape,
            penalty=penalty,
            intercept_penalty=penalty,
            tol=0.1 * self.tol,
            gap_tol=0.1 * self.tol,
            max_iter=self.max_iter,
        )
        return replace(solution, value=solution.value.T)

    def _check_params(self) -> None:
        super()._check_params()
        name = type(self).__name__
        check_real(name, "C", self.C, least=0, strict=True)
        check_real(name, "tol", self.tol, least=0, strict=True)
        check_integer(name, "max_iter", self.max_iter)
        self._epsilon()
        if self.loss not in self._losses:
            raise ValueError(f"{name}: loss must be {self._losses[0]!r} or {self._losses[1]!r}, got {self.loss!r}.")

    def _reads_slabs(self) -> bool:
        return LOSSES[self.loss].is_squared

    def _epsilon(self) -> float:
        return 0.0


class KernelSVC(SupportVectorLearner, KernelClassifier):
    r"""Support vector classification at linear cost: a large margin on D features, one class against the rest.

    .. math:: \min_{w, b} \tfrac12 (\|w\|^2 + b^2)
              + C \sum_i w_i \max(0, 1 - y_i (\langle w, z(x_i) \rangle + b))^q

    with q = 2 for the squared hinge loss and 1 for the hinge loss, and y = 1 for the rows of a class, -1 for the
    others. The intercept b is the weight of a constant feature, so that all solvers minimise the same objective (as
    LIBLINEAR does, and ``sklearn.svm.SVC`` does not).

    Parameters
    ----------
    kernel : Kernel, default=Gaussian()
    n_components : int or "auto", default="auto"
        Number of features D. "auto" takes 1024 features, and more where the leave-one-out error of a sample says that
        more pay; for kernels that count parts of objects, 2^18 hashed columns, which are sparse. The choice and its
        curve are in ``solution_.details``; the rule is in ``mercer.fitting.width``.
    features : feature map, optional
        A map of your own; ``kernel`` and ``n_components`` are then not used.
    loss : "squared_hinge" or "hinge", default="squared_hinge"
    C : float, default=1.0
        Weight of the losses; large values fit the training rows more closely.
    class_weight : dict, "balanced" or None
        Factors of the weights of the rows of each class: a number per class, or "balanced" for the same total weight of
        all classes.
    tol : float, default=1e-4
        Largest duality gap, relative to the objective.
    max_iter : int, default=1000
        Most epochs or passes over the rows.
    warm_start : bool, default=False
        Start from the last solution if the map and the number of rows are the same, for example with another C.
    far_rows : "shrink" or "keep", default="shrink"
        Scores of rows with a column far outside the training rows return to those of a model that knows only the
        shares of the classes (``mercer.learners.shrinkage``); or are left as they are.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads, at most one per core; ``config_context``'s by default, -1 for all.
    verbose : int, default=0
        1 shows the progress of each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (D,) for two classes, else (n_classes, D)
    intercept_ : float or ndarray of shape (n_classes,)
    n_iter_ : int
        Epochs, passes or Newton steps taken.
    feature_map_ : fitted feature map
    solution_ : Solution
        With the relative duality ``gap``.

    Notes
    -----
    The features are held, n D numbers, while they fit half the memory budget. Dual coordinate descent then takes n D
    time per class and epoch, and threads share the classes; with sparse features, time is in non-zero entries. If
    coordinate descent converges slowly on dense features (large C, or columns of very different sizes), the solver
    switches to Newton steps (squared hinge) or an interior-point method (hinge), which take n D^2 time per class and
    step. It switches once the projected number of epochs exceeds D / 8 (squared hinge; more for several classes) or
    2 D (hinge).

    Beyond the budget, and for rows of a Dask collection, features are made again in each pass. The squared hinge is
    solved by Newton's method, the hinge by Newton's method on smoothed losses, in at most 300 passes; each pass knows
    the duality gap of the hinge itself. Sparse features are solved by descent in the dual variables, n numbers per
    class, of one block after the other; where the duals take more than an eighth of the budget, by averaged Pegasos
    down to a gap of 5e-2. Both take at most 100 passes.

    Float64 problems of at most 512 rows are polished to machine precision.

    The exact solution, at cost n^2 to n^3, is ``sklearn.svm.SVC``.

    References
    ----------
    C.-J. Hsieh et al., "A dual coordinate descent method for large-scale linear SVM", ICML 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelSVC
    >>> X = np.random.RandomState(0).randn(300, 2)
    >>> y = np.where(np.hypot(*X.T) > 1, "outside", "inside")
    >>> model = KernelSVC(Gaussian(gamma=1.0), C=10.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.97)
    True
    """

    _losses = ("squared_hinge", "hinge")

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int | str = "auto",
        features: FeatureMap | None = None,
        loss: str = "squared_hinge",
        C: float = 1.0,
        class_weight: ClassWeight = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        far_rows: str = "shrink",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.features = features
        self.loss = loss
        self.C = C
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.far_rows = far_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KernelSVR(SupportVectorLearner, ManyTargets):
    r"""Support vector regression at linear cost: a tube of half-width epsilon on D features.

    .. math:: \min_{w, b} \tfrac12 (\|w\|^2 + b^2)
              + C \sum_i w_i \max(0, |y_i - \langle w, z(x_i) \rangle - b| - \epsilon)^q

    with q = 1, or 2 for the squared loss. Each column of y is a separate problem. The intercept is penalised: centre y
    first if its mean is far from 0 (``sklearn.compose.TransformedTargetRegressor``).

    Parameters
    ----------
    kernel, n_components, features, C, tol, max_iter, warm_start, far_rows, random_state, n_jobs, verbose :
        As in ``KernelSVC``; the prior of far rows is the mean of y.
    loss : "epsilon_insensitive" or "squared_epsilon_insensitive", default="epsilon_insensitive"
    epsilon : float, default=0.1
        Errors up to epsilon, in the units of y, cost nothing.

    Attributes
    ----------
    coef_ : ndarray of shape (D,) or (n_targets, D)
    intercept_ : float or ndarray of shape (n_targets,)
    n_iter_ : int
        Epochs, passes or Newton steps taken.
    feature_map_ : fitted feature map
    solution_ : Solution

    Notes
    -----
    Cost and solvers as in ``KernelSVC``. The exact solution, at cost n^2 to n^3, is ``sklearn.svm.SVR``.

    References
    ----------
    C.-H. Ho and C.-J. Lin, "Large-scale linear support vector regression", JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelSVR
    >>> X = np.random.RandomState(0).rand(400, 1)
    >>> y = np.sin(6 * X[:, 0])
    >>> model = KernelSVR(Gaussian(gamma=10.0), epsilon=0.01, C=10.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.99)
    True
    """

    _losses = ("epsilon_insensitive", "squared_epsilon_insensitive")

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int | str = "auto",
        features: FeatureMap | None = None,
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        C: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        far_rows: str = "shrink",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.features = features
        self.loss = loss
        self.epsilon = epsilon
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.far_rows = far_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _epsilon(self) -> float:
        return check_real(type(self).__name__, "epsilon", self.epsilon, least=0)
