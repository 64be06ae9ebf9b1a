"""The map of the kernel of categories: one feature a category, and one that all share."""

from copy import copy
from typing import Self

import numpy as np

from mercer._typing import Array, Rows, is_sparse, override
from mercer.features.base import Writer
from mercer.features.kernel_map import KernelMap
from mercer.features.sketches.hashes import draw_hashes, stored_hashes
from mercer.features.sketches.variances import PairMoments, power_sketch_variance
from mercer.kernels import Kernel, SameCategory
from mercer.state import Reals, Sizes, Stored, require
from mercer.validation import check_memory


class CategoryFeatures(KernelMap):
    """The map of ``SameCategory``: exact with one feature a category seen in ``fit``, and sqrt(offset) for all.

    ``n_components`` is an upper limit: fewer features are taken where the categories need fewer, and where they need
    more, a count sketch of their indicators. A category that ``fit`` did not see has the shared feature alone, so that
    its kernel with every row of ``fit`` is right.

    Parameters
    ----------
    kernel : SameCategory, default=SameCategory()
    n_components : int, default=100
        Most features to use.
    random_state : int, RandomState or None

    Attributes
    ----------
    categories_ : ndarray of shape (n_categories, n_features)
        The distinct rows, in order.
    index_, sign_ : ndarray of shape (n_categories,)
        The feature of each category, and its sign: 1 where the map is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import CategoryFeatures, SameCategory
    >>> CategoryFeatures(SameCategory(offset=4.0)).fit_transform(np.array([[7.0], [9.0]]))
    array([[2., 1., 0.],
           [2., 0., 1.]])
    """

    _stored = Stored(
        **stored_hashes("k"),
        categories_=Reals(("k", "d"), dtypes=(np.float64,)),
    )

    _natural_kernel = SameCategory()
    kernel_: SameCategory

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        if not isinstance(kernel, SameCategory):
            raise ValueError(
                f"CategoryFeatures: kernel must be SameCategory(), got {kernel!r}. Use feature_map(kernel)."
            )

    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        what, way_out = (
            f"{X.shape[0]} rows, made dense",
            "Take the columns of the category alone: Columns(kernel, [...]).",
        )
        check_memory("CategoryFeatures", "n_features", X.shape[1], 32 * X.shape[0] * X.shape[1], what, way_out=way_out)
        self.categories_ = np.unique(_dense(X), axis=0).astype(np.float64)
        offset = kernel.offset if isinstance(kernel, SameCategory) else 0.0
        return self._draw_hashes(int(offset > 0), n_components, rng)

    def _draw_hashes(self, n_shared: int, n_components: int, rng: np.random.RandomState) -> int:
        n_categories = len(self.categories_)
        if n_categories + n_shared <= n_components:
            self.index_, self.sign_ = np.arange(n_categories, dtype=np.int32), np.ones(n_categories, dtype=np.int8)
            return n_categories + n_shared
        self.index_, self.sign_ = draw_hashes(rng, max(1, n_components - n_shared), (n_categories,))
        return n_components

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        n_buckets = sizes["D"] - self._first_bucket
        require(sizes["k"] and self.index_.max() < n_buckets, f"index_ must hold integers below {n_buckets}")

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        other._draw_hashes(int(self.kernel_.offset > 0), self.n_features_out_, rng)
        return other

    @override
    def writer(self, X: Rows) -> Writer:
        levels = _levels(self.categories_)

        def write(rows: slice, out: Array) -> None:
            numbers = _numbers(levels, _dense(X[rows]))
            known = np.flatnonzero(numbers >= 0)
            out[:] = 0
            out[:, 0] = self.kernel_.offset**0.5
            out[known, self._first_bucket + self.index_[numbers[known]]] += self.sign_[numbers[known]]

        return write

    @override
    def least_features(self, n_features: int) -> int:
        return 1

    @override
    def scratch_bytes(self, X: Rows) -> float:
        return float(X.shape[1] * X.dtype.itemsize) if is_sparse(X) else 0.0

    @property
    def _first_bucket(self) -> int:
        """The first feature of the categories: after the shared one, unless that is the only one."""
        return int(self.kernel_.offset > 0 and self.n_features_out_ > 1)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        if self.kernel_.offset > 0 and self.n_features_out_ == 1:
            return None
        if not self.is_random:
            return np.zeros((X.shape[0], Y.shape[0]))
        n_buckets = self.n_features_out_ - self._first_bucket
        return power_sketch_variance(PairMoments.of(self._indicators(X), self._indicators(Y)), 1, n_buckets)

    @override
    def bias(self, X: Array, Y: Array) -> Array:
        # A category that fit did not see has no feature: two rows of it lose the 1 of the kernel.
        unseen = 1 - self._indicators(X).max(axis=1)
        return np.asarray((self.kernel_.offset - self.kernel_(X, Y)) * unseen[:, None])

    @property
    @override
    def is_random(self) -> bool:
        return len(self.categories_) + int(self.kernel_.offset > 0) > self.n_features_out_

    def _indicators(self, X: Rows) -> Array:
        numbers = _numbers(_levels(self.categories_), _dense(X))
        return np.asarray(numbers[:, None] == np.arange(len(self.categories_)), dtype=np.float64)

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        return float(1.0 + self.kernel_.offset**0.5)


def _dense(X: Rows) -> Array:
    return np.asarray(X.toarray() if is_sparse(X) else X)


def _levels(categories: Array) -> list[tuple[Array, Array]]:
    """Return for each column its values and the numbers of the pairs (number so far, value) that occur, in order.

    Sorted rows are thus numbered column by column, with numbers no larger than rows times values.
    """
    levels = []
    numbers = np.zeros(len(categories), dtype=np.int64)
    for column in categories.T:
        values, codes = np.unique(column, return_inverse=True)
        pairs, numbers = np.unique(numbers * len(values) + codes, return_inverse=True)
        levels.append((values, pairs))
    return levels


def _numbers(levels: list[tuple[Array, Array]], X: Array) -> Array:
    """Return the number of each row among the categories, -1 where it is none of them."""
    numbers = np.zeros(len(X), dtype=np.int64)
    known = np.ones(len(X), dtype=bool)
    for (values, pairs), column in zip(levels, X.T, strict=True):
        codes, found = _places(values, column)
        numbers, paired = _places(pairs, numbers * len(values) + codes)
        known &= found & paired
    return np.where(known, numbers, -1)


def _places(table: Array, sought: Array) -> tuple[Array, Array]:
    """Return where in a sorted table each entry stands, and whether it does."""
    places = np.minimum(np.searchsorted(table, sought), len(table) - 1)
    return places, table[places] == sought
