"""K-means in the space of a kernel's features."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array, Rows, RowsLike, Seed
from mercer.checkpoints import kept
from mercer.data import Block, Blocks, as_blocks
from mercer.data.lazy import lazily
from mercer.data.sources.collections import is_collection
from mercer.engines import engine_for, rows_of
from mercer.features import FeatureMap
from mercer.fitting import Assignment, FeatureRows, MapPlan, lloyd, mini_batches
from mercer.kernels import Kernel
from mercer.learners.base import SOLVED
from mercer.learners.hashing import splitmix64
from mercer.learners.unsupervised import UnsupervisedLearner
from mercer.linalg import nearest_of, squared_distances, squared_norms
from mercer.parallel import one_blas_thread
from mercer.solvers import (
    Heads,
    NearestCentres,
    Solution,
    distances,
    first_of_equals,
    kmeans_plus_plus,
    leading_directions,
    random_rows,
)
from mercer.state import Count, Integers, Real, Reals, Stored
from mercer.stats import Totals
from mercer.structures import Ragged
from mercer.validation import check_integer, check_matrix, check_real, check_weights

# Fewest rows per cluster that the first centres are drawn from.
_SEED_ROWS_PER_CLUSTER = 64
# Share of the memory that labels, margins and heads may take, besides the features.
_KEPT_SHARE = 0.25
# Projection width of the heads: 32 + k / 2, at most 128, a multiple of 8 (SIMD).
_LEAST_DIRECTIONS, _MOST_DIRECTIONS = 32, 128
# Rows that the directions of the projection are computed from.
_DIRECTION_ROWS = 1024


class KernelKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, UnsupervisedLearner):
    r"""Kernel k-means at linear cost: k-means on D features.

    .. math:: \min_{c_1, \dots, c_k} \sum_i w_i \min_j \|z(x_i) - c_j\|^2

    Parameters
    ----------
    kernel : Kernel, default=Gaussian()
    n_clusters : int, default=8
    n_components : int or "auto", default="auto"
        Number of features D. "auto" takes 1024 features, or fewer under a memory limit; for kernels that count parts of
        objects, 2^18 hashed columns, which are sparse.
    features : feature map, optional
        A map of your own; ``kernel`` and ``n_components`` are then not used.
    init : "k-means++", "random" or array of shape (n_clusters, n_features), default="k-means++"
        How the first centres are drawn from a uniform sample of at least 4096 rows; or the rows whose features are the
        first centres.
    n_init : int or "auto", default="auto"
        Number of starts; the one with the least inertia is kept. "auto" is 10 for "random" and else 1.
    max_iter : int, default=300
        Most passes over the rows.
    tol : float, default=1e-4
        Stop if the sum of the squared moves of the centres is at most this share of the mean variance of the features.
    batch_size : int, optional
        Move the centres after every batch of this many rows, in the order of the rows. By default the centres move
        after a whole pass (Lloyd).
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads, at most one per core; ``config_context``'s by default, -1 for all.
    verbose : int, default=0
        1 shows the progress of each pass.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, D)
        In the space of features.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row.
    inertia_ : float
        The weighted sum of squared distances to the nearest centres.
    n_iter_ : int
    feature_map_ : fitted feature map
    solution_ : Solution
        ``history`` is the inertia after each pass.

    Notes
    -----
    The answer is Lloyd's, with fewer distances. Each row keeps a head, its projection on h = 32 to 128
    leading directions of the features. The first pass takes n (k + h) D multiplications. Later passes take n, and h k
    for each row whose nearest centre the triangle inequality leaves open (Hamerly). Centres that the heads cannot rule
    out are measured exactly, D multiplications each.

    Features are held while they fit half the memory budget. A quarter is for what is kept of each row: 4 h + 20 bytes,
    or 16 bytes without heads. If features do not fit, those of rows in doubt are made again in each pass; if 16 bytes
    per row do not fit, the features of all rows are. An empty cluster begins again at the row that is farthest from its
    centre, as in scikit-learn.

    References
    ----------
    I. Dhillon, Y. Guan and B. Kulis, "Kernel k-means, spectral clustering and normalized cuts", 2004.
    R. Chitta, R. Jin and A. Jain, "Efficient kernel clustering using random Fourier features", 2012.
    D. Sculley, "Web-scale k-means clustering", 2010.
    G. Hamerly, "Making k-means even faster", 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, KernelKMeans
    >>> rng = np.random.RandomState(0)
    >>> X = np.vstack([rng.normal(3 * i, 0.5, (100, 2)) for i in range(3)])
    >>> model = KernelKMeans(Gaussian(gamma=0.2), n_clusters=3, random_state=0).fit(X)
    >>> np.bincount(model.predict(X)).tolist()
    [100, 100, 100]
    """

    _stored = Stored(
        **SOLVED,
        cluster_centers_=Reals(("c", "f")),
        labels_=Integers((None,), least=0, below="c"),
        inertia_=Real(0.0),
        n_iter_=Count(),
        n_features_out=Count("c", least=1, attribute="_n_features_out"),
    )

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_clusters: int = 8,
        n_components: int | str = "auto",
        features: FeatureMap | None = None,
        init: str | RowsLike = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        batch_size: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.features = features
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict(self, X: RowsLike | Blocks) -> Array:
        """Return the number of the nearest centre of each row of X, an array or ``Blocks``."""
        check_is_fitted(self)
        if is_collection(X):
            return lazily(self, "predict", X)
        return self._of_features(self._nearest_numbers, X)

    def transform(self, X: RowsLike | Blocks) -> Array:
        """Return the distances of each row of X, an array or ``Blocks``, to the centres, in the space of features."""
        check_is_fitted(self)
        if is_collection(X):
            return lazily(self, "transform", X)
        return self._of_features(lambda Z: distances(Z, self.cluster_centers_), X)

    def score(self, X: RowsLike | Blocks, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the inertia of the rows of X: an array, ``Blocks``, or a Dask array or data frame."""
        check_is_fitted(self)
        name = type(self).__name__
        if isinstance(X, Blocks) or is_collection(X):
            blocks = as_blocks(X, sample_weight=sample_weight, owner=name).recut(None, name)
            if blocks.width != self.n_features_in_:
                raise ValueError(f"X has {blocks.width} features, but {name} is expecting {self.n_features_in_}.")
            with self._threads():
                return -float(engine_for(blocks).reduce(_InertiaOfBlock(self), blocks, Totals.of(1)).values[0])
        squares = self._of_features(self.nearest_squares, X)
        weight = 1.0 if sample_weight is None else sample_weight
        return -float(squares @ check_weights(name, weight, len(squares)))

    def nearest_squares(self, Z: Rows) -> Array:
        """Return the squared distances of features to the nearest centre."""
        return np.maximum(nearest_of(self._squares(Z))[1], 0).astype(np.float64)

    def _nearest_numbers(self, Z: Rows) -> Array:
        return first_of_equals(nearest_of(self._squares(Z))[0], self.cluster_centers_)

    def _squares(self, Z: Rows) -> Array:
        return squared_distances(Z, squared_norms(Z), self.cluster_centers_)

    def _stays_local(self) -> str:
        if self.batch_size is None:
            return ""
        return "batch_size goes through the rows one after the other, in one process. Leave it out for rows elsewhere."

    def _map_plan(self) -> MapPlan:
        plan = super()._map_plan()
        return replace(plan, sample_rows=max(plan.sample_rows, _SEED_ROWS_PER_CLUSTER * self.n_clusters))

    def _check_params(self) -> None:
        super()._check_params()
        name = type(self).__name__
        check_integer(name, "n_clusters", self.n_clusters)
        check_integer(name, "max_iter", self.max_iter)
        check_real(name, "tol", self.tol, least=0)
        if self.batch_size is not None:
            check_integer(name, "batch_size", self.batch_size)
        self._n_starts()

    def _solve(self, rows: FeatureRows) -> Solution:
        if rows.n_rows < self.n_clusters:
            raise ValueError(
                f"{type(self).__name__}: n_samples={rows.n_rows} should be >= n_clusters={self.n_clusters}. Lower "
                "n_clusters, or give more rows."
            )
        rng = check_random_state(self.random_state)
        best: tuple[Solution, Array | None] | None = None
        with one_blas_thread():  # BLAS threads would keep spinning next to the threads of the pool
            seeds, heads = self._seeds(rows), self._heads(rows)
            for number in range(self._n_starts()):
                start = seeds(rng)
                solution, labels = self._from_start(rows, heads, start, number)
                if best is None or solution.history[-1] < best[0].history[-1]:
                    best = solution, labels
        assert best is not None  # noqa: S101
        solution, labels = best
        self.inertia_, self.cluster_centers_ = solution.history[-1], solution.value
        self._n_features_out = self.n_clusters
        self.labels_ = self._labels(rows) if labels is None else first_of_equals(labels, self.cluster_centers_)
        return solution

    def _from_start(
        self, rows: FeatureRows, heads: Heads | None, centres: Array, number: int
    ) -> tuple[Solution, Array | None]:
        """Return the solution from some centres, and the cluster of each row where it is known."""

        def run() -> tuple[Solution, Array | None, list[Array]]:
            assignment = Assignment(rows, self.n_clusters, self._nearest(rows, heads))
            solution = self._iterated(assignment, centres)
            return solution, assignment.labels, [] if heads is None else heads.kept

        solution, labels, of_rows = kept(f"start {number + 1}", run)
        if heads is not None:  # the next start needs those of a start that another process has made
            heads.restore(of_rows)
        return solution, labels

    def _iterated(self, assignment: Assignment, centres: Array) -> Solution:
        if self.batch_size is None:
            return lloyd(assignment, centres, tol=self.tol, max_iter=self.max_iter)
        batch_size = self.batch_size
        return mini_batches(assignment, centres, batch_size=batch_size, tol=self.tol, max_iter=self.max_iter)

    def _labels(self, rows: FeatureRows) -> Array:
        return rows_of(rows.passes.engine, lambda block: self._nearest_numbers(rows.features(block)), rows.blocks)

    def _nearest(self, rows: FeatureRows, heads: Heads | None) -> NearestCentres | None:
        """Return the store of what is kept per row, if memory is shared and large enough."""
        if not _may_keep(rows, NearestCentres.row_bytes()):
            return None
        return NearestCentres(rows.n_rows, self.n_clusters, heads, rows.dtype)

    def _heads(self, rows: FeatureRows) -> Heads | None:
        """Return empty heads for all rows, if there are several passes and enough memory."""
        n_directions = min(_LEAST_DIRECTIONS + 8 * (self.n_clusters // 16), _MOST_DIRECTIONS, rows.n_features)
        n_bytes = NearestCentres.row_bytes() + Heads.row_bytes(n_directions)
        if self.batch_size is not None or not _may_keep(rows, n_bytes):
            return None
        n_some = min(_DIRECTION_ROWS, rows.block_rows or _DIRECTION_ROWS)
        some = rows.sample.rows[:: -(-rows.sample.rows.shape[0] // n_some)]
        return Heads(rows.n_rows, leading_directions(self.feature_map_.transform(some), n_directions))

    def _seeds(self, rows: FeatureRows) -> Callable[[np.random.RandomState], Array]:
        """Return the function that draws first centres."""
        if not isinstance(self.init, str):
            start = check_matrix(type(self).__name__, "init", self.init).astype(rows.dtype)
            if start.shape[0] != self.n_clusters or start.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"{type(self).__name__}: init must hold {self.n_clusters} rows of {self.n_features_in_} columns, "
                    f"as many as n_clusters and as X has, got shape {start.shape}."
                )
            centres = self._dense(start).astype(np.float64)
            return lambda rng: centres
        sample, weight = _distinct(rows.sample.rows, rows.sample.weight)
        if self.init == "random":
            return lambda rng: self._dense(sample[random_rows(weight, self.n_clusters, rng)]).astype(np.float64)
        Z = self._dense(sample)
        norms = squared_norms(Z)
        return lambda rng: Z[kmeans_plus_plus(Z, norms, weight, self.n_clusters, rng)].astype(np.float64)

    def _dense(self, rows: Rows) -> Array:
        Z: Rows = self.feature_map_.transform(rows)
        return Z if isinstance(Z, np.ndarray) else np.asarray(Z.toarray())

    def _n_starts(self) -> int:
        name = type(self).__name__
        if isinstance(self.init, str) and self.init not in ("k-means++", "random"):
            raise ValueError(f"{name}: init must be 'k-means++', 'random' or an array of rows, got {self.init!r}.")
        if not isinstance(self.init, str):
            return 1
        if isinstance(self.n_init, str):
            if self.n_init != "auto":
                raise ValueError(f"{name}: n_init must be an integer >= 1 or 'auto', got {self.n_init!r}.")
            return 10 if self.init == "random" else 1
        return check_integer(name, "n_init", self.n_init)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _may_keep(rows: FeatureRows, row_bytes: int) -> bool:
    return rows.passes.engine.shares_memory and rows.allows(rows.n_rows * row_bytes, _KEPT_SHARE)


def _distinct(rows: Rows, weight: Array) -> tuple[Rows, Array]:
    """Return each row of positive weight once, with the total weight of its copies, in the order of their hashes.

    The order depends on the rows alone, so that weighted rows and repeated rows have the same first centres.
    """
    _, first, inverse = np.unique(_hashes(rows), return_index=True, return_inverse=True)
    weight = np.bincount(inverse, weight)
    return rows[first[weight > 0]], weight[weight > 0]


def _hashes(X: Rows) -> Array:
    """Return 64 bits of each row's non-zero entries: the same for dense and CSR rows of one precision.

    The sum over the entries of splitmix64's mixture of their bits and columns.
    """
    if isinstance(X, Ragged):
        return X.hashes()
    columns = splitmix64(np.arange(X.shape[1], dtype=np.uint64))
    if not sparse.issparse(X):
        return np.asarray(np.where(X == 0, np.uint64(0), splitmix64(_bits(X) ^ columns)).sum(axis=1))
    rows = sparse.csr_array(X, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    mixed = splitmix64(_bits(rows.data) ^ columns[rows.indices])
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed)])  # modulo 2^64, as differences are
    hashes: Array = total[rows.indptr[1:]] - total[rows.indptr[:-1]]
    return hashes


def _bits(values: Array) -> Array:
    values = np.ascontiguousarray(values)
    return values.view(np.uint32 if values.dtype == np.float32 else np.uint64).astype(np.uint64)


@dataclass(frozen=True)
class _InertiaOfBlock:
    """The inertia of one block, as work that travels."""

    model: KernelKMeans

    def __call__(self, block: Block) -> Totals:
        name, given = type(self.model).__name__, block.sample_weight
        squares = self.model.nearest_squares(self.model.feature_map_.transform(block.X))
        weight = check_weights(name, 1.0 if given is None else given, block.n_rows, all_zero=True)
        return Totals.of(1).update((weight * squares)[:, None])
