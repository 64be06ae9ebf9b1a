"""Weighted sums of random kitchen sinks: random feature functions with bounded weights (Rahimi and Recht, 2008)."""

from collections.abc import Callable
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mercer._typing import Array, RowsLike, Seed
from mercer.data import Blocks
from mercer.features import KitchenSinks
from mercer.features.nystroem.candidates import rows_of
from mercer.fitting import Classes, Numbers, Passes, Targets
from mercer.fitting.empirical_risk import EmpiricalRisk
from mercer.fitting.map_plan import BLOCK_ROWS
from mercer.fitting.targets import classes_in
from mercer.fresh_fit import unfitted
from mercer.kernels import Kernel
from mercer.learners.base import SCORES, Learner
from mercer.learners.checkpointed import checkpointed, same_rows
from mercer.learners.classification import ClassScores
from mercer.learners.predictions import LinearScores
from mercer.learners.regression import OneTarget
from mercer.learners.training_rows import training_rows
from mercer.solvers import Solution
from mercer.solvers.box.box_newton import box_newton
from mercer.state import Either, Member, Real, Reals, Stored
from mercer.validation import check_integer, check_memory, check_real

# What phi and the distribution of its parameters may be, besides names and kernels.
FeatureFunction: TypeAlias = Callable[[Array], Array]
Sampler: TypeAlias = Callable[[np.random.RandomState, int, int], Array | tuple[Array, Array]]

_LARGEST_C = 1e100  # C^2 times an entry of a Hessian must be finite


class _SinksLearner(LinearScores, Learner):
    _stored = Stored(
        **SCORES,
        feature_map_=Member(KitchenSinks, {"n_features_in_": "d", "n_features_out_": "f"}),
        solution_=Member(Solution),
        alpha_=Either((Reals(("f",)), Reals(("k", "f")))),
        bound_=Real(positive=True),
    )
    _losses: ClassVar[tuple[str, ...]]
    phi: str | FeatureFunction
    distribution: Kernel | Sampler | None
    n_components: int
    C: float
    loss: str
    alpha_: Array
    bound_: float

    def fit(self, X: RowsLike | Blocks, y: ArrayLike | None = None) -> Self:
        """Draw the feature functions and find their weights.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or ``Blocks``
        y : array of shape (n_samples,)
            Left out where X is ``Blocks``, which bring their own.

        Returns
        -------
        self
        """
        fitted = unfitted(self)
        quiet = np.errstate(over="ignore", invalid="ignore", divide="ignore")
        with self._threads(), quiet, checkpointed(fitted):
            fitted._fit(X, y)
        return self._take(fitted)

    def _check_params(self) -> None:
        name = type(self).__name__
        check_integer(name, "n_components", self.n_components)
        if check_real(name, "C", self.C, least=0, strict=True) > _LARGEST_C:
            raise ValueError(f"{name}: C must be at most {_LARGEST_C:g}, got {self.C!r}. Lower C.")
        if not isinstance(self.loss, str) or self.loss not in self._losses:
            raise ValueError(f"{name}: loss must be one of {list(self._losses)}, got {self.loss!r}.")

    def _fit(self, X: RowsLike | Blocks, y: ArrayLike | None) -> None:
        """Fit an estimator that holds its parameters alone."""
        self._check_params()
        name, n_components = type(self).__name__, int(self.n_components)
        blocks, targets = training_rows(self, X, y, None, self._targets())
        same_rows(blocks)
        blocks = blocks.recut(BLOCK_ROWS, name)
        targets = self._known(blocks, targets)
        n_bytes = 3 * 8 * targets.n_columns * n_components**2
        check_memory(name, "n_components", n_components, n_bytes, f"{targets.n_columns} Hessians of the risk")
        rng = check_random_state(self.random_state)
        sample, _ = rows_of(name, blocks, n_components, np.random.RandomState(rng.randint(2**31 - 1)))
        sinks = KitchenSinks(
            self.phi, self.distribution, n_components=n_components, random_state=rng.randint(2**31 - 1)
        )
        self.feature_map_ = sinks.fit(sample)
        risk = EmpiricalRisk(sinks, blocks, targets, Passes(name, self._engine, self.verbose), self.loss)
        bound = float(self.C) / n_components
        solution = box_newton(risk.expansion(), np.zeros((risk.n_features, risk.n_columns)), bound, tol=1e-6)
        self._keep(solution, risk, blocks, bound)

    def _keep(self, solution: Solution, risk: EmpiricalRisk, blocks: Blocks, bound: float) -> None:
        if not np.isfinite(solution.value).all():
            raise ValueError(f"{type(self).__name__}: the weights overflow: y is too large. Scale y down.")
        alpha = np.clip(solution.value, -bound, bound)
        coef = alpha * (len(alpha) ** 0.5 / risk.bound)
        one = alpha.shape[1] == 1
        self.bound_ = risk.bound
        self.alpha_, self.coef_ = (alpha[:, 0], coef[:, 0]) if one else (alpha.T, coef.T)
        self.intercept_ = 0.0 if one else np.zeros(alpha.shape[1])
        self.solution_ = solution.with_details(block_rows=blocks.block_rows, bound=risk.bound)

    def _targets(self) -> Targets:
        """Return what y means."""
        raise NotImplementedError

    def _known(self, blocks: Blocks, targets: Targets) -> Targets:
        """Return the targets with what must be known of y before the fit."""
        return targets

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "solution_")


