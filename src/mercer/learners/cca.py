"""Canonical correlations between the features of two kernels."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, RowsLike, Seed
from mercer.data import Block, Blocks, as_blocks
from mercer.data.lazy import lazily
from mercer.data.sources.collections import is_collection
from mercer.engines import engine_for, rows_of
from mercer.features import FeatureMap
from mercer.fitting import FeatureRows, MapPlan
from mercer.fitting.second_view import SecondView, as_view
from mercer.fitting.width import Solver
from mercer.kernels import Kernel
from mercer.learners.base import SOLVED
from mercer.learners.two_views import TwoViews, scores_along
from mercer.learners.unsupervised import UnsupervisedLearner
from mercer.solvers import Solution, canonical_pairs
from mercer.solvers.spectra.canonical import Canonical
from mercer.state import Count, Member, Reals, Stored
from mercer.stats import Correlations
from mercer.validation import check_integer, check_memory, check_real

# Matrices of the width of both maps, in float64, that the solve holds at once.
_SQUARE_MATRICES = 5
# Features of "auto". The penalty is relative to the variance of a feature: more features mean a weaker penalty, and at
# 1024 features noise of a few thousand rows is found to be correlated.
_WIDTH = 100


_BOTH_VIEWS = "score needs both views: score(X, y), or score(as_blocks(X, Y))."


class KernelCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, UnsupervisedLearner):
    r"""Kernel canonical correlation analysis at linear cost: what two views of the same rows have in common.

    .. math:: \max_{a, b} \; a^T C_{xy} b \quad \text{with} \quad
       a^T (C_{xx} + \kappa_x I) a = b^T (C_{yy} + \kappa_y I) b = 1,

    C the covariances of the features z(x) of one view and z(y) of the other.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian()
        Of the rows of X.
    y_kernel : Kernel, optional
        Of the rows of Y; by default as ``kernel``.
    n_components : int, default=2
        Number of pairs of directions.
    map_components : int or "auto", default="auto"
        Number of features D of each map. "auto" takes 100, or fewer under a memory limit: with more features of few
        rows, raise alpha too, whose unit is the mean variance of a feature.
    features, y_features : feature map, optional
        Maps of your own; the kernel and ``map_components`` are then not used.
    alpha : float, default=1e-3
        The penalty, as a share of the mean variance of the view's features. With many features and no penalty, anything
        correlates: choose alpha by ``score`` on rows that were not in ``fit``.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads, at most one per core; ``config_context``'s by default, -1 for all.
    verbose : int, default=0
        1 shows the progress of each pass.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components,)
        The canonical correlations: the correlations of the pairs of scores on the rows of ``fit``.
    x_weights_, y_weights_ : ndarray of shape (D, n_components)
        The directions a and b, in the spaces of features.
    x_mean_, y_mean_ : ndarray of shape (D,)
    feature_map_, y_feature_map_ : fitted feature maps
    solution_ : Solution

    Notes
    -----
    Y with one column may be an array of one dimension. In place of X, ``fit`` and ``transform`` take
    ``as_blocks(X, Y)`` or a stream of blocks (X, Y). ``fit_transform`` returns the scores of X alone, as steps of a
    pipeline do.

    Time: 2 n D^2 + 12 D^3 multiplications (2 D^3 for few pairs of many features). Memory: a few matrices of 2 D x 2 D,
    whatever the number of rows.

    References
    ----------
    F. Bach and M. Jordan, "Kernel independent component analysis", 2002.
    D. Lopez-Paz et al., "Randomized nonlinear component analysis", 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelCCA
    >>> rng = np.random.RandomState(0)
    >>> common = rng.uniform(-3, 3, 1000)
    >>> X = np.column_stack([np.cos(common), rng.normal(size=1000)])
    >>> Y = np.column_stack([common**2, rng.normal(size=1000)])
    >>> model = KernelCCA(Gaussian(gamma="median"), n_components=1, random_state=0).fit(X, Y)
    >>> bool(model.correlations_[0] > 0.95)
    True
    """

    _stored = Stored(
        **SOLVED,
        n_y_features_in_=Count("e", least=1),
        y_feature_map_=Member(FeatureMap, {"n_features_in_": "e", "n_features_out_": "g"}),
        x_mean_=Reals(("f",)),
        y_mean_=Reals(("g",)),
        x_weights_=Reals(("f", "c")),
        y_weights_=Reals(("g", "c")),
        correlations_=Reals(("c",)),
        n_features_out=Count("c", least=1, attribute="_n_features_out"),
    )

    n_components: int

    def __init__(
        self,
        kernel: Kernel | None = None,
        y_kernel: Kernel | None = None,
        *,
        n_components: int = 2,
        map_components: int | str = "auto",
        features: FeatureMap | None = None,
        y_features: FeatureMap | None = None,
        alpha: float = 1e-3,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.y_kernel = y_kernel
        self.n_components = n_components
        self.map_components = map_components
        self.features = features
        self.y_features = y_features
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: RowsLike | Blocks, y: RowsLike | Blocks | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit both maps and find the pairs of directions.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or ``Blocks``
            The first view; ``as_blocks(X, Y)`` brings both.
        y : array, CSR matrix or data frame of shape (n_samples, n_y_features) or (n_samples,)
            The second view.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        if isinstance(y, Blocks):
            raise ValueError(f"{type(self).__name__}: give the two views as one, as_blocks(X, Y).")
        return super().fit(X, y, sample_weight)

    def transform(self, X: RowsLike | Blocks, y: RowsLike | Blocks | None = None) -> Array | tuple[Array, Array]:
        """Return the scores of the rows of X, an array or ``Blocks``; with y the pair of scores of both views.

        The scores of a Dask array or data frame are a lazy collection; give it without y.
        """
        if is_collection(X) and y is None:
            check_is_fitted(self)
            return lazily(self, "transform", X)
        return self._x_scores(X) if y is None else self._both_scores(X, y)

    def score(
        self, X: RowsLike | Blocks, y: RowsLike | Blocks | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the mean over the pairs of the correlations of the two views' scores on these rows.

        The rows of ``Blocks`` and of a Dask array or data frame are scored where they are, block by block.
        """
        check_is_fitted(self)
        name = type(self).__name__
        if isinstance(X, Blocks) or is_collection(X):
            return self._score_of(as_blocks(X, y, sample_weight=sample_weight, owner=name))
        if y is None:
            raise ValueError(f"{name}: {_BOTH_VIEWS}")
        x_scores, y_scores = self._both_scores(X, y)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(Correlations.of(x_scores.shape[1]).update(x_scores, y_scores, weight).values().mean())

    def _score_of(self, blocks: Blocks) -> float:
        name, empty = type(self).__name__, Correlations.of(self.x_weights_.shape[1])
        if not blocks.is_labelled:
            raise ValueError(f"{name}: {_BOTH_VIEWS}")
        if blocks.width != self.n_features_in_:
            raise ValueError(f"X has {blocks.width} features, but {name} is expecting {self.n_features_in_} features.")
        with self._threads():
            total = engine_for(blocks).reduce(_CorrelationsOfBlock(self, empty), blocks.recut(None, name), empty)
        return float(total.values().mean())

    def _both_scores(self, X: RowsLike | Blocks, y: RowsLike | Blocks) -> tuple[Array, Array]:
        x_scores, y_scores = self._x_scores(X), self._y_scores(y)
        n_x, n_y = len(x_scores), len(y_scores)
        if n_x != n_y:
            raise ValueError(
                f"{type(self).__name__}: X has {n_x} rows and y has {n_y}: inconsistent numbers of samples. The two "
                "views must be of the same rows."
            )
        return x_scores, y_scores

    def _x_scores(self, X: RowsLike | Blocks) -> Array:
        check_is_fitted(self)
        return self._of_features(lambda Z: scores_along(Z, self.x_mean_, self.x_weights_), X)

    def _y_scores(self, y: RowsLike | Blocks) -> Array:
        name = type(self).__name__
        blocks = y if isinstance(y, Blocks) else as_blocks(as_view(name, y, self.y_feature_map_.domain), owner=name)
        if blocks.width != self.n_y_features_in_:
            raise ValueError(f"{name}: y has {blocks.width} columns, and had {self.n_y_features_in_} in fit.")

        def work(block: Block) -> Array:
            return scores_along(self.y_feature_map_.transform(block.X), self.y_mean_, self.y_weights_)

        with self._threads():
            return rows_of(self._engine, work, blocks.recut(None, name))

    def _map_plan(self) -> MapPlan:
        return self._plan_of(self.map_components, width_name="map_components")

    def _solver(self) -> Solver:
        return Solver(n_squares=4 * _SQUARE_MATRICES, is_dense=True, width=_WIDTH)  # matrices of the width of both maps

    def _y_map_plan(self) -> MapPlan:
        return MapPlan.of(
            type(self).__name__,
            self.kernel if self.y_kernel is None else self.y_kernel,
            self.map_components,
            self.y_features,
            self._natural_kernel,
            width_name="map_components",
            given_name="y_features",
            solver=self._solver(),
        )

    def _targets(self, rng: np.random.RandomState) -> SecondView:
        plan, size = self._y_map_plan(), self._map_plan().sample_rows
        return SecondView(
            type(self).__name__,
            draw=lambda sample: plan.draw(sample, rng),
            size=size,
            seed=rng.randint(2**31 - 1),
            domain=plan.domain,
        )

    def _check_params(self) -> None:
        super()._check_params()
        name = type(self).__name__
        self._y_map_plan()
        check_integer(name, "n_components", self.n_components)
        check_real(name, "alpha", self.alpha, least=0)

    def _check_size(self, plan: MapPlan, blocks: Blocks) -> None:
        super()._check_size(plan, blocks)
        self._check_covariances(plan.n_features)

    def _check_covariances(self, width: int) -> None:
        n_bytes = 8 * _SQUARE_MATRICES * width**2
        check_memory(type(self).__name__, "map_components", self.map_components, n_bytes, "the covariances")

    def _check_pairs(self, n_rows: int, n_x: int, n_y: int) -> None:
        """Refuse more pairs than rows or features allow."""
        name, n_pairs = type(self).__name__, self.n_components
        if n_pairs > min(n_x, n_y):
            raise ValueError(
                f"{name}: n_components={n_pairs} must not exceed the {n_x} features of X and the {n_y} of Y. Lower "
                "n_components, or raise map_components."
            )
        if n_rows < max(2, n_pairs):
            raise ValueError(
                f"{name}: n_samples={n_rows} must be at least n_components={n_pairs} and 2. Lower n_components, "
                "or give more rows."
            )

    def _solve(self, rows: FeatureRows) -> Solution:
        assert isinstance(rows.targets, SecondView)  # noqa: S101 - that of ``_targets``
        self.y_feature_map_ = rows.targets.feature_map
        self.n_y_features_in_ = int(self.y_feature_map_.n_features_in_)
        n_x, n_y = rows.n_features, self.y_feature_map_.n_features_out_
        self._check_pairs(rows.n_rows, n_x, n_y)
        self._check_covariances(n_x + n_y)
        views = TwoViews.of(rows)
        if not views.is_finite:
            raise ValueError(f"{type(self).__name__}: {self._overflow}")
        self.x_mean_, self.y_mean_ = views.x_mean, views.y_mean
        pairs = self._pairs(views)
        self.x_weights_, self.y_weights_, self.correlations_ = pairs.a, pairs.b, pairs.correlations
        self._n_features_out = int(self.n_components)
        return Solution.converged(np.vstack([pairs.a, pairs.b]), "cholesky")

    def _pairs(self, views: TwoViews) -> Canonical:
        alpha = float(self.alpha)
        penalties = (
            alpha * self._variance("X", views.xx, views.x_mean),
            alpha * self._variance("y", views.yy, views.y_mean),
        )
        try:
            return canonical_pairs(views.xx, views.yy, views.xy, *penalties, int(self.n_components))
        except LinAlgError:
            raise ValueError(
                f"{type(self).__name__}: alpha={alpha:g} is too small: the features' covariance is singular to "
                "rounding. Raise alpha (1e-6 at least with float64 rows, 1e-4 with float32), or take fewer features."
            ) from None

    def _variance(self, view: str, covariance: Array, mean: Array) -> float:
        """Return the mean variance of the features of a view; refuse a view without variance."""
        variance = float(np.trace(covariance)) / len(covariance)
        if variance <= np.finfo(np.float64).eps * len(covariance) * (float(mean @ mean) + variance):
            raise ValueError(
                f"{type(self).__name__}: the features of {view} have no variance: all its rows are alike. Give rows "
                "that differ, or a kernel that tells them apart."
            )
        return variance

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True)
class _CorrelationsOfBlock:
    """The correlations of the two views' scores of one block, as work that travels."""

    model: KernelCCA
    empty: Correlations

    def __call__(self, block: Block) -> Correlations:
        assert block.y is not None  # noqa: S101 - the blocks are labelled
        model = self.model
        view = as_view(type(model).__name__, block.y, model.y_feature_map_.domain)
        x_scores = scores_along(model.feature_map_.transform(block.X), model.x_mean_, model.x_weights_)
        y_scores = scores_along(model.y_feature_map_.transform(view), model.y_mean_, model.y_weights_)
        return self.empty.zero().update(x_scores, y_scores, block.sample_weight)
