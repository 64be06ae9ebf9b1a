"""Explicit features of kernels that count common parts."""

from copy import copy
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils.validation import check_is_fitted

from mercer import key_core
from mercer._typing import Array, Rows, RowsLike, Seed, is_sparse, override
from mercer.features.base import Writer
from mercer.features.kernel_map import KernelMap
from mercer.features.sketches.variances import PairMoments, power_sketch_variance
from mercer.features.structured.draws import draw_coefficients, draw_seed
from mercer.features.structured.joined_rows import JoinedRows, SparseBlock
from mercer.kernels import Kernel, Spectrum
from mercer.kernels.structured.parts import (
    PartDraw,
    counted_parts,
    draw_groups,
    is_keyed,
    key_matrix,
    parts_per_item,
    samples_parts,
)
from mercer.key_core import Counted
from mercer.parallel import for_each_block
from mercer.state import Count, Flag, Integers, Sizes, Stored, require
from mercer.structures import check_objects
from mercer.validation import check_integer, check_memory

# Features from which on "auto" output is sparse.
_SPARSE_FROM = 2**14
# Entries of a sparse row, taken for granted where sizes of blocks are chosen.
_STORED = 2**11
# Parts of the objects of a block: the arrays of a block are then large enough that their memory is used again.
_BLOCK_PARTS = 2**20
# Re-draws that estimate the bias of objects which share their draws.
_REDRAWS = 50