class KitchenSinksClassifier(_SinksLearner, ClassScores):
    r"""Classification by a weighted sum of K random feature functions, each weight at most C / K.

    Draws :math:`w_1, \dots, w_K` from a distribution and fits, one class against the rest,

    .. math:: \min_\alpha \frac1m \sum_i c\Big(\sum_k \alpha_k \phi(x_i; w_k),\, y_i\Big)
              \quad\text{with}\quad |\alpha_k| \le C / K, \qquad |\phi| \le 1.

    Parameters
    ----------
    phi : str or callable, default="cosine"
        The feature function, as in ``KitchenSinks``. The algorithm needs :math:`|\phi| \le 1`. A bounded function of
        ``KitchenSinks`` is divided by its bound. "relu", "squared_relu" and functions of your own have no known bound:
        they are divided by their largest absolute value on the training rows (``bound_``), and may exceed 1 on other
        rows.
    distribution : shift-invariant kernel, callable or None
        The distribution of the parameters, as in ``KitchenSinks``.
    n_components : int, default=100
        The number K of feature functions.
    C : float, default=100.0
        The sum of the absolute weights is at most C, and so is abs(f).
    loss : "logistic", "squared_hinge" or "squared", default="logistic"
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads, at most one per core; ``config_context``'s by default, -1 for all.
    verbose : int, default=0
        1 shows the progress of each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    alpha_ : ndarray of shape (K,) for two classes, else (n_classes, K)
        The weights of the feature functions, within [-C / K, C / K].
    coef_ : ndarray of the same shape
        The weights of the features of ``feature_map_``, alpha_ sqrt(K) / bound_.
    intercept_ : 0.0, or zeros
        The algorithm has no intercept. A constant feature function would serve as one.
    bound_ : float
        The number that phi was divided by.
    feature_map_ : KitchenSinks
    solution_ : Solution
        The solver stops at a gap of 1e-6 times the risk of f = 0. The gap bounds the distance of the risk from its
        minimum.

    Notes
    -----
    Time per class: about 10 passes over the m rows, of m K^2 / 2 multiplications each, and about 15 Cholesky
    factorisations of K x K matrices. With the squared loss, one pass serves all classes. Memory: a few matrices of
    K x K per class, and blocks of features.

    If the distribution is a kernel with a parameter from the data, the parameter is found on a uniform sample of rows.

    References
    ----------
    A. Rahimi and B. Recht, "Weighted sums of random kitchen sinks", NIPS 2008. Their bound is in
    docs/explanation/kitchen_sinks.md.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KitchenSinksClassifier
    >>> X = np.random.RandomState(0).randn(300, 2)
    >>> y = np.where(np.hypot(*X.T) > 1, "outside", "inside")
    >>> model = KitchenSinksClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), bool(np.abs(model.alpha_).max() <= 100.0 / 100)
    (True, True)
    """

    _losses = ("logistic", "squared_hinge", "squared")

    def __init__(
        self,
        phi: str | FeatureFunction = "cosine",
        distribution: Kernel | Sampler | None = None,
        *,
        n_components: int = 100,
        C: float = 100.0,
        loss: str = "logistic",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.phi = phi
        self.distribution = distribution
        self.n_components = n_components
        self.C = C
        self.loss = loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _targets(self) -> Classes:
        return Classes(type(self).__name__)

    def _known(self, blocks: Blocks, targets: Targets) -> Classes:
        assert isinstance(targets, Classes)  # noqa: S101 - those of ``_targets``
        known = targets.of(classes_in(blocks, targets))
        self.classes_ = known.classes
        return known


class KitchenSinksRegressor(_SinksLearner, OneTarget):
    """Regression by a weighted sum of K random feature functions, each weight at most C / K.

    Minimises the mean of (f(x) - y)^2 / 2 (Rahimi and Recht, 2008). The algorithm has no intercept and abs(f) is at
    most C: centre y first, and choose C in the units of y.

    Parameters
    ----------
    phi, distribution, n_components, C, random_state, n_jobs, verbose : as in ``KitchenSinksClassifier``

    Attributes
    ----------
    alpha_, coef_ : ndarray of shape (K,)
    intercept_, bound_, feature_map_, solution_ : as in ``KitchenSinksClassifier``

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KitchenSinksRegressor
    >>> X = np.random.RandomState(0).rand(500, 2)
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1] ** 2
    >>> model = KitchenSinksRegressor(n_components=200, C=1000, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.99)
    True
    """

    _losses = ("squared",)
    loss = "squared"

    def __init__(
        self,
        phi: str | FeatureFunction = "cosine",
        distribution: Kernel | Sampler | None = None,
        *,
        n_components: int = 100,
        C: float = 100.0,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.phi = phi
        self.distribution = distribution
        self.n_components = n_components
        self.C = C
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _targets(self) -> Numbers:
        return Numbers(type(self).__name__, several=False)
