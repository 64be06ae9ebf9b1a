"""Canonical correlations between the features of two kernels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, Rows
from mercer.data import Block, Blocks, as_blocks
from mercer.engines import rows_of
from mercer.features import FeatureMap
from mercer.fitting import FeatureRows, MapPlan, Sample, Targets
from mercer.learners.base import SOLVED
from mercer.learners.unsupervised import UnsupervisedLearner
from mercer.solvers import Solution, canonical_pairs
from mercer.state import Count, Member, Reals, Stored
from mercer.stats import Moments, RowSample
from mercer.validation import check_integer, check_matrix, check_memory, check_real

# Matrices of the width of both maps, in float64, that the solve holds at once.
_SQUARE_MATRICES = 5


@dataclass(frozen=True)
class _SecondView(Targets):
    """The second view for y: its rows are sampled by the survey, and encoded by their features.

    Parameters
    ----------
    draw : function from a sample to a fitted map
    size, seed : int
        Of the sample.
    feature_map : FeatureMap
        From the survey.
    """

    draw: Callable[[Sample], FeatureMap] | None = None
    size: int = 0
    seed: int = 0
    feature_map: Any = None

    required = True

    def check(self, y: Any) -> Any:
        """Return the second view as a matrix; one dimension is one column."""
        y = y if sparse.issparse(y) or hasattr(y, "columns") else np.asarray(y)
        return check_matrix(self.owner, "y", y[:, None] if getattr(y, "ndim", 2) == 1 else y)

    def statistic(self) -> RowSample:
        """Return the empty sample."""
        return RowSample(self.size, self.seed)

    def look(self, found: RowSample, block: Block, weight: Array) -> None:
        """Add a block to the sample."""
        found.update(self._rows(block), block.first_row, weight)

    def known(self, found: Any) -> Self:
        """Return the targets with the map of the second view, drawn on the sample."""
        return replace(self, feature_map=self.draw(Sample(found.rows, found.values)))  # type: ignore[misc]

    def encode(self, block: Block) -> Any:
        """Return the features of the second view."""
        return self.feature_map.transform(self._rows(block))

    def _rows(self, block: Block) -> Any:
        return block.y if self.checked else self.check(block.y)


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
    map_components : int, default=100
        Number of features D of each map.
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

    def __init__(
        self,
        kernel: Any = None,
        y_kernel: Any = None,
        *,
        n_components: int = 2,
        map_components: int = 100,
        features: Any = None,
        y_features: Any = None,
        alpha: float = 1e-3,
        random_state: Any = None,
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
        if isinstance(X, Blocks) and isinstance(y, Blocks):
            raise ValueError(f"{type(self).__name__}: give the two views as one, as_blocks(X, Y).")
        return super().fit(X, y, sample_weight)

    def transform(self, X: Any, y: Any = None) -> Any:
        """Return the scores of the rows of X, an array or ``Blocks``; with y the pair of scores of both views."""
        check_is_fitted(self)
        scores = self._of_features(lambda Z: _scores(Z, self.x_mean_, self.x_weights_), X)
        if y is None:
            return scores
        other = self._y_scores(y)
        self._check_lengths(len(scores), len(other))
        return scores, other

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean over the pairs of the correlations of the two views' scores on these rows."""
        check_is_fitted(self)
        if isinstance(X, Blocks):
            parts = [_SecondView(type(self).__name__).check(target) for target in X.targets()]
            y = sparse.vstack(parts) if sparse.issparse(parts[0]) else np.concatenate(parts)
        x_scores, y_scores = (np.asarray(part, dtype=np.float64) for part in self.transform(X, y))
        weight = np.ones(len(x_scores)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        x_scores -= np.average(x_scores, axis=0, weights=weight)
        y_scores -= np.average(y_scores, axis=0, weights=weight)
        apart = (weight @ x_scores**2) * (weight @ y_scores**2)
        together = weight @ (x_scores * y_scores)
        return float(np.mean(np.where(apart > 0, together / np.sqrt(np.where(apart > 0, apart, 1.0)), 0.0)))

    def _y_scores(self, y: Any) -> Array:
        name = type(self).__name__
        blocks = y if isinstance(y, Blocks) else as_blocks(_SecondView(name).check(y), owner=name)
        if blocks.width != self.n_y_features_in_:
            raise ValueError(f"{name}: y has {blocks.width} columns, and had {self.n_y_features_in_} in fit.")

        def work(block: Block) -> Array:
            return _scores(self.y_feature_map_.transform(block.X), self.y_mean_, self.y_weights_)

        with self._threads():
            return rows_of(self._engine, work, blocks.recut(None, name))

    def _check_lengths(self, n_x: int, n_y: int) -> None:
        if n_x != n_y:
            raise ValueError(
                f"{type(self).__name__}: X has {n_x} rows and y has {n_y}: inconsistent numbers of samples. The two "
                "views must be of the same rows."
            )

    def _map_plan(self) -> MapPlan:
        name, wanted, natural = type(self).__name__, self.map_components, self._natural_kernel
        return MapPlan.of(name, self.kernel, wanted, self.features, natural, width_name="map_components")

    def _y_map_plan(self) -> MapPlan:
        return MapPlan.of(
            type(self).__name__,
            self.kernel if self.y_kernel is None else self.y_kernel,
            self.map_components,
            self.y_features,
            self._natural_kernel,
            width_name="map_components",
            given_name="y_features",
        )

    def _targets(self, rng: np.random.RandomState) -> _SecondView:
        plan, size = self._y_map_plan(), self._map_plan().sample_rows
        return _SecondView(
            type(self).__name__, draw=lambda sample: plan.draw(sample, rng), size=size, seed=rng.randint(2**31 - 1)
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

    def _solve(self, rows: FeatureRows) -> Solution:
        name, targets = type(self).__name__, rows.targets
        assert isinstance(targets, _SecondView)  # noqa: S101
        self.y_feature_map_ = targets.feature_map
        self.n_y_features_in_ = int(self.y_feature_map_.n_features_in_)
        n_pairs, alpha = int(self.n_components), float(self.alpha)
        n_x, n_y = rows.n_features, self.y_feature_map_.n_features_out_
        if n_pairs > min(n_x, n_y):
            raise ValueError(
                f"{name}: n_components={n_pairs} must not exceed the {n_x} features of X and the {n_y} of Y. Lower "
                "n_components, or raise map_components."
            )
        if rows.n_rows < max(2, n_pairs):
            raise ValueError(
                f"{name}: n_samples={rows.n_rows} must be at least n_components={n_pairs} and 2. Lower n_components, "
                "or give more rows."
            )
        width = n_x + n_y
        self._check_covariances(width)
        empty = Moments.of(width, 0, self._origin(rows))

        def work(Z: Rows, Y: Rows, weight: Array | None) -> Moments:
            return empty.zero().update(_side_by_side(Z, Y), np.empty((Z.shape[0], 0)), weight)

        with np.errstate(over="ignore", invalid="ignore"):  # overflow ends in an error below
            moments = rows.reduce("moments", work, empty)
            gram = moments.centred()[0]
        gram /= moments.weight
        if not np.isfinite(gram).all():
            raise ValueError(f"{name}: {self._overflow}")
        self.x_mean_, self.y_mean_ = moments.feature_mean[:n_x], moments.feature_mean[n_x:]
        return self._pairs(gram, n_x, alpha, n_pairs)

    def _origin(self, rows: FeatureRows) -> Array | None:
        """Return a point near the mean of both views' features; None for sparse ones, which must stay sparse."""
        Y: Any = rows.targets.encode(next(rows.blocks.labelled()))
        if rows.is_sparse or sparse.issparse(Y):
            return None
        return np.concatenate([rows.origin, Y.mean(axis=0, dtype=np.float64)])

    def _pairs(self, gram: Array, n_x: int, alpha: float, n_pairs: int) -> Solution:
        name = type(self).__name__
        views = {"X": (gram[:n_x, :n_x], self.x_mean_), "y": (gram[n_x:, n_x:], self.y_mean_)}
        penalties = []
        for view, (part, mean) in views.items():
            variance = float(np.trace(part)) / len(part)
            if variance <= np.finfo(np.float64).eps * len(part) * (float(mean @ mean) + variance):
                raise ValueError(
                    f"{name}: the features of {view} have no variance: all its rows are alike. Give rows that differ, "
                    "or a kernel that tells them apart."
                )
            penalties.append(alpha * variance)
        try:
            pairs = canonical_pairs(views["X"][0], views["y"][0], gram[:n_x, n_x:], penalties[0], penalties[1], n_pairs)
        except LinAlgError:
            raise ValueError(
                f"{name}: alpha={alpha:g} is too small: the features' covariance is singular to rounding. Raise alpha "
                "(1e-6 at least with float64 rows, 1e-4 with float32), or take fewer features."
            ) from None
        self.x_weights_, self.y_weights_, self.correlations_ = pairs.a, pairs.b, pairs.correlations
        self._n_features_out = n_pairs
        return Solution.converged(np.vstack([pairs.a, pairs.b]), "cholesky")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _side_by_side(A: Rows, B: Rows) -> Rows:
    B = B.astype(A.dtype, copy=False)
    if sparse.issparse(A) or sparse.issparse(B):
        return sparse.hstack([A, B], format="csr")
    return np.hstack([A, B])


def _scores(Z: Rows, mean: Array, weights: Array) -> Array:
    directions = weights.astype(Z.dtype, copy=False)
    if sparse.issparse(Z):
        return np.asarray(Z @ directions - (mean @ weights).astype(Z.dtype))
    scores: Array = (Z - mean.astype(Z.dtype)) @ directions
    return scores
