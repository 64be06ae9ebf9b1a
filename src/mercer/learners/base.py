"""What every learner shares: rows in, a fitted map, passes over blocks, linear scores out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._typing import Array
from mercer.config import config_context, get_config
from mercer.data import Block, Blocks, as_blocks, reservoir
from mercer.engines import Engine, Local
from mercer.engines.base import S
from mercer.features import FeatureMap, feature_map
from mercer.features.base import as_kernel
from mercer.features.params import NestedParams
from mercer.kernels import Gaussian, Kernel
from mercer.learners.progress import progress
from mercer.solvers import Solution
from mercer.validation import check_integer, check_rows, check_weights

# Rows a block: the products of float32 features are exact enough, and long enough to be fast, up to here.
_BLOCK_ROWS = 4096
# Rows that a map and a kernel with parameters from the data are fitted on, at least, and for each feature.
_SAMPLE_ROWS = 4096
_SAMPLE_ROWS_A_FEATURE = 4


class KernelLearner(NestedParams, BaseEstimator):
    """A linear model on the features of a kernel.

    A subclass writes ``_targets`` (y of a block as numbers) and ``_solve`` (from labelled blocks to coefficients).
    Whatever is refused or interrupted in ``fit`` leaves the estimator as it was.
    """

    _natural_kernel: ClassVar[Kernel] = Gaussian()
    _engine: ClassVar[Engine] = Local()
    kernel: Any
    n_components: int
    features: Any
    random_state: Any
    n_jobs: int | None
    verbose: int
    coef_: Array
    intercept_: Any

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the map and the linear model.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or ``Blocks``
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Left out where X is ``Blocks``, which bring their own.
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        before = self.__dict__.copy()
        try:
            with self._threads():
                self._fit(X, y, sample_weight)
        except BaseException:  # stay unfitted, or fitted as before
            self.__dict__ = before
            raise
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        name = type(self).__name__
        blocks = self._labelled_blocks(X, y, sample_weight)
        rng = check_random_state(self.random_state)
        self.feature_map_ = self._fitted_map(blocks, rng)
        blocks = blocks.recut(self._block_rows(blocks.dtype.itemsize), name)
        solution = self._solve(blocks)
        if not np.isfinite(solution.value).all():
            raise ValueError(
                f"{name}: the coefficients overflow: the features or y are too large. Scale them down "
                "(sklearn.preprocessing.StandardScaler), or pass float64."
            )
        if not solution.success:
            warn(f"{name}: {solution.status}. {solution.advice}", ConvergenceWarning, stacklevel=4)
        self.solution_ = replace(solution, details={**solution.details, "block_rows": blocks.block_rows})

    def _labelled_blocks(self, X: Any, y: Any, sample_weight: Any) -> Blocks:
        name = type(self).__name__
        if not isinstance(X, Blocks):
            if y is None:
                raise ValueError(f"{name} requires y to be passed, but the target y is None.")
            if isinstance(X, Iterator):
                as_blocks(X, owner=name)  # which refuses it, in words
            X = check_rows(self, X, reset=True)
            weight = None if sample_weight is None else check_weights(name, sample_weight, X.shape[0])
            return as_blocks(X, self._check_y(y), sample_weight=weight, owner=name)
        if y is not None or sample_weight is not None:
            raise ValueError(f"{name}: X is Blocks, which bring their own y and weights. Give them to as_blocks.")
        if not X.is_labelled:
            raise ValueError(f"{name} requires y to be passed: make the blocks with as_blocks(X, y).")
        self.n_features_in_ = X.width
        if X.names is not None:
            self.feature_names_in_ = np.asarray(X.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return X.recut(X.block_rows, name)

    def _fitted_map(self, blocks: Blocks, rng: np.random.RandomState) -> FeatureMap:
        """Fit the map on all rows where they are few, on a uniform sample where they are many."""
        name = type(self).__name__
        n_components = check_integer(name, "n_components", self.n_components)
        size = max(_SAMPLE_ROWS, _SAMPLE_ROWS_A_FEATURE * n_components)
        weights: list[Array] = []

        def rows() -> Iterator[Any]:
            for block in blocks.recut(_BLOCK_ROWS, name).labelled():
                weights.append(self._weights(block))
                yield block.X

        sample, numbers = reservoir(rows(), size, np.random.RandomState(rng.randint(2**31 - 1)))
        if self.features is not None:
            if not isinstance(self.features, FeatureMap):
                raise ValueError(
                    f"{name}: features must be a feature map such as TensorSketch(), got {self.features!r}."
                )
            return clone(self.features).fit(sample)  # type: ignore[no-any-return]
        weight = np.concatenate(weights)[numbers]
        if not weight.any():  # the weights of a sample may all be 0 where those of all rows are not
            weight = np.ones(len(numbers))
        kernel = as_kernel(name, self.kernel, self._natural_kernel).resolve(sample, weight)
        return feature_map(kernel, n_components, random_state=rng.randint(2**31 - 1)).fit(sample)

    def _weights(self, block: Block) -> Array:
        if block.sample_weight is None:
            return np.ones(block.n_rows)
        return check_weights(type(self).__name__, block.sample_weight, block.n_rows, all_zero=True)

    def _block_rows(self, itemsize: int) -> int:
        """Return the rows a block: a constant, shrunk so that all threads' take a quarter of a memory budget."""
        config = get_config()
        if config.memory is None:
            return _BLOCK_ROWS
        row_bytes = 3 * itemsize * (self.feature_map_._n_features_out + self.n_features_in_)
        return int(np.clip(config.memory // (4 * config.threads * row_bytes), 1, _BLOCK_ROWS))

    def _reduce(self, title: str, work: Callable[[Block], S], blocks: Blocks, into: S) -> S:
        """Reduce over the blocks, with progress."""
        with progress(f"{type(self).__name__}: {title}", blocks.n_rows, self.verbose) as advance:

            def reported(block: Block) -> S:
                part = work(block)
                advance(block.n_rows)
                return part

            return self._engine.reduce(reported, blocks, into)

    @contextmanager
    def _threads(self) -> Iterator[None]:
        n_jobs = self.n_jobs
        if n_jobs is not None and n_jobs < 0:
            n_jobs = max(1, get_config().threads + 1 + n_jobs)
        with config_context(threads=n_jobs):
            yield

    def _scores(self, X: Any) -> Array:
        """Return the features of X times the coefficients, plus the intercept: (n,) for one target, else (n, k)."""
        check_is_fitted(self)
        name = type(self).__name__
        coef = np.atleast_2d(self.coef_).T

        def work(block: Block) -> Array:
            Z = self.feature_map_.transform(block.X)
            scores: Array = Z @ coef.astype(Z.dtype, copy=False) + np.asarray(self.intercept_, dtype=Z.dtype)
            return scores

        blocks = X if isinstance(X, Blocks) else as_blocks(check_rows(self, X, reset=False), owner=name)
        if blocks.width != self.n_features_in_:
            raise ValueError(f"X has {blocks.width} features, but {name} is expecting {self.n_features_in_} features.")
        with self._threads():
            scores = np.concatenate(list(self._engine.map(work, blocks.recut(None, name))))
        return scores.ravel() if self.coef_.ndim == 1 else scores

    def _check_y(self, y: Any) -> Array:
        raise NotImplementedError

    def _targets(self, block: Block) -> Array:
        raise NotImplementedError

    def _solve(self, blocks: Blocks) -> Solution:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "solution_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
