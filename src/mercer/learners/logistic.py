"""Logistic regression on the features of a kernel."""

import numpy as np
from scipy.special import expit, log_softmax, softmax

from mercer._typing import Array, RowsLike, Seed
from mercer.data import Blocks
from mercer.data.sources.collections import is_collection
from mercer.features import FeatureMap
from mercer.fitting import Classes, FeatureRows, Targets
from mercer.fitting.targets import ClassWeight
from mercer.kernels import Kernel
from mercer.learners.by_newton import by_newton_cg
from mercer.learners.chunks import Out, lazy_results, written
from mercer.learners.classification import KernelClassifier
from mercer.learners.warm_start import WarmLearner
from mercer.solvers import Logistic, Loss, Multinomial, Solution
from mercer.validation import check_integer, check_real

# Share of a class whose rows all have the weight 0, for its logarithm.
_LEAST_SHARE = 1e-9


class KernelLogisticRegression(WarmLearner, KernelClassifier):
    r"""Kernel logistic regression at linear cost: the multinomial model on D features with a squared penalty.

    .. math:: \min_{W, b} C \sum_i w_i \log \Big( \sum_c e^{s_{ic} - s_{i y_i}} \Big) + \tfrac{1}{2} \|W\|^2,
       \quad s_i = W^T z(x_i) + b

    Two classes have one column of scores, that of the second class. The intercept b is not penalised.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian()
    n_components : int or "auto", default="auto"
        Number of features D. "auto" takes 1024 features, and more where the leave-one-out error of a sample says that
        more pay; for kernels that count parts of objects, 2^18 hashed columns, which are sparse. The choice and its
        curve are in ``solution_.details``; the rule is in ``mercer.fitting.width``.
    features : feature map, optional
        A map of your own; ``kernel`` and ``n_components`` are then not used.
    C : float, default=1.0
        Weight of the losses against the penalty.
    class_weight : dict or "balanced", optional
        Factors of the weights of the rows of each class. "balanced" is W / (n_classes W_c), with W and W_c the sums of
        the sample weights of all rows and of the rows of class c.
    tol : float, default=1e-5
        Stop where the norm of the gradient is at most ``tol`` times that at zero coefficients, or where the rounding of
        the features (float32: about 1e-6) allows no further progress. The default is the largest power of ten that
        left accuracy as it is at 1e-9, and the log loss to 1e-4, on all sets of ``python -m benchmarks tolerance``, in
        two thirds of the time. Take 1e-9 where the coefficients themselves count.
    max_iter : int, default=100
        Most Newton iterations.
    warm_start : bool, default=False
        Keep the map and begin at the coefficients of the last fit, if the parameters of the map and the number of
        columns are the same.
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
    intercept_ : float, or ndarray of shape (n_classes,)
    n_iter_ : int
    feature_map_ : fitted feature map
    solution_ : Solution

    Notes
    -----
    Newton's method. Its linear systems are solved by conjugate gradients, preconditioned by the Gram matrix of at most
    32 D sampled rows; where no D x D matrix fits, and beyond 32,768 features, by 1024 eigenvectors of sampled rows.
    Each product is a pass over the rows, of 4 n D multiplications per class. The features are held while they fit half
    the memory budget; else they are made again in each pass.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelLogisticRegression
    >>> X = np.random.RandomState(0).randn(300, 2)
    >>> y = np.where(np.hypot(*X.T) > 1, "outside", "inside")
    >>> model = KernelLogisticRegression(Gaussian(gamma=1.0), C=10.0, random_state=0).fit(X, y)
    >>> model.predict_proba([[0.0, 0.0]]).round(1).tolist()
    [[1.0, 0.0]]
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int | str = "auto",
        features: FeatureMap | None = None,
        C: float = 1.0,
        class_weight: ClassWeight = None,
        tol: float = 1e-5,
        max_iter: int = 100,
        warm_start: bool = False,
        far_rows: str = "shrink",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.features = features
        self.C = C
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.far_rows = far_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict_proba(self, X: RowsLike | Blocks, *, out: Out = None) -> Array:
        """Return the probability of each class for the rows of X, an array or ``Blocks``: (n, n_classes).

        ``out`` as in ``predict``.
        """
        if is_collection(X):
            return lazy_results(self, "predict_proba", X, out)
        if out is not None:
            return written(self, "predict_proba", X, out)
        scores = self._scores(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))

    def predict_log_proba(self, X: RowsLike | Blocks) -> Array:
        """Return the logarithm of each class's probability."""
        scores = self._scores(X)
        if scores.ndim == 1:
            return np.column_stack([-np.logaddexp(0, scores), -np.logaddexp(0, -scores)])
        return np.asarray(log_softmax(scores, axis=1))

    def _check_params(self) -> None:
        super()._check_params()
        name = type(self).__name__
        check_real(name, "C", self.C, least=0, strict=True)
        check_real(name, "tol", self.tol, least=0, strict=True)
        check_integer(name, "max_iter", self.max_iter)

    def _targets(self, rng: np.random.RandomState) -> Classes:
        return Classes(type(self).__name__, class_weight=self.class_weight, one_hot=True)

    def _reads_slabs(self) -> bool:
        return True

    def _prior_scores(self, targets: Targets) -> Array:
        """Return the logarithms of the shares of the classes; for two classes, their difference."""
        shares = np.maximum(targets.shares, _LEAST_SHARE) if isinstance(targets, Classes) else np.ones(1)
        logs: Array = np.log(shares)
        return logs[1:] - logs[:1] if targets.is_flat else logs

    def _solve(self, rows: FeatureRows) -> Solution:
        loss: Loss = Logistic() if rows.targets.is_flat else Multinomial()
        shape = (rows.n_features + 1, rows.targets.n_columns)
        solution = by_newton_cg(rows, loss, shape, penalty=1 / self.C, tol=self.tol, max_iter=self.max_iter)
        self._set_linear(rows.targets, solution.value[:-1].T, solution.value[-1])
        return solution
