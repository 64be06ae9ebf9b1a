"""The map of the linear kernel: the columns of X, or a count sketch of the columns if there are too many."""

import numpy as np

from mercer import core
from mercer._typing import Array, Rows, is_sparse, override
from mercer.features.base import Writer
from mercer.features.kernel_map import KernelMap
from mercer.features.sketches.hashes import draw_hashes, stored_hashes
from mercer.features.sketches.variances import PairMoments, power_sketch_variance
from mercer.kernels import Kernel, Linear
from mercer.state import Sizes, require


class LinearFeatures(KernelMap):
    """The map of ``Linear()``: exact with n_features features, a count sketch if ``n_components`` is smaller.

    ``n_components`` is an upper limit: d columns need at most d features, so the map never makes more.

    Parameters
    ----------
    kernel : Linear, default=Linear()
    n_components : int, default=100
        Largest number of features.
    random_state : int, RandomState or None

    Attributes
    ----------
    index_, sign_ : ndarray of shape (n_features,)
        The hashes of the count sketch; empty when the map is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearFeatures
    >>> LinearFeatures(n_components=10).fit_transform(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    _stored = stored_hashes("c", below="D")

    _natural_kernel = Linear()

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        if not isinstance(kernel, Linear):
            raise ValueError(f"LinearFeatures: kernel must be Linear(), got {kernel!r}. Use feature_map(kernel).")

    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        n_features = X.shape[1]
        self.index_, self.sign_ = draw_hashes(rng, n_components, (n_features if n_features > n_components else 0,))
        return int(min(n_features, n_components))

    @override
    def most_features(self, n_features: int) -> float:
        return n_features

    @property
    def _exact(self) -> bool:
        return len(self.index_) == 0

    @property
    @override
    def is_random(self) -> bool:
        return not self._exact

    @override
    def writer(self, X: Rows) -> Writer:
        def copy(rows: slice, out: Array) -> None:
            out[...] = X[rows].toarray() if is_sparse(X) else X[rows]

        def sketch(rows: slice, out: Array) -> None:
            core.count_sketch(X, rows, self.index_, self.sign_, out)

        return copy if self._exact else sketch

    @override
    def scratch_bytes(self, X: Rows) -> float:
        return float(X.shape[1] * X.dtype.itemsize) if self._exact and is_sparse(X) else 0.0

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array:
        if self._exact:
            return np.zeros((X.shape[0], Y.shape[0]))
        return power_sketch_variance(PairMoments.of(X, Y), 1, self.n_features_out_)

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        return float(X.shape[1] ** 0.5 * norm)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        width = sizes["d"] if self._exact else sizes["D"]
        require(
            sizes["D"] == width and sizes["c"] in (0, sizes["d"]), "index_ must be empty or have a bucket per column"
        )
