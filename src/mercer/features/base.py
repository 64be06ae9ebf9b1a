"""The protocol of feature maps: draw in ``fit``, apply in ``transform``, and know the variance."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import isfinite
from typing import ClassVar, Self
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer import core
from mercer._typing import Array, Rows, RowsLike, Seed
from mercer.array_api import FollowsArrays
from mercer.config import get_config, lasting_limit
from mercer.data.lazy import lazily
from mercer.data.sources.collections import is_collection
from mercer.features.params import NestedParams
from mercer.features.sampled import sampled_rows
from mercer.fresh_fit import adopt, unfitted
from mercer.kernels import Kernel
from mercer.parallel import for_each_block, row_blocks
from mercer.recycling import empty
from mercer.state import Count, Member, Names, Sizes, Stored, require
from mercer.stats.slabs import SlabRows
from mercer.structures import Ragged, as_rows, check_objects
from mercer.structures.domains import Domain
from mercer.validation import (
    block_norm,
    check_finite_features,
    check_finite_result,
    check_memory,
    check_same_width,
)

# Writes the features of a range of rows into an array of that many rows; safe to call from several threads.
Writer = Callable[[slice, Array], object]

LARGEST_WIDTH = 2**31 - 1  # bucket numbers are int32
_REDRAWS = 200
# Features that are used at once and not kept: bytes that stay in cache, and the fewest rows that are worth a call.
_CACHED_BYTES, _LEAST_ROWS = 2**20, 16
# Working memory per thread for the features of a block: bytes, and the share of a limit that is set for the process.
_SCRATCH_BYTES, _SCRATCH_SHARE = 2**25, 0.125
# Threads that the share is for, also where fewer work: rows per block, and so the last bits, must not depend on them.
_SCRATCH_THREADS = 16


class FeatureMap(FollowsArrays, NestedParams, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A map z with k(x, y) ~ <z(x), z(y)>, as a scikit-learn transformer.

    This class checks rows, writes their features in blocks and forgets what an earlier ``fit`` has set. A subclass
    writes ``fit_checked`` (all its randomness), ``redrawn`` (the same, for ``variance``), ``writer`` (the arithmetic)
    and, where theory gives it, ``exact_variance``; a biased map also writes ``bias``. ``KernelMap`` is the base of maps
    whose kernel is a parameter. After ``fit`` nothing is random: transforms agree to rounding whatever the blocks, the
    threads and the core.
    """

    # d columns in, D features out: the names of these sizes in every map's declaration.
    _stored = Stored(
        n_features_in_=Count("d", least=1),
        feature_names_in_=Names(("d",), ascending=False, text=True, optional=True),
        n_features_out=Count("D", least=1, most=LARGEST_WIDTH, attribute="n_features_out_"),
        kernel_=Member(Kernel),
    )

    # Whether ``in_slabs`` makes the features a slab of columns at a time.
    has_slabs: ClassVar[bool] = False
    n_components: int
    random_state: Seed
    n_features_in_: int
    n_features_out_: int
    kernel_: Kernel

    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Draw the map for the width of X.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or a Dask array or data frame, of which a
            uniform sample is used
        y : ignored

        Returns
        -------
        self
        """
        fitted = unfitted(self)
        if is_collection(X):
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            X = sampled_rows(type(self).__name__, X, self.rows_to_fit, seed)
        X = fitted.check_fit(X)
        with np.errstate(over="ignore", invalid="ignore"):  # overflow raises an error below, with the way out
            fitted.fit_checked(X, check_random_state(self.random_state))
        adopt(self, fitted)
        return self

    def fit_member(self, X: Rows, rng: np.random.RandomState) -> None:
        """Fit as part of another map, which has checked X and gives its generator."""
        fitted = unfitted(self)
        fitted.n_features_in_ = X.shape[1]
        fitted.fit_checked(X, rng)
        adopt(self, fitted)

    def transform(self, X: RowsLike) -> Array:
        """Return the features of the rows of X, in X's own precision (float32 stays).

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or a Dask array or data frame, whose
            features are a lazy collection

        Returns
        -------
        Z : ndarray of shape (n_samples, n_features_out)
            Its memory goes to a later result once no array and no view uses it. Z of 1 to 64 MiB therefore does not own
            its data: ``Z.resize`` refuses it, ``np.resize`` and ``Z.copy()`` take it.
        """
        if is_collection(X):
            check_is_fitted(self)
            return lazily(self, "transform", X)
        check_is_fitted(self)
        X = check_objects(self, self.domain, X, reset=False)
        name, shape = type(self).__name__, (X.shape[0], self.n_features_out_)
        check_memory(
            name, "n_components", shape[1], shape[0] * shape[1] * X.dtype.itemsize, f"{shape[0]} rows of features"
        )
        out = empty(shape, dtype=X.dtype)
        self.write_features(X, out)
        return out

    def write_features(self, X: Rows, out: Array) -> None:
        """Write the features of checked rows into a matrix of X's precision."""
        n_rows = X.shape[0]
        write = self.writer(X)

        def work(rows: slice) -> None:
            self._write_checked(write, X, rows, out[rows])

        with np.errstate(over="ignore", invalid="ignore"):  # overflow raises an error below, with the way out
            for_each_block(work, row_blocks(n_rows, self._rows_in_work(X)))

    def _rows_in_work(self, X: Rows) -> int:
        """Return the rows per block: ``block_rows``, or fewer if making their features takes too much memory."""
        rows, row_bytes = self.block_rows(X.shape[0]), self.scratch_bytes(X)
        if not row_bytes:
            return rows
        limit, threads = lasting_limit(), max(_SCRATCH_THREADS, get_config().threads)
        most = _SCRATCH_BYTES if limit is None else min(_SCRATCH_BYTES, _SCRATCH_SHARE * limit / threads)
        return int(np.clip(most // row_bytes, 1, rows))

    def times(self, X: Rows, weights: Array) -> Array:
        """Return the features of checked rows times weights (D, k), a few rows at a time, in cache."""
        n_rows, write = X.shape[0], self.writer(X)
        few = _CACHED_BYTES // (self.n_features_out_ * X.dtype.itemsize)
        most = self._rows_in_work(X)
        blocks = row_blocks(n_rows, int(np.clip(few, min(_LEAST_ROWS, most), most)))
        out = np.empty((n_rows, weights.shape[1]), dtype=X.dtype)
        features = empty((blocks[0].stop if blocks else 0, self.n_features_out_), dtype=X.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in blocks:
                Z = features[: rows.stop - rows.start]
                self._write_checked(write, X, rows, Z)
                core.scores(Z, weights, out[rows])
        return out

    def _write_checked(self, write: Writer, X: Rows, rows: slice, out: Array) -> None:
        """Write the features of a block, refusing rows that are not finite, and features that would not be."""
        name = type(self).__name__
        norm = np.inf if isinstance(X, Ragged) else block_norm(name, "X", X, rows)
        write(rows, out)
        if not self._cannot_overflow(norm, X):
            check_finite_features(name, out, rows.start)

    def variance(self, X: RowsLike, Y: RowsLike | None = None) -> Array:
        """Return the mean squared error of <z(x), z(y)> over the draws of the map, for all pairs of rows of X and Y.

        The mean squared error is the variance plus the square of the bias, and most maps have no bias. What ``fit``
        learned from its rows (a bandwidth, a direction, the features of each degree) is kept. The error is exact, from
        a closed form, where the class documents one; elsewhere it is estimated from 200 re-draws. The relative standard
        error of the estimate is about 10 %, and more for pairs of which only rare draws have a large error.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features)
        Y : as X, or None for X itself

        Returns
        -------
        errors : ndarray of shape (rows of X, rows of Y)
        """
        check_is_fitted(self)
        name = type(self).__name__
        X = as_rows(name, self.domain, X)
        other = X if Y is None else as_rows(name, self.domain, Y, "Y")
        check_same_width(name, X, other)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"{name}: X has {X.shape[1]} columns, and the map was fitted on {self.n_features_in_}. Give it rows of "
                "the same columns."
            )
        X, other = X.astype(np.float64), other.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            exact = self.exact_variance(X, other)
            error = self._error_by_redraws(X, other) if exact is None else exact + np.square(self.bias(X, other))
        return check_finite_result(name, "variance", error)

    def check_fit(self, X: RowsLike) -> Rows:
        """Return the rows that ``fit`` was given, checked: their shape, and every entry finite."""
        X = check_objects(self, self.domain, X, reset=True)
        if isinstance(X, Ragged):  # packed objects hold no numbers that are not finite
            return X
        name = type(self).__name__
        for_each_block(lambda rows: block_norm(name, "X", X, rows), row_blocks(X.shape[0]))
        return X

    @abstractmethod
    def fit_checked(self, X: Rows, rng: np.random.RandomState) -> None:
        """Draw with this generator and set the fitted attributes; X is checked."""

    @abstractmethod
    def _check_params(self) -> None:
        """Refuse parameters that ``fit`` refuses, whatever the rows."""

    def _check_stored(self, sizes: Sizes) -> None:
        """Refuse a map that no ``fit`` makes, although its attributes are of the declared kinds."""
        self._check_params()
        check_random_state(self.random_state)
        require(self.kernel_.is_resolved, "kernel_ must have numbers for parameters")

    @abstractmethod
    def writer(self, X: Rows) -> Writer:
        """Return the function that writes the features of ranges of rows of X, with what it needs prepared."""

    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        """Return the exact variance of float64 rows about its own mean, or None where no closed form is known."""
        return None

    def bias(self, X: Array, Y: Array) -> Array | float:
        """Return the mean of <z(x), z(y)> over the draws less k(x, y), where ``exact_variance`` has a closed form."""
        return 0.0

    @property
    def domain(self) -> Domain:
        """What the map takes: ``"rows"`` of numbers, or objects, such as ``"strings"``."""
        return self.kernel_.domain if hasattr(self, "kernel_") else "rows"

    @property
    def features_per_row(self) -> int:
        """The number of features that a row takes memory for: all, unless they are sparse."""
        return self.n_features_out_

    @property
    def features_at_once(self) -> int:
        """The number of features that a row takes memory for where a caller reads them by ``times`` or ``in_slabs``."""
        return self.features_per_row

    def in_slabs(self, X: Rows) -> SlabRows | None:
        """Return the features of checked rows a slab of columns at a time; None for maps that make them at once."""
        return None

    @property
    def rows_to_fit(self) -> int:
        """The least number of rows that ``fit`` should see where there are more; learners sample so many for it."""
        return 0

    @property
    def is_random(self) -> bool:
        """Whether another draw would have other features. A map that may be exact says so after ``fit``."""
        return True

    @abstractmethod
    def redrawn(self, rng: np.random.RandomState) -> Self:
        """Return a copy with another draw, and all that ``fit`` learned from its rows kept."""

    def block_rows(self, n_rows: int) -> int:
        """Return the rows per block: those of the configuration, unless the arithmetic of a subclass suits others."""
        return get_config().block_rows

    def scratch_bytes(self, X: Rows) -> float:
        """Return the bytes of working memory per row of X, in addition to the features."""
        return 0.0

    def most_features(self, n_features: int) -> float:
        """Return how many features the map can make use of on rows of ``n_features`` columns."""
        return np.inf

    def least_features(self, n_features: int) -> int:
        """Return how many features the map has at least on rows of ``n_features`` columns, whatever the rows."""
        return int(min(self.n_components, self.most_features(n_features)))

    def set_width(self, n_components: int) -> None:
        """Take the share of features that a composition gives."""
        self.n_components = n_components

    def largest_feature(self, norm: float, X: Rows) -> float:
        """Bound the features, and all that is computed on the way, of rows no longer than ``norm``."""
        return np.inf

    def reaches(self, n_features: int, level: float) -> Array | None:
        """Return how far apart in each column rows must be for their kernel to be below ``level``, where that matters.

        None for features that follow the kernel away from the rows (Nystroem's and bins do), or grow with them. Cosines
        and sines are as large there as anywhere: a function of them does not return to its mean where the kernel does.
        """
        return None

    def _cannot_overflow(self, norm: float, X: Rows) -> bool:
        try:
            bound = self.largest_feature(norm, X)
        except OverflowError:
            return False
        return isfinite(bound) and bound < float(np.finfo(X.dtype).max)

    def _error_by_redraws(self, X: Rows, Y: Rows) -> Array:
        rng = check_random_state(self.random_state)
        kernel_values = self.kernel_(X, Y)
        total = np.zeros_like(kernel_values)
        for _ in range(_REDRAWS):
            with catch_warnings():
                simplefilter("ignore")  # ``fit`` has given the warnings of a draw
                other = self.redrawn(np.random.RandomState(rng.randint(2**31 - 1)))
            total += other.squared_error(X, Y, kernel_values)
        return total / _REDRAWS

    def squared_error(self, X: Rows, Y: Rows, kernel_values: Array) -> Array:
        """Return the squared error of this draw, or its mean over a part of the randomness where that is known."""
        return np.asarray((self.transform(X) @ self.transform(Y).T - kernel_values) ** 2)

    @property
    def _n_features_out(self) -> int:
        """The name under which scikit-learn's ``get_feature_names_out`` looks for ``n_features_out_``."""
        return self.n_features_out_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "kernel_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.two_d_array = self.domain == "rows"
        tags.input_tags.string = self.domain == "strings"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
