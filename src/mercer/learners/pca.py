"""Principal components of the features of a kernel."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, Rows, RowsLike, Seed
from mercer.data import Blocks, as_blocks
from mercer.data.lazy import lazily
from mercer.data.sources.collections import is_collection
from mercer.features import FeatureMap
from mercer.fitting import FeatureRows, MapPlan
from mercer.fitting.map_plan import BLOCK_ROWS
from mercer.fitting.width import Solver
from mercer.kernels import Gaussian, Kernel
from mercer.learners.base import SOLVED
from mercer.learners.ridge import KernelRidge
from mercer.learners.unsupervised import UnsupervisedLearner
from mercer.linalg import squared_norms
from mercer.solvers import Solution, block_krylov, largest_eigenpairs
from mercer.state import Count, Member, Reals, Stored
from mercer.stats import Gradient, Moments
from mercer.validation import check_integer, check_matrix, check_memory

# Matrices of D x D in float64 that a direct solve holds at once.
_SQUARE_MATRICES = 6
# Dense copies of a block of rows while pre-images are learned: read, cut, weighted and summed.
_PRE_IMAGES = 6


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, UnsupervisedLearner):
    r"""Kernel principal component analysis at linear cost: the principal axes of D features.

    .. math:: \frac{1}{n - 1} \sum_i (z_i - \bar z)(z_i - \bar z)^T = V \Lambda V^T, \quad
       t(x) = V_k^T (z(x) - \bar z)

    With :math:`\langle z(x), z(y) \rangle = k(x, y)` these are the scores of kernel PCA, whose centred Gram matrix has
    the eigenvalues :math:`(n - 1) \lambda`.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian()
    n_components : int, optional
        Number of principal components; by default all with a variance above rounding.
    map_components : int or "auto", default="auto"
        Number of features D of the map. "auto" takes 1024 features, or fewer under a memory limit; for kernels that
        count parts of objects, 2^18 hashed columns, which are sparse.
    features : feature map, optional
        A map of your own; ``kernel`` and ``map_components`` are then not used.
    fit_inverse_transform : bool, default=False
        Whether to learn pre-images: ridge regression of the rows on their scores, with ``map_components`` features of a
        Gaussian kernel whose bandwidth is the median distance of the scores.
    alpha : float, "gcv" or "loo", default="gcv"
        The penalty of the ridge regression for pre-images, or the rule that chooses the penalty.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads, at most one per core; ``config_context``'s by default, -1 for all.
    verbose : int, default=0
        1 shows the progress of each pass.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, D)
        The principal axes in the space of features, each with its largest entry positive.
    eigenvalues_ : ndarray of shape (n_components,)
        The largest eigenvalues of the centred Gram matrix of the features.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        The variance along each axis, and its share of the variance of all features.
    mean_ : ndarray of shape (D,)
    inverse_ : KernelRidge or None
        From scores to pre-images; None without ``fit_inverse_transform``.
    feature_map_ : fitted feature map
    solution_ : Solution

    Notes
    -----
    Time: n D^2 / 2 + 4/3 D^3 multiplications; for few components of many features n D^2 / 2 + O(D^2). Memory: a few
    matrices of D x D and a block of features per thread, whatever the number of rows. If features are sparse, or D x D
    matrices exceed the memory budget, block Krylov iterations take one pass over the rows each. scikit-learn's
    ``KernelPCA`` takes n^2 memory and n^2 to n^3 time.

    References
    ----------
    B. Schoelkopf, A. Smola and K.-R. Mueller, "Nonlinear component analysis as a kernel eigenvalue problem", 1998.
    G. Bakir, J. Weston and B. Schoelkopf, "Learning to find pre-images", 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelPCA
    >>> angle = np.linspace(0, 6.28, 400)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = KernelPCA(Gaussian(gamma=0.1), n_components=2, random_state=0).fit(X)
    >>> model.transform(X).shape, bool(model.explained_variance_ratio_.sum() > 0.9)
    ((400, 2), True)
    """

    _stored = Stored(
        **SOLVED,
        components_=Reals(("c", "f")),
        eigenvalues_=Reals(("c",)),
        explained_variance_=Reals(("c",)),
        explained_variance_ratio_=Reals(("c",)),
        mean_=Reals(("f",)),
        n_features_out=Count("c", attribute="_n_features_out"),
        inverse_=Member(KernelRidge, {"n_features_in_": "c"}, nullable=True),
    )

    n_components: int | None

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int | None = None,
        map_components: int | str = "auto",
        features: FeatureMap | None = None,
        fit_inverse_transform: bool = False,
        alpha: float | str = "gcv",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.map_components = map_components
        self.features = features
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def transform(self, X: RowsLike | Blocks) -> Array:
        """Return the scores of the rows of X, an array or ``Blocks``, along the principal axes."""
        check_is_fitted(self)
        if is_collection(X):
            return lazily(self, "transform", X)
        return self._of_features(self._scores_of, X)

    def inverse_transform(self, X: RowsLike | Blocks) -> Array:
        """Return pre-images of scores: rows whose scores are close to those given, as learned in ``fit``.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        name = type(self).__name__
        if self.inverse_ is None:
            raise ValueError(f"{name}: pre-images were not learned. Fit with fit_inverse_transform=True.")
        scores = check_matrix(name, "X", X)
        if scores.shape[1] != self._n_features_out:
            raise ValueError(f"{name}: X has {scores.shape[1]} columns and must hold {self._n_features_out} scores.")
        return self.inverse_.predict(scores)

    def _scores_of(self, Z: Rows) -> Array:
        axes = self.components_.T.astype(Z.dtype, copy=False)
        if sparse.issparse(Z):
            return np.asarray(Z @ axes - (self.mean_ @ self.components_.T).astype(Z.dtype))
        Z -= self.mean_.astype(Z.dtype)  # before the product: a mean far from 0 would cancel after it
        scores: Array = Z @ axes
        return scores

    def _map_plan(self) -> MapPlan:
        return self._plan_of(self.map_components, width_name="map_components")

    def _solver(self) -> Solver:
        return Solver(n_squares=_SQUARE_MATRICES + 2)

    def _check_params(self) -> None:
        super()._check_params()
        if self.n_components is not None:
            check_integer(type(self).__name__, "n_components", self.n_components)

    def _check_size(self, plan: MapPlan, blocks: Blocks) -> None:
        super()._check_size(plan, blocks)
        if self.fit_inverse_transform:
            n_rows = min(BLOCK_ROWS, blocks.n_rows or BLOCK_ROWS)
            n_bytes = 8 * blocks.width * (_PRE_IMAGES * n_rows + 3 * plan.n_features)
            way_out = "Leave fit_inverse_transform out, or take fewer columns."
            what = f"pre-images of {n_rows} rows of {blocks.width} columns, dense"
            check_memory(type(self).__name__, "fit_inverse_transform", True, n_bytes, what, way_out=way_out)

    def _stays_local(self) -> str:
        if not self.fit_inverse_transform:
            return ""
        return "fit_inverse_transform learns from all rows in this process. Leave it out for rows elsewhere."

    def _solve(self, rows: FeatureRows) -> Solution:
        name, wanted = type(self).__name__, self.n_components
        if rows.n_rows < max(2, wanted or 2):
            raise ValueError(
                f"{name}: n_samples={rows.n_rows} must be at least n_components={wanted} and 2. Lower n_components, or "
                "give more rows."
            )
        if wanted is not None and wanted > rows.n_features:
            raise ValueError(
                f"{name}: n_components={wanted} must not exceed the {rows.n_features} features of the map. Raise "
                "map_components, or lower n_components."
            )
        n_wanted = min(rows.n_features, rows.n_rows) if wanted is None else wanted
        fits = rows.fits_square(_SQUARE_MATRICES)
        solution = (self._by_moments if fits and not rows.is_sparse else self._by_products)(rows, n_wanted)
        self.inverse_ = self._pre_images(rows) if self.fit_inverse_transform else None
        return solution

    def _by_moments(self, rows: FeatureRows, n_wanted: int) -> Solution:
        """Solve with the covariance of one pass."""
        empty = Moments.of(rows.n_features, 0, rows.origin)

        def work(Z: Rows, Y: Rows, weight: Array | None) -> Moments:
            return empty.zero().update(Z, np.empty((Z.shape[0], 0)), weight)

        with np.errstate(over="ignore", invalid="ignore"):  # overflow ends in an error below
            moments = rows.reduce("moments", work, empty)
            gram = moments.centred()[0]
        if not np.isfinite(gram).all():
            raise ValueError(f"{type(self).__name__}: {self._overflow}")
        solution = largest_eigenpairs(gram, n_wanted)
        self._set(solution, moments.feature_mean, float(np.trace(gram)), moments.weight)
        return solution

    def _by_products(self, rows: FeatureRows, n_wanted: int) -> Solution:
        """Solve with products Z^T W Z v, one pass over the rows each, with the mean subtracted from the scores."""
        width = rows.n_features

        def sums(Z: Rows, Y: Rows, weight: Array | None) -> Gradient:
            weight = np.ones(Z.shape[0]) if weight is None else weight
            part = Gradient.of(width + 1, 1)
            part.vector[:-1] = Gradient.of(width, 1).update(Z, weight).vector
            part.vector[-1] = weight.sum()
            part.loss = float(weight @ squared_norms(Z))
            return part

        totals = rows.reduce("sums", sums, Gradient.of(width + 1, 1))
        weight = float(totals.vector[-1, 0])
        mean = totals.vector[:-1, 0] / weight
        if not np.isfinite(mean).all():
            raise ValueError(f"{type(self).__name__}: {self._overflow}")

        def product(directions: Array) -> Array:
            def work(Z: Rows, Y: Rows, weight: Array | None) -> Gradient:
                scores = Z @ directions.astype(Z.dtype) - mean @ directions
                return Gradient.of(*directions.shape).update(Z, scores if weight is None else weight[:, None] * scores)

            # sum (z - m)(z - m)^T v = sum z (z - m)^T v: the scores about the mean sum to 0
            return rows.reduce("product", work, Gradient.of(*directions.shape)).vector

        tol = 1e-9 if rows.dtype == np.float64 else 1e-5
        solution = block_krylov(product, width, n_wanted, tol=tol)
        self._set(solution, mean, float(totals.loss) - weight * float(mean @ mean), weight)
        return solution

    def _set(self, solution: Solution, mean: Array, total: float, weight: float) -> None:
        name = type(self).__name__
        if not weight > 1:
            raise ValueError(
                f"{name}: sample_weight sums to {weight:g} and must sum to more than 1: a weight is a number of rows. "
                "Multiply the weights by the number of rows, or leave them out."
            )
        values = solution.details["eigenvalues"]
        # the largest variance that rounding of the sums can produce from features without variance
        noise = np.finfo(np.float64).eps * len(mean) * (weight * float(mean @ mean) + total)
        if total <= noise:
            raise ValueError(
                f"{name}: the features have no variance: all rows of X are alike. Give rows that differ, or a kernel "
                "that tells them apart."
            )
        if self.n_components is None:
            values = values[values > noise]
        self.components_ = solution.value[:, : len(values)].T.copy()
        self.eigenvalues_ = values
        self.explained_variance_ = values / (weight - 1)
        self.explained_variance_ratio_ = values / total
        self.mean_ = mean
        self._n_features_out = len(values)

    def _pre_images(self, rows: FeatureRows) -> KernelRidge:
        def pairs() -> Iterator[tuple[Array, Array, Array]]:
            for block in rows.blocks.labelled():
                X = block.X if isinstance(block.X, np.ndarray) else block.X.toarray()
                weight = rows.weight(block)
                yield self._scores_of(rows.features(block)), X, np.ones(len(X)) if weight is None else weight

        return KernelRidge(
            Gaussian(gamma="median"),
            n_components=self.map_components,
            alpha=self.alpha,
            random_state=self.random_state,
            verbose=self.verbose,
        ).fit(as_blocks(pairs, owner=type(self).__name__))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