class PartFeatures(KernelMap):
    r"""The map of a kernel that counts common parts: a column for each key, or a count sketch of the keys.

    Parameters
    ----------
    kernel : part kernel, default=Spectrum(3)
        ``Spectrum``, ``GappedKmers``, ``WeightedDegree``, ``WeisfeilerLehman``, ``ShortestPath``, ``Subtree``,
        ``SubsetTree``, and sums, multiples and ``Normalized`` ones of them.
    n_components : int or None, default=2**18
        Number of hashed columns. None: a column for each key that ``fit`` sees. The map is then exact on these keys; a
        key never seen has no column.
    random_state : int, RandomState or None
    n_masks : int or None, default=50
        Masks of ``GappedKmers`` that are drawn without replacement; None takes all. Other kernels do not use it.
    sparse_output : bool or "auto", default="auto"
        Whether ``transform`` returns CSR arrays, whose columns are unsorted, or dense arrays. "auto": CSR from 2^14
        features on, and with a column for each key.

    Attributes
    ----------
    kernel_ : Kernel
    is_sparse_ : bool
    n_masks_ : int or None
        The masks that are drawn.
    seed_ : int
        Seed of hashed keys and of the masks.
    coefficients_ : ndarray of shape (4,), uint64
        The polynomial of degree 3 mod 2^61 - 1 that gives the bucket and the sign of a key.
    keys_ : ndarray of uint64
        The keys with a column, ascending; empty where columns are hashed.

    Notes
    -----
    Hashed features are unbiased. With t = k(x, y), N = k(x, x) k(y, y) and s the sum over the keys of the squared
    products of their values, the variance is :math:`(N + t^2 - 2 s) / D`, exactly: bucket and sign of a key are 4-wise
    independent. Masks that are drawn add their own variance. A hashed map needs nothing of ``fit`` but its seeds: any
    part of the rows has the same features, and new keys have columns at once.

    Time is that of finding the parts: a few nanoseconds for each.

    Examples
    --------
    >>> from mercer.features import PartFeatures
    >>> from mercer.kernels import Spectrum
    >>> Z = PartFeatures(Spectrum(2), n_components=None).fit_transform(["abab", "abc"])
    >>> (Z @ Z.T).toarray()
    array([[5., 2.],
           [2., 2.]], dtype=float32)
    """

    # K keys with columns of their own.
    _stored = Stored(
        is_sparse_=Flag(),
        n_masks_=Count(least=1, nullable=True),
        seed_=Count(most=2**61),
        coefficients_=Integers((4,), (np.uint64,), least=0),
        keys_=Integers(("K",), (np.uint64,), least=0),
    )

    _natural_kernel = Spectrum(3)

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int | None = 2**18,
        random_state: Seed = None,
        n_masks: int | None = 50,
        sparse_output: bool | str = "auto",
    ):
        super().__init__(kernel, n_components=100, random_state=random_state)
        self.n_components = n_components  # type: ignore[assignment]
        self.n_masks = n_masks
        self.sparse_output = sparse_output

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        if not is_keyed(kernel):
            raise ValueError(
                f"PartFeatures: kernel must count common parts, such as Spectrum(3), or be a sum, a multiple or a "
                f"Normalized one of such kernels, got {kernel!r}. Use feature_map(kernel)."
            )

    @override
    def _check_params(self) -> None:
        super()._check_params()
        if self.n_masks is not None:
            check_integer("PartFeatures", "n_masks", self.n_masks)
        if not isinstance(self.sparse_output, bool | np.bool_) and self.sparse_output != "auto":
            raise ValueError(f"PartFeatures: sparse_output must be True, False or 'auto', got {self.sparse_output!r}.")

    @override
    def _checked_width(self) -> int:
        return 0 if self.n_components is None else super()._checked_width()

    @override
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        self._check_params()
        super().fit_checked(X, rng)

    @override
    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        self._draw_hashes(rng)
        self.n_masks_ = self.n_masks
        self.keys_ = np.empty(0, dtype=np.uint64)
        if not n_components:
            found: list[Array] = [self._counted(kernel, X[rows]).keys for rows in self._blocks(kernel, X)]
            self.keys_ = np.unique(np.concatenate(found))
            if not len(self.keys_):
                raise ValueError(
                    "PartFeatures: the objects of fit have no parts at all, so that n_components=None gives no column. "
                    "Give an integer, or larger objects."
                )
        width = n_components or len(self.keys_)
        wanted = width >= _SPARSE_FROM or not n_components
        self.is_sparse_ = wanted if isinstance(self.sparse_output, str) else bool(self.sparse_output)
        return width

    def _draw_hashes(self, rng: np.random.RandomState) -> None:
        self.seed_, self.coefficients_ = draw_seed(rng), draw_coefficients(rng)

    @override
    def redrawn(self, rng: np.random.RandomState) -> Self:
        other = copy(self)
        if not len(self.keys_):  # the keys with columns belong to the seed
            other._draw_hashes(rng)
        return other

    @override
    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(bool(np.all(self.keys_[1:] > self.keys_[:-1])), "keys_ must ascend")
        require(not sizes["K"] or sizes["K"] == sizes["D"], "n_features_out must be the number of keys_")
        require(bool((self.coefficients_ < 2**61 - 1).all()), "coefficients_ must be below 2^61 - 1")

    @property
    @override
    def is_random(self) -> bool:
        sampled = self.n_masks_ is not None and samples_parts(self.kernel_)
        return sampled or not len(self.keys_)

    def _blocks(self, kernel: Kernel, X: Any) -> list[slice]:
        """Cut objects into ranges of about as many parts each: objects differ in size."""
        check_memory("PartFeatures", "the number of objects", len(X), 8 * len(X), "their pointers")
        pointers = X.pointers()
        step = max(1, _BLOCK_PARTS // parts_per_item(kernel, PartDraw(self.seed_, self.n_masks_)))
        ends = np.searchsorted(pointers, np.arange(step, int(pointers[-1]) + step, step))
        cuts = np.unique(np.concatenate([[0], np.minimum(ends, len(X)), [len(X)]]))
        return [slice(a, b) for a, b in pairwise(cuts.tolist())]

    def _counted(self, kernel: Kernel, X: Rows) -> Counted:
        return counted_parts(kernel, X, PartDraw(self.seed_, self.n_masks_))

    def transform(self, X: RowsLike) -> Rows:
        """Return the features of objects: CSR arrays where ``is_sparse_``, whose columns are unsorted.

        Parameters
        ----------
        X : objects of the kernel's domain, packed or as a list

        Returns
        -------
        Z : CSR array or ndarray of shape (n_objects, n_features_out)
        """
        check_is_fitted(self)
        if not self.is_sparse_:
            return super().transform(X)
        X = check_objects(self, self.domain, X, reset=False)
        blocks = self._blocks(self.kernel_, X)
        ends = X.pointers()
        sizes = [int(ends[rows.stop] - ends[rows.start]) for rows in blocks]
        joined = JoinedRows(sizes, (len(X), self.n_features_out_), X.dtype)

        def work(number: int) -> None:
            joined.put(number, self._columns(self._counted(self.kernel_, X[blocks[number]]), X.dtype))

        for_each_block(work, range(len(blocks)))
        return joined.result()

    def _columns(self, counted: Counted, dtype: DTypeLike) -> SparseBlock:
        if not len(self.keys_):
            return SparseBlock(*key_core.hash_columns(counted, self.coefficients_, self.n_features_out_, dtype))
        rows = key_matrix(counted, self.keys_)
        return SparseBlock(rows.data, rows.indices, rows.indptr)

    @override
    def writer(self, X: Rows) -> Writer:
        def write(rows: slice, out: Array) -> None:
            counted = self._counted(self.kernel_, X[rows])
            if len(self.keys_):
                out[...] = key_matrix(counted, self.keys_).toarray()
            else:
                key_core.sketch_keys(counted, self.coefficients_, out)

        return write

    @override
    def write_features(self, X: Rows, out: Array) -> None:
        if self.is_sparse_:
            Z = self.transform(X)
            out[...] = Z.toarray() if is_sparse(Z) else Z
        else:
            super().write_features(X, out)

    @override
    def times(self, X: Rows, weights: Array) -> Array:
        return np.asarray(self.transform(X) @ weights) if self.is_sparse_ else super().times(X, weights)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        if self.n_masks_ is not None and samples_parts(self.kernel_):
            return None
        if len(self.keys_):
            return np.zeros((X.shape[0], Y.shape[0]))
        counted = [self._counted(self.kernel_, rows) for rows in (X, Y)]
        vocabulary = np.unique(np.concatenate([part.keys for part in counted]))
        pairs = PairMoments.of(*(key_matrix(part, vocabulary) for part in counted))
        return power_sketch_variance(pairs, 1, self.n_features_out_)

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        """Return the mean of <z(x), z(y)> over the draws less k(x, y).

        It is 0 for hashed columns, unless the kernel draws parts of each object, as ``Graphlets`` does: objects that
        share their draws, such as an object with itself, then have an estimate from 50 re-draws, each of which takes
        the time of the exact kernel. With a column for each key nothing is drawn again: the bias is what the keys
        without a column take away.
        """
        if not len(self.keys_):
            return self._bias_of_shared_draws(X, Y)
        counted = [self._counted(self.kernel_, rows) for rows in (X, Y)]
        left, right = (key_matrix(part, self.keys_) for part in counted)
        return np.asarray((left @ right.T).toarray() - self.kernel_.evaluate(X, Y))

    def _bias_of_shared_draws(self, X: Any, Y: Any) -> Array | float:
        groups = None if self.n_masks_ is None else [draw_groups(self.kernel_, rows) for rows in (X, Y)]
        if groups is None or groups[0] is None or groups[1] is None:
            return 0.0
        shared = groups[0][:, None] == groups[1]
        left, right = np.flatnonzero(shared.any(axis=1)), np.flatnonzero(shared.any(axis=0))
        out = np.zeros(shared.shape)
        if not len(left):
            return out
        rng, total = np.random.RandomState(self.seed_ % 2**32), np.zeros((len(left), len(right)))
        for _ in range(_REDRAWS):
            draw = PartDraw(draw_seed(rng), self.n_masks_)
            one, other = (self._draw_errors(rows, draw) for rows in (X[left], Y[right]))
            columns = np.unique(one.keys)
            total += (key_matrix(one, columns) @ key_matrix(other, columns).T).toarray()
        out[np.ix_(left, right)] = np.where(shared[np.ix_(left, right)], total / _REDRAWS, 0.0)
        return out

    def _draw_errors(self, X: Rows, draw: PartDraw) -> Counted:
        """Return the values of drawn parts less those of all parts, whose products have the bias as their mean."""
        drawn, every = (counted_parts(self.kernel_, X, one) for one in (draw, draw._replace(n_masks=None)))
        vocabulary = np.unique(every.keys)  # drawn parts are among all parts
        rows = key_matrix(drawn, vocabulary) - key_matrix(every, vocabulary)
        return Counted(rows.indptr.astype(np.int64), vocabulary[rows.indices], rows.data, np.empty(0))

    @property
    @override
    def features_per_row(self) -> int:
        return min(self.n_features_out_, _STORED) if self.is_sparse_ else self.n_features_out_

    @override
    def least_features(self, n_features: int) -> int:
        return 1 if self.n_components is None else int(self.n_components)

    def collisions(self, X: RowsLike) -> int:
        """Return how many of the distinct keys of objects share their hashed column with another one."""
        check_is_fitted(self)
        X = check_objects(self, self.domain, X, reset=False)
        blocks = self._blocks(self.kernel_, X)
        keys = np.unique(np.concatenate([self._counted(self.kernel_, X[rows]).keys for rows in blocks]))
        if len(self.keys_):
            return 0
        whole = Counted(np.array([0, len(keys)]), keys, np.ones(len(keys)), np.ones(1))
        _, columns, _ = key_core.hash_columns(whole, self.coefficients_, self.n_features_out_, np.float64)
        return len(keys) - len(columns)
