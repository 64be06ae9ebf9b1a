"""The Nystroem map: features from the kernel's columns at chosen landmarks."""

from collections.abc import Callable, Iterator
from typing import Self
from warnings import warn

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer import core
from mercer._typing import Array, Rows, RowsLike, Seed, is_sparse, override
from mercer.config import DEFAULT_BLOCK_ROWS, get_config
from mercer.data import Blocks
from mercer.features.base import FeatureMap, Writer
from mercer.features.nystroem.candidates import Landmarks, Source, rows_of
from mercer.features.nystroem.factor import Factor
from mercer.features.nystroem.gram import gram_matrix, jackknife_variance, precision
from mercer.features.nystroem.inputs import KernelLike, bytes_of, is_function, is_precomputed, listed_objects
from mercer.features.nystroem.landmark_features import TileWriter, landmark_features
from mercer.features.nystroem.landmarks import Chooser, choose
from mercer.kernels import FunctionKernel, Gaussian, Kernel, PrecomputedKernel
from mercer.kernels.custom import Objects
from mercer.kernels.parameter import as_kernel
from mercer.kernels.stationary import StationaryKernel
from mercer.parallel import row_blocks, shared_rows
from mercer.state import Count, Either, Integers, Member, OneOf, Real, Reals, Sizes, Stored, require
from mercer.state import Rows as StoredRows
from mercer.structures import Ragged, as_rows
from mercer.structures.domains import Domain
from mercer.validation import check_integer, check_memory

_TILE_ENTRIES = 2**22
# Rows to choose each landmark from, where there are so many.
_ROWS_PER_LANDMARK = 4
# How many copies of all kernel values of rows with landmarks a choice of landmarks holds.
_COLUMNS_HELD = {"leverage": 3, "greedy": 1}


