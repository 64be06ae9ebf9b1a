"""Weighted sums of random kitchen sinks: random feature functions with bounded weights (Rahimi and Recht, 2008)."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from scipy import special
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mercer._typing import Array
from mercer.data import Block, Blocks
from mercer.features import KitchenSinks
from mercer.features.nystroem.landmarks import as_rows
from mercer.learners.base import SCORES, KernelLearner
from mercer.learners.classification import ClassScores
from mercer.learners.regression import OneTarget
from mercer.solvers import Solution
from mercer.solvers.box.box_newton import Expansion, box_newton
from mercer.state import Either, Member, Real, Reals, Stored
from mercer.stats import Curvature, Moments
from mercer.validation import check_integer, check_memory, check_real

_BLOCK_ROWS = 4096
_LARGEST_C = 1e100  # its square, times a Hessian, must be a finite number


@dataclass
class _Largest:
    """The largest absolute entry of rows, as a statistic."""

    value: float = 0.0

    def zero(self) -> Self:
        return type(self)()

    def update(self, values: Array) -> Self:
        self.value = max(self.value, float(np.abs(values).max(initial=0.0)))
        return self

    def merge(self, other: Self) -> Self:
        self.value = max(self.value, other.value)
        return self


class _SinksLearner(KernelLearner):
    _stored = Stored(
        **SCORES,
        feature_map_=Member(KitchenSinks, {"n_features_in_": "d", "n_features_out_": "f"}),
        solution_=Member(Solution),
        alpha_=Either((Reals(("f",)), Reals(("k", "f")))),
        bound_=Real(positive=True),
    )
    _losses: ClassVar[tuple[str, ...]]
    phi: Any
    distribution: Any
    C: float
    loss: str
    alpha_: Array

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
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
        return super().fit(X, y)

    def _check_params(self) -> None:
        name = type(self).__name__
        check_integer(name, "n_components", self.n_components)
        if check_real(name, "C", self.C, least=0, strict=True) > _LARGEST_C:
            raise ValueError(
                f"{name}: C must be at most {_LARGEST_C:g}, got {self.C!r}. So large a C bounds no weight."
            )
        if not isinstance(self.loss, str) or self.loss not in self._losses:
            raise ValueError(f"{name}: loss must be one of {list(self._losses)}, got {self.loss!r}.")

    def _fit(self, X: Any, y: Any, sample_weight: Any, earlier: Self | None) -> None:
        name = type(self).__name__
        self._check_params()
        n_components = int(self.n_components)
        bound = float(self.C) / n_components
        blocks = self._labelled_blocks(X, y, sample_weight).recut(_BLOCK_ROWS, name)
        n_columns = self._meet(blocks)
        n_bytes = 3 * 8 * n_columns * n_components**2
        check_memory(name, "n_components", n_components, n_bytes, f"{n_columns} Hessians of the risk")
        rng = check_random_state(self.random_state)
        sample, _ = as_rows(name, blocks, n_components, np.random.RandomState(rng.randint(2**31 - 1)))
        sinks = KitchenSinks(
            self.phi, self.distribution, n_components=n_components, random_state=rng.randint(2**31 - 1)
        )
        self.feature_map_ = sinks.fit(sample)
        self._set(self._minimise(blocks, n_columns, bound), bound)

    def _minimise(self, blocks: Blocks, n_columns: int, bound: float) -> Solution:
        name, n_components = type(self).__name__, self.feature_map_.n_features_out_
        self.bound_ = self._bound(blocks)
        scale = n_components**0.5 / self.bound_  # from the map's features to phi within [-1, 1]
        make = self._expansion_of_squares if self.loss == "squared" else self._expansion_by_passes
        expand = make(blocks, n_columns, scale)
        solution = box_newton(expand, np.zeros((n_components, n_columns)), bound, tol=1e-6)
        if not np.isfinite(solution.value).all():
            raise ValueError(f"{name}: the weights overflow: y is too large. Scale it down.")
        if not solution.success:
            warn(f"{name}: {solution.status}. {solution.advice}", ConvergenceWarning, stacklevel=5)
        return replace(solution, details={**solution.details, "block_rows": blocks.block_rows, "bound": self.bound_})

    def _set(self, solution: Solution, bound: float) -> None:
        alpha = np.clip(solution.value, -bound, bound)
        coef = alpha * (len(alpha) ** 0.5 / self.bound_)
        one = alpha.shape[1] == 1
        self.alpha_, self.coef_ = (alpha[:, 0], coef[:, 0]) if one else (alpha.T, coef.T)
        self.intercept_ = 0.0 if one else np.zeros(alpha.shape[1])
        self.solution_ = solution

    def _bound(self, blocks: Blocks) -> float:
        """Return the bound of abs(phi): known, or its largest value on the training rows that count."""
        sinks: Any = self.feature_map_
        if np.isfinite(sinks.bound_):
            return float(sinks.bound_)

        def work(block: Block) -> _Largest:
            return _Largest().update(sinks.transform(block.X))

        largest = self._reduce("bound of phi", work, blocks, _Largest()).value * sinks.n_features_out_**0.5
        return largest or 1.0

    def _expansion_of_squares(self, blocks: Blocks, n_columns: int, scale: float) -> Any:
        n_components = self.feature_map_.n_features_out_

        def work(block: Block) -> Moments:
            return Moments.of(n_components, n_columns).update(self._features(block), self._targets(block))

        moments = self._reduce("moments", work, blocks, Moments.of(n_components, n_columns))
        gram, cross = scale**2 * moments.gram / moments.weight, scale * moments.cross / moments.weight
        squares = moments.sum_squares / moments.weight

        def expand(alpha: Array) -> Expansion:
            image = gram @ alpha
            values = 0.5 * (np.einsum("ij,ij->j", alpha, image - 2 * cross) + squares)
            return Expansion(values, image - cross, np.broadcast_to(gram, (n_columns, *gram.shape)))

        return expand

    def _expansion_by_passes(self, blocks: Blocks, n_columns: int, scale: float) -> Any:
        empty = Curvature.of(self.feature_map_.n_features_out_, n_columns)

        def expand(alpha: Array) -> Expansion:
            def work(block: Block) -> Curvature:
                Z = self._features(block)
                return empty.zero().update(Z, *_margin_losses(self.loss, self._targets(block), Z @ (scale * alpha)))

            total = self._reduce("risk", work, blocks, empty.zero())
            n_rows = blocks.n_rows or 1  # known after a pass
            return Expansion(
                total.values / n_rows, scale * total.gradients / n_rows, scale**2 * total.hessians / n_rows
            )

        return expand

    def _features(self, block: Block) -> Array:
        """Return features in float64: the gap is a difference of sums that float32 would not see."""
        if block.sample_weight is not None:
            raise ValueError(
                f"{type(self).__name__}: the empirical risk has no sample_weight. Make the blocks without."
            )
        return self.feature_map_.transform(block.X).astype(np.float64, copy=False)

    def _meet(self, blocks: Blocks) -> int:
        """Learn what must be known of y before the fit; return the columns of scores."""
        return 1


def _margin_losses(loss: str, signs: Array, scores: Array) -> tuple[Array, Array, Array]:
    """Return a loss of margins and its first and second derivatives by the scores."""
    margins = signs * scores
    if loss == "logistic":
        wrong = special.expit(-margins)
        return np.logaddexp(0, -margins), -signs * wrong, wrong * (1 - wrong)
    lacking = np.maximum(1 - margins, 0)
    return 0.5 * lacking**2, -signs * lacking, (lacking > 0).astype(np.float64)


class KitchenSinksClassifier(ClassScores, _SinksLearner):
    r"""Classification by a weighted sum of K random feature functions, no weight above C / K (Rahimi and Recht, 2008).

    Draws :math:`w_1, \dots, w_K` from a distribution and fits, one class against the rest,

    .. math:: \min_\alpha \frac1m \sum_i c\Big(\sum_k \alpha_k \phi(x_i; w_k),\, y_i\Big)
              \quad\text{with}\quad |\alpha_k| \le C / K, \qquad |\phi| \le 1.

    Parameters
    ----------
    phi : str or callable, default="cosine"
        The feature function, as in ``KitchenSinks``. The algorithm asks for :math:`|\phi| \le 1`: a bounded function of
        ``KitchenSinks`` is divided by its bound; "relu", "squared_relu" and a function of one's own, whose bound is not
        known, by the largest value they take on the training rows (``bound_``). On other rows these may exceed it.
    distribution : shift-invariant kernel, callable or None
        The distribution of the parameters, as in ``KitchenSinks``.
    n_components : int, default=100
        The number K of feature functions.
    C : float, default=100.0
        The sum of all weights is at most C, and so is abs(f).
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
        The algorithm has none; a constant function among the feature functions is one.
    bound_ : float
        What phi was divided by.
    feature_map_ : KitchenSinks
    solution_ : Solution
        Ends at a gap, an upper bound of how far the risk is above its minimum, of 1e-6 of the risk of f = 0.

    Notes
    -----
    Time: about 10 passes of m K^2 / 2 multiplications a class, and about 15 Cholesky factorisations of K x K for each;
    one pass for all classes with the squared loss. Memory: a few matrices of K x K a class, and blocks of features.

    The distribution, where it is a kernel with a parameter from the data, is resolved on a uniform sample of the rows.

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
        phi: Any = "cosine",
        distribution: Any = None,
        *,
        n_components: int = 100,
        C: float = 100.0,
        loss: str = "logistic",
        random_state: Any = None,
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

    def _meet(self, blocks: Blocks) -> int:
        self.classes_ = np.unique(np.concatenate([np.unique(self._check_y(y)) for y in blocks.targets()]))
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError(
                f"{type(self).__name__}: y must hold at least 2 classes, got 1 class: {self.classes_.tolist()[0]!r}."
            )
        return 1 if n_classes == 2 else n_classes

    def _targets(self, block: Block) -> Array:
        belongs = np.asarray(block.y)[:, None] == (self.classes_ if len(self.classes_) > 2 else self.classes_[1:])
        return np.where(belongs, 1.0, -1.0)


class KitchenSinksRegressor(OneTarget, _SinksLearner):
    """Regression by a weighted sum of K random feature functions, no weight above C / K (Rahimi and Recht, 2008).

    Minimises the mean of (f(x) - y)^2 / 2. The algorithm has no intercept and abs(f) is at most C: centre y, and give C
    in its units.

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
        phi: Any = "cosine",
        distribution: Any = None,
        *,
        n_components: int = 100,
        C: float = 100.0,
        random_state: Any = None,
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
