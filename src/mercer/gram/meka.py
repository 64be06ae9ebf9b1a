"""Memory efficient kernel approximation (Si, Hsieh and Dhillon, 2014)."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve, eigh, pinv

from mercer._typing import Array, Rows, RowsLike, Seed, override
from mercer.features.base import FeatureMap, Writer
from mercer.features.nystroem.landmarks import Chooser
from mercer.features.nystroem.map import Nystroem
from mercer.gram.base import GramOperator, RowNumbers, as_columns, check_ridge, row_numbers
from mercer.gram.partition import Partition, nearest
from mercer.kernels import Gaussian, Kernel
from mercer.kernels.parameter import as_kernel
from mercer.parallel import one_blas_thread
from mercer.state import Count, Many, Member, OneOf, Real, Reals, Sizes, Stored, require
from mercer.validation import check_integer, check_memory

_LINK_ROWS = 4  # sampled rows per rank, to fit the links of a cluster
_LEAST_LINK_ROWS = 64  # with fewer rows, a small rank overfits and the links between clusters are inaccurate


class MEKA(FeatureMap, GramOperator):
    r"""Low rank within clusters, and low rank between clusters through a small link matrix.

    k-means divides the rows into c clusters. Each diagonal block has a Nystroem approximation of rank k. The blocks
    between clusters use the same features and a link matrix L, fitted by least squares on sampled rows v:

    .. math:: K^{(s,s)} \approx W_s W_s^T, \qquad
        L^{(s,t)} = \arg\min_L \|K_{v_s v_t} - W_{v_s} L W_{v_t}^T\|_F, \qquad \tilde K = W L W^T

    with W block diagonal. The approximation has rank up to c k, at the memory of rank k: O(n k + (c k)^2). After
    ``fit`` the object is a scipy ``LinearOperator`` on the rows of ``fit``, and ``transform`` returns features of any
    rows.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(gamma="scale")
    n_clusters : int, default=5
        Number of clusters; empty clusters are dropped.
    rank : int, default=20
        Rank k of each cluster; the whole matrix has rank up to n_clusters * rank.
    landmarks : as in ``Nystroem``, default="uniform"
    oversampling : int, default=2
        Landmarks per rank in each cluster; PCA reduces the features to ``rank``.
    psd : {"clip", "shift", None}, default="clip"
        L fitted by least squares may have negative eigenvalues. ``"clip"`` sets negative eigenvalues to zero (the
        nearest positive semi-definite matrix). ``"shift"`` shifts all eigenvalues by the most negative eigenvalue. None
        leaves L unchanged; then ``transform`` and ``solve`` are not available.
    random_state : int, RandomState or None

    Attributes
    ----------
    partition_ : Partition
    maps_ : list of Nystroem
        The map of each cluster.
    features_ : list of ndarray
        W_s of each cluster, with rows in the order of ``partition_.order``.
    link_ : ndarray of shape (sum of ranks, sum of ranks)
    shift_ : float
        Absolute value of the most negative eigenvalue of the fitted L, 0 if there is none; nan with ``psd=None``.
    kernel_ : Kernel

    Notes
    -----
    Time: O(n (c d + k d + k^2)), and O((c k)^2 d + (c k)^3) for the links. A new row belongs to the cluster of its
    nearest centre; its features cost O((c + k) d + c k^2). ``variance`` is the squared error of this fit, because the
    whole map is learned from the rows.

    References
    ----------
    S. Si, C.-J. Hsieh and I. Dhillon, "Memory efficient kernel approximation", ICML 2014 (JMLR 18, 2017).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MEKA, Gaussian
    >>> X = np.random.RandomState(0).randn(500, 2)
    >>> meka = MEKA(Gaussian(gamma=1.0), n_clusters=4, rank=20, random_state=0).fit(X)
    >>> meka.shape, bool(meka.frobenius_error(X) < 0.1)
    ((500, 500), True)
    >>> Z = meka.transform(X)
    >>> bool(np.allclose(Z @ (Z.T @ X), meka @ X))
    True
    """

    # n rows in c clusters; the maps of all clusters have w features in total.
    _stored = Stored(
        n_features_out=Count("D", attribute="n_features_out_"),
        n_rows=Count("n", least=1, attribute="_n_rows"),
        dtype=OneOf((np.dtype(np.float64), np.dtype(np.float32)), attribute="_dtype"),
        partition_=Member(Partition, {"n_rows": "n", "n_columns": "d"}),
        maps_=Many(Member(Nystroem, {"n_features_in_": "d"}), "c"),
        features_=Many(Reals((None, None)), "c"),
        root=Reals(("w", "D"), attribute="_root"),
        link_=Reals(("w", "w")),
        shift_=Real(0.0, finite=False),
    )

    _natural_kernel = Gaussian(gamma="scale")

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_clusters: int = 5,
        rank: int = 20,
        landmarks: str | Chooser | RowsLike = "uniform",
        oversampling: int = 2,
        psd: str | None = "clip",
        random_state: Seed = None,
    ):
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.rank = rank
        self.landmarks = landmarks
        self.oversampling = oversampling
        self.psd = psd
        self.random_state = random_state

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._check_params()
        kernel = as_kernel("MEKA", self.kernel, self._natural_kernel).resolve(X)
        kernel.check_domain("X", X)
        self._n_rows, self._dtype = int(X.shape[0]), np.dtype(X.dtype)
        self.partition_ = Partition.of(X, self.n_clusters, rng)
        width = len(self.partition_) * self.rank
        n_bytes = self._n_rows * self.rank * self._dtype.itemsize + 3 * 8 * width**2
        check_memory("MEKA", "rank", self.rank, n_bytes, f"features and links of {len(self.partition_)} clusters")
        self._fit_clusters(kernel, X, rng)
        self._fit_links(kernel, X, rng)
        self.n_features_out_ = self._root.shape[1]
        self.kernel_ = kernel

    def _check_params(self) -> None:
        for name in ("n_clusters", "rank", "oversampling"):
            check_integer("MEKA", name, getattr(self, name))
        if self.psd not in ("clip", "shift", None):
            raise ValueError(f"MEKA: psd must be 'clip', 'shift' or None, got {self.psd!r}.")

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(len(self.partition_) == sizes["c"], "maps_ must hold one map for each cluster of partition_")
        shapes = [
            (part.stop - part.start, cluster.rank_)
            for part, cluster in zip(self.partition_.slices, self.maps_, strict=True)
        ]
        require(
            [W.shape for W in self.features_] == shapes, "features_ must have the rows and the ranks of the clusters"
        )
        require(sum(rank for _, rank in shapes) == sizes["w"], "link_ must have the ranks of all clusters")
        require(np.isnan(self.shift_) or sizes["D"], "n_features_out must be at least 1")
        require(np.isfinite(self._largest_sum()), "the products of features_ and link_ must be finite")

    def _largest_sum(self) -> float:
        """Bound the sums of the rows of W |L| W', with absolute values for W."""
        rows = np.concatenate([np.abs(W).sum(axis=1, dtype=np.float64) for W in self.features_])
        with np.errstate(over="ignore"):
            return float(rows.max() * np.abs(self.link_).max(initial=0.0) * rows.sum())

    @property
    def _places(self) -> list[slice]:
        """The slice of each cluster's features among the features of all clusters."""
        ends = np.cumsum([cluster.rank_ for cluster in self.maps_]).tolist()
        return [slice(end - cluster.rank_, end) for end, cluster in zip(ends, self.maps_, strict=True)]

    def _fit_clusters(self, kernel: Kernel, X: Rows, rng: np.random.RandomState) -> None:
        self.maps_, self.features_ = [], []
        for part in self.partition_.slices:
            rows = X[self.partition_.order[part]]
            cluster = Nystroem(
                kernel,
                n_components=min(self.oversampling * self.rank, rows.shape[0]),
                landmarks=self.landmarks,
                rank=self.rank,
                random_state=int(rng.randint(2**31 - 1)),
            )
            self.features_.append(cluster.fit_transform(rows))
            self.maps_.append(cluster)

    def _fit_links(self, kernel: Kernel, X: Rows, rng: np.random.RandomState) -> None:
        links = np.eye(
            sum(cluster.rank_ for cluster in self.maps_), order="F"
        )  # LAPACK then overwrites this array instead of a copy
        sampled = [self._sample(s, rng) for s in range(len(self.maps_))]
        inverses = [_inverse(W[rows]) for W, rows in zip(self.features_, sampled, strict=True)]
        parts = self.partition_.slices
        points = [X[self.partition_.order[part][rows]] for part, rows in zip(parts, sampled, strict=True)]
        for s, here in enumerate(self._places):
            columns = kernel.evaluator(points[s], np.float64)
            for t in range(s):
                link = inverses[t] @ columns(points[t]) @ inverses[s].T
                links[self._places[t], here] = link
                links[here, self._places[t]] = link.T
        self._keep_links(links)

    def _keep_links(self, links: Array) -> None:
        if self.psd is None:
            self.link_, self._root, self.shift_ = links, np.zeros((len(links), 0)), float("nan")
        else:
            self._root, self.shift_ = _positive_root(links, self.psd)
            self.link_ = np.matmul(self._root, self._root.T, out=links.T)  # in the memory of ``links``; symmetric

    def _sample(self, s: int, rng: np.random.RandomState) -> Array:
        size = len(self.features_[s])
        return np.sort(rng.permutation(size)[: max(_LINK_ROWS * self.maps_[s].rank_, _LEAST_LINK_ROWS)])

    def _project(self, V: Array) -> Array:
        """Return W^T V."""
        parts = self.partition_.slices
        order = self.partition_.order
        return np.concatenate([W.T @ V[order[part]] for W, part in zip(self.features_, parts, strict=True)])

    def _expand(self, U: Array) -> Array:
        """Return W U."""
        out = np.empty((self._n_rows, U.shape[1]), dtype=np.result_type(self._dtype, U.dtype))
        for W, part, place in zip(self.features_, self.partition_.slices, self._places, strict=True):
            out[self.partition_.order[part]] = W @ U[place]
        return out

    def _matmat(self, V: Array) -> Array:
        return self._expand(self.link_ @ self._project(V))

    def rows(self, i: RowNumbers) -> Array:
        """Return rows of W L W^T."""
        numbers = row_numbers(i, self._n_rows)
        asked = np.atleast_1d(numbers)
        return self._expand(self.link_ @ self._embedded(asked).T).T[0 if np.ndim(numbers) == 0 else slice(None)]

    def _embedded(self, asked: Array) -> Array:
        """Return the given rows of W, zeros included."""
        place = np.empty(self._n_rows, dtype=np.int64)
        place[self.partition_.order] = np.arange(self._n_rows)
        out = np.zeros((len(asked), len(self.link_)))
        for W, part, columns in zip(self.features_, self.partition_.slices, self._places, strict=True):
            here = np.flatnonzero((place[asked] >= part.start) & (place[asked] < part.stop))
            out[here, columns] = W[place[asked[here]] - part.start]
        return out

    def diagonal(self) -> Array:
        """Return the diagonal of W L W^T."""
        out = np.empty(self._n_rows)
        for W, part, place in zip(self.features_, self.partition_.slices, self._places, strict=True):
            out[self.partition_.order[part]] = np.einsum("ij,ij->i", W @ self.link_[place, place], W)
        return out

    @property
    def memory_bytes(self) -> int:
        """Bytes of features, links, partition and the maps of the clusters."""
        arrays = [*self.features_, self.link_, self._root]
        maps = sum(cluster.memory_bytes for cluster in self.maps_)
        return sum(int(array.nbytes) for array in arrays) + maps + self.partition_.memory_bytes

    def solve(self, B: ArrayLike, *, alpha: float) -> Array:
        r"""Return :math:`(\tilde K + \alpha I)^{-1} B` by Woodbury's identity, with L = R R^T and Z = W R.

        O(n k^2 + (c k)^3) once, O(n k + (c k)^2) per column.
        """
        alpha = check_ridge("MEKA", alpha)
        self._check_positive("solve")
        columns, vector = as_columns("MEKA", B, self._n_rows)
        inner = np.zeros_like(self.link_)
        for W, place in zip(self.features_, self._places, strict=True):
            inner[place, place] = W.T @ W
        inner = self._root.T @ inner @ self._root
        inner[np.diag_indices_from(inner)] += alpha
        right = self._root.T @ self._project(columns)
        solution = (columns - self._expand(self._root @ cho_solve(cho_factor(inner), right))) / alpha
        return np.asarray(solution[:, 0] if vector else solution)

    def _check_positive(self, what: str) -> None:
        if np.isnan(self.shift_):
            raise ValueError(
                f"MEKA: {what} needs a positive semi-definite link matrix. Fit with psd='clip' or 'shift'."
            )

    @override
    def writer(self, X: Rows) -> Writer:
        self._check_positive("transform")
        self.kernel_.check_domain("X", X)
        roots = [self._root[place].astype(X.dtype) for place in self._places]

        def write(rows: slice, out: Array) -> None:
            block = X[rows]
            labels = nearest(block, self.partition_.centres)
            for s in np.unique(labels):
                here = np.flatnonzero(labels == s)
                some = block[here]
                features = np.empty((len(here), self.maps_[s].rank_), dtype=X.dtype)
                writers[s](some, features)
                out[here] = features @ roots[s]

        writers = [cluster.tile_writer(X.dtype) for cluster in self.maps_]
        return write

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array:
        return np.zeros((X.shape[0], Y.shape[0]))

    @override
    def bias(self, X: Array, Y: Array) -> Array:
        left, right = (np.empty((rows.shape[0], self.n_features_out_)) for rows in (X, Y))
        self.write_features(X, left)
        self.write_features(Y, right)
        return np.asarray(left @ right.T - self.kernel_(X, Y))

    @property
    @override
    def is_random(self) -> bool:
        return False  # no randomness after fit: clusters, landmarks and links are learned

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        return self

    @override
    def set_width(self, n_components: int) -> None:
        self.rank = max(1, n_components // self.n_clusters)


def _inverse(W: Array) -> Array:
    """Return the pseudo-inverse of sampled features; directions that the sample does not determine are left out."""
    return np.asarray(pinv(W.astype(np.float64), rtol=np.sqrt(np.finfo(W.dtype).eps)))


def _positive_root(links: Array, psd: str) -> tuple[Array, float]:
    """Return R with R R^T the link matrix made positive semi-definite, and the shift needed; overwrites ``links``."""
    with one_blas_thread():
        values, root = eigh(links, overwrite_a=True, check_finite=False)
    shift = max(0.0, -float(values[0]))
    values = values + shift if psd == "shift" else np.maximum(values, 0.0)
    first = int(np.argmax(values > np.finfo(np.float64).eps * values[-1]))  # sorted, so a view is enough
    root = root[:, first:]
    root *= np.sqrt(values[first:])
    return root, shift