class Nystroem(FeatureMap):
    r"""Nystroem features: exact on the span of the landmarks.

    With landmarks I, C = k(X, I) and W = k(I, I) = V S V^T,

    .. math:: z(x) = k(x, I) V S^{-1/2} Q, \qquad \langle z(x), z(y) \rangle = k(x, I) W^+ k(I, y),

    which is the best approximation of the kernel by functions k(., i), and never more than the kernel: K - Z Z^T is
    positive semi-definite. Q is a rotation, which changes no inner product. It makes the projection upper triangular,
    which halves the cost of a transform. If no eigenvalue was dropped, the first j features are the map of the first j
    landmarks. Eigenvalues of W below eps(X.dtype) times the largest are dropped, so that float32 features are as good
    as float64 ones up to float32 rounding.

    Parameters
    ----------
    kernel : Kernel, callable, "precomputed" or None
        A callable f(A, B) returns the matrix of k(a, b) for two sets of rows, or two lists of any objects when X is a
        list. With "precomputed", ``fit`` takes the Gram matrix and ``transform`` rows k(x, X_train). None:
        ``Gaussian(gamma="scale")``.
    n_components : int, default=100
        Number of landmarks. If there are fewer rows, all of them become landmarks, with a warning.
    landmarks : str, callable, row numbers or points, default="auto"
        "uniform", "leverage", "kmeans", "rpcholesky", "greedy", "weighted" (compared in
        ``mercer.features.nystroem.landmarks``); "auto" is k-means up to 256 landmarks and 4096 columns, and
        rpcholesky beyond and for objects. Row numbers of X, or the points themselves. One seed means the same landmarks
        for rows of equal values, dense or CSR, float32 or float64.
    rank : int, optional
        Reduce to this many features.
    reduction : {"pca", "landmarks"}, default="pca"
        "pca" keeps the leading principal directions of the features of X, the best rank-k approximation of Z Z^T.
        "landmarks" keeps the leading eigenvectors of W (the W_k of Drineas and Mahoney): worse, for comparison.
    random_state : int, RandomState or None

    Attributes
    ----------
    landmarks_ : array, CSR matrix or array of objects
    landmark_indices_ : ndarray or None
        Their row numbers; None where they are not rows of X.
    rank_ : int
        Number of features: eigenvalues of W kept, or ``rank``.
    eigenvalues_ : ndarray
        The eigenvalues of W kept, largest first.
    projection_ : ndarray of shape (n_landmarks, rank_), float64
        V S^(-1/2), scaled and reduced as asked; without a reduction rotated to be upper trapezoidal: column j is zero
        below row n_landmarks - rank_ + j.
    residual_trace_, residual_trace_error_ : float or None
        trace(K - Z Z^T) on the rows of ``fit`` before a reduction, and its standard error; None if the chooser does not
        compute them.
    kernel_ : Kernel

    Notes
    -----
    Time per row: O(m d + m r - r^2 / 2) to transform, O(m d + m r) after a reduction. ``fit`` takes O(m^3) in addition
    to the choice of landmarks, and O(n r^2) more for ``reduction="pca"``.
    Landmarks are copies of rows. Objects of a list, and a precomputed matrix (``kernel_.K``), are kept and not copied.
    ``fit`` takes ``Blocks`` or an iterator of blocks too, and is then fitted on a reservoir sample of their rows.

    ``variance`` is Tukey's jackknife over the landmarks, from leaving out each in turn: an estimate of the variance
    over uniform draws of the landmarks, too large rather than too small (Efron and Stein, 1981). It does not count the
    bias. A composition that has to re-draw its members keeps the landmarks, and counts the error that they leave.

    References
    ----------
    C. Williams and M. Seeger, "Using the Nystroem method to speed up kernel machines", NIPS 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, Nystroem
    >>> X = np.random.RandomState(0).randn(200, 3)
    >>> nystroem = Nystroem(Gaussian(gamma=0.1), n_components=80, random_state=0)
    >>> Z = nystroem.fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - nystroem.kernel_(X)).max() < 0.01)
    True
    """

    # m landmarks, of which r0 directions are kept, reduced to r.
    _stored = Stored(
        of_objects=OneOf((False,), attribute="_of_objects"),
        landmarks_=Either(
            (StoredRows(("m", "d")), Integers(("m",), least=0, below="d"), Member(Ragged, {"n_objects": "m"}))
        ),
        landmark_indices_=Integers(("m",), least=0, nullable=True),
        residual_trace_=Real(nullable=True),
        residual_trace_error_=Real(nullable=True),
        eigenvalues_=Reals(("r0",)),
        inverse_root=Reals(("m", "r0"), attribute="_inverse_root"),
        projection_=Reals(("m", "D")),
        rank_=Count("D"),
    )

    _natural_kernel = Gaussian(gamma="scale")

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        n_components: int = 100,
        landmarks: str | Chooser | RowsLike = "auto",
        rank: int | None = None,
        reduction: str = "pca",
        random_state: Seed = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state
        self.landmarks = landmarks
        self.rank = rank
        self.reduction = reduction

    @property
    @override
    def domain(self) -> Domain:
        if hasattr(self, "kernel_") or not isinstance(self.kernel, Kernel):
            return super().domain
        return self.kernel.domain

    def fit(self, X: Source, y: object = None) -> Self:
        """Choose the landmarks among the rows of X and factor their Gram matrix.

        Parameters
        ----------
        X : array, CSR matrix, data frame, objects of the kernel's domain, list of objects (callable kernel), Gram
            matrix ("precomputed"), ``Blocks`` or an iterator of blocks
        y : ignored

        Returns
        -------
        self
        """
        if isinstance(X, Blocks | Iterator):
            m = check_integer("Nystroem", "n_components", self.n_components)
            X, _ = rows_of("Nystroem", X, m, check_random_state(self.random_state))
        return super().fit(X, y)

    def transform(self, X: Objects) -> Array:
        """Return the features of the rows of X, in X's own precision (float32 stays).

        Parameters
        ----------
        X : as in ``fit``; for a precomputed kernel, the values k(x, X_train), one row per x
        """
        check_is_fitted(self)
        if not self._of_objects:
            return super().transform(X)
        objects = listed_objects(X)
        out = np.empty((len(objects), self.rank_))
        for rows in row_blocks(len(objects)):
            self.writer(objects)(rows, out[rows])
        return out

    @override
    def times(self, X: Rows, weights: Array) -> Array:
        return self.transform(X) @ weights if self._of_objects else super().times(X, weights)

    def variance(self, X: Objects, Y: Objects | None = None) -> Array:
        """Return the jackknife estimate of the variance of <z(x), z(y)> over draws of the landmarks."""
        check_is_fitted(self)
        if not self._of_objects:
            return super().variance(X, Y)
        X = listed_objects(X)
        return self.exact_variance(X, X if Y is None else listed_objects(Y))

    @override
    def check_fit(self, X: Objects) -> Rows:
        if is_function(self.kernel) and isinstance(X, list | tuple):
            return listed_objects(X)
        X = super().check_fit(X)
        return gram_matrix(X) if is_precomputed(self.kernel) else X

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._of_objects = X.ndim == 1
        kernel = self._resolved(X)
        n_components = check_integer("Nystroem", "n_components", self.n_components)
        rows = np.arange(X.shape[0]) if is_precomputed(self.kernel) else X
        self.n_features_out_ = self._draw(kernel, rows, n_components, rng)
        self.kernel_ = kernel

    def _resolved(self, X: Rows) -> Kernel:
        if is_precomputed(self.kernel):
            return PrecomputedKernel(X)
        if is_function(self.kernel):
            return FunctionKernel(self.kernel)
        kernel = as_kernel("Nystroem", self.kernel, self._natural_kernel).resolve(X)
        kernel.check_domain("X", X)
        return kernel

    def _check_params(self) -> None:
        if not (is_precomputed(self.kernel) or is_function(self.kernel)):
            as_kernel("Nystroem", self.kernel, self._natural_kernel)
        check_integer("Nystroem", "n_components", self.n_components)
        self._check_reduction()

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(sizes["D"] <= sizes["r0"] <= sizes["m"], "there must be no more features than landmarks")
        kernel, precomputed = self.kernel_, isinstance(self.kernel_, PrecomputedKernel)
        require(precomputed == (self.landmarks_.ndim == 1), "landmarks_ must be rows, numbers for a precomputed kernel")
        of_kind = isinstance(self.landmarks_, Ragged) == (kernel.domain != "rows")
        require(of_kind, "landmarks_ must be of the domain of kernel_")
        if isinstance(self.landmarks_, Ragged):
            as_rows("Nystroem", kernel.domain, self.landmarks_, "landmarks_")
        if isinstance(kernel, PrecomputedKernel):
            indices = self.landmark_indices_
            inside = indices is not None and indices.max() < sizes["d"]
            require(inside and len(kernel.K) == sizes["d"], "landmark_indices_ must be rows of the Gram matrix")

    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        self._check_reduction()
        chosen = self._choose(kernel, X, n_components, rng)
        self.landmarks_, self.landmark_indices_ = chosen.points, chosen.indices
        self.residual_trace_, self.residual_trace_error_ = chosen.residual_trace, chosen.residual_trace_error
        factor = Factor.of(kernel, chosen, precision(kernel, X), rotated=self.rank is None)
        self.eigenvalues_, self._inverse_root = factor.eigenvalues, factor.inverse_root
        self.projection_ = factor.reduced(kernel, X, self.landmarks_, self.rank, by_pca=self.reduction == "pca")
        self.rank_ = int(self.projection_.shape[1])
        return self.rank_

    def _check_reduction(self) -> None:
        if self.rank is not None:
            check_integer("Nystroem", "rank", self.rank)
        if self.reduction not in ("pca", "landmarks"):
            raise ValueError(f"Nystroem: reduction must be 'pca' or 'landmarks', got {self.reduction!r}.")

    def _choose(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> Landmarks:
        n_rows = X.shape[0]
        drawn = isinstance(self.landmarks, str) or callable(self.landmarks)
        if drawn and n_components > n_rows:
            warn(
                f"Nystroem: n_components={n_components} is more than the {n_rows} rows of X; all rows become "
                f"landmarks. Lower n_components to {n_rows}, or fit on more rows.",
                stacklevel=6,
            )
            n_components = n_rows
        what = f"the Gram matrix of {n_components} landmarks and its eigenvectors"
        per_row = _COLUMNS_HELD.get(self.landmarks, 0) if isinstance(self.landmarks, str) else 0
        n_bytes = 8 * n_components * (6 * n_components + per_row * n_rows)
        check_memory("Nystroem", "n_components", n_components, n_bytes, what)
        return choose(self.landmarks, kernel, X, n_components, rng)

    @property
    @override
    def rows_to_fit(self) -> int:
        m = self.n_components
        return _ROWS_PER_LANDMARK * int(m) if isinstance(m, int | np.integer) else 0

    @override
    def writer(self, X: Rows) -> Writer:
        if X.ndim == 2 and not isinstance(self.kernel_, PrecomputedKernel):
            self.kernel_.check_domain("X", X)
        features = self.tile_writer(X.dtype if X.dtype != object else np.dtype(np.float64))
        return lambda rows, out: features(X[rows], out)

    def tile_writer(self, dtype: np.dtype[np.floating]) -> TileWriter:
        """Return the function that writes the features of given rows."""
        m, r = self.projection_.shape
        first = m - r + 1 if self.projection_ is self._inverse_root else m
        if isinstance(self.kernel_, PrecomputedKernel):
            columns, weights = self._columns(dtype), self.projection_.astype(dtype)
            return lambda X, out: core.trapezoidal_product(columns(X), weights, first, out)
        return landmark_features(self.kernel_, self.landmarks_, self.projection_, first, dtype)

    @override
    def block_rows(self, n_rows: int) -> int:
        config = get_config()
        if config.block_rows != DEFAULT_BLOCK_ROWS:
            return config.block_rows  # the user's wish
        # Packing the projection costs 1 % in blocks of 4096 rows, and more in shorter ones. Eight threads get as
        # many blocks as each other, each of at most 4096 rows and 16 MiB of kernel values.
        tallest = max(config.block_rows, min(4096, _TILE_ENTRIES // len(self.projection_)))
        return shared_rows(n_rows, config.block_rows, tallest)

    def _columns(self, dtype: DTypeLike) -> Callable[[Rows], Array]:
        """Return the function X -> k(X, landmarks); for a precomputed kernel X holds the kernel values."""
        if isinstance(self.kernel_, PrecomputedKernel):
            indices = self.landmark_indices_
            return lambda X: np.ascontiguousarray(X[:, indices], dtype=dtype)
        return self.kernel_.evaluator(self.landmarks_, dtype)

    def exact_variance(self, X: Rows, Y: Rows) -> Array:
        """Return the jackknife (Epperly and Tropp, 2022) without fitting anything again."""
        columns = self._columns(np.float64)
        return jackknife_variance(self._inverse_root, columns(X), columns(Y))

    @property
    def memory_bytes(self) -> int:
        """Bytes of the landmarks and of the projection."""
        arrays = [self.landmarks_, self.projection_]
        if self._inverse_root is not self.projection_:  # the same array if nothing was reduced
            arrays.append(self._inverse_root)
        return sum(bytes_of(array) for array in arrays)

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        return self  # the landmarks are learned, from rows that are not kept

    @override
    def most_features(self, n_features: int) -> float:
        return np.inf if self.rank is None else self.rank

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        if not isinstance(self.kernel_, StationaryKernel):
            return np.inf
        # Kernel values are at most 1, but squared distances on the way to them are not.
        width = float(self.kernel_.bandwidth)
        entries = self.landmarks_.data if is_sparse(self.landmarks_) else self.landmarks_
        reach = (norm + float(np.linalg.norm(entries))) * max(width, 1 / width)
        # By Cauchy and Schwarz. The largest sum of a column is closer, and takes five times as long for each block.
        return max(float(len(self.projection_) ** 0.5 * np.linalg.norm(self.projection_)), reach**4)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags
