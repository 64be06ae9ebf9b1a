"""What learners of features share that fit no linear scores: their passes, their sample of rows, their maps."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Self
from warnings import warn

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mercer._typing import Array
from mercer.data import Block, Blocks, as_blocks, reservoir
from mercer.features import FeatureMap, feature_map
from mercer.features.base import as_kernel
from mercer.learners.base import KernelLearner
from mercer.solvers import Solution
from mercer.validation import check_integer, check_rows, check_weights

# Rows that a map and a kernel with parameters from the data are fitted on, at least, and for each feature.
_SAMPLE_ROWS = 4096
_SAMPLE_ROWS_A_FEATURE = 4


class UnsupervisedLearner(KernelLearner):
    """A learner of the features alone; a y that comes with them is not used. A subclass writes ``_learn``."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the map and the model.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features), or ``Blocks``
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        return super().fit(X, None, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        name = type(self).__name__
        blocks = self._labelled_blocks(X, y, sample_weight).recut(None, name)
        self._draw_maps(blocks, check_random_state(self.random_state))
        blocks = blocks.recut(self._block_rows(blocks.dtype.itemsize), name)
        solution = self._learn(blocks)
        if not np.isfinite(solution.value).all():
            raise self._overflow(blocks)
        if not solution.success:
            warn(f"{name}: {solution.status}. {solution.advice}", ConvergenceWarning, stacklevel=5)
        self.solution_ = replace(solution, details={**solution.details, "block_rows": blocks.block_rows})

    def _learn(self, blocks: Blocks) -> Solution:
        raise NotImplementedError

    def _labelled_blocks(self, X: Any, y: Any, sample_weight: Any) -> Blocks:
        name = type(self).__name__
        if isinstance(X, Blocks):
            if sample_weight is not None:
                raise ValueError(f"{name}: X is Blocks, which bring their own weights. Give them to as_blocks.")
            self.n_features_in_ = X.width
            if X.names is not None:
                self.feature_names_in_ = np.asarray(X.names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            return X
        if isinstance(X, Iterator):
            as_blocks(X, owner=name)  # which refuses it, in words
        X = check_rows(self, X, reset=True)
        weight = None if sample_weight is None else check_weights(name, sample_weight, X.shape[0])
        return as_blocks(X, sample_weight=weight, owner=name)

    def _draw_maps(self, blocks: Blocks, rng: np.random.RandomState) -> None:
        self.feature_map_ = self._drawn_map(blocks, rng, "features", self.features, self.kernel, lambda block: block.X)

    def _map_width(self) -> int:
        """Return the number of features asked for, checked."""
        return check_integer(type(self).__name__, "n_components", self.n_components)

    def _drawn_map(
        self,
        blocks: Blocks,
        rng: np.random.RandomState,
        argument: str,
        own: Any,
        kernel: Any,
        rows_of: Callable[[Block], Any],
    ) -> FeatureMap:
        """Fit a map on all rows where they are few, on a uniform sample where they are many."""
        name, width = type(self).__name__, self._map_width()
        sample, weight = self._sample(blocks, max(_SAMPLE_ROWS, _SAMPLE_ROWS_A_FEATURE * width), rng, rows_of)
        if own is not None:
            if not isinstance(own, FeatureMap):
                raise ValueError(f"{name}: {argument} must be a feature map such as TensorSketch(), got {own!r}.")
            return clone(own).fit(sample)  # type: ignore[no-any-return]
        resolved = as_kernel(name, kernel, self._natural_kernel).resolve(sample, weight)
        return feature_map(resolved, width, random_state=rng.randint(2**31 - 1)).fit(sample)

    def _sample(
        self, blocks: Blocks, size: int, rng: np.random.RandomState, rows_of: Callable[[Block], Any]
    ) -> tuple[Any, Array]:
        """Return a uniform sample of the rows, or of what is made of them, and their weights."""
        weights: list[Array] = []

        def rows() -> Iterator[Any]:
            for block in blocks.labelled():
                weights.append(self._weights(block))
                yield rows_of(block)

        sample, numbers = reservoir(rows(), size, np.random.RandomState(rng.randint(2**31 - 1)))
        weight = np.concatenate(weights)
        if not weight.any():
            raise ValueError(
                f"{type(self).__name__}: sample_weight must not be all zero. Leave it out for equal weights."
            )
        # The weights of a sample may all be 0 where those of all rows are not.
        return sample, weight[numbers] if weight[numbers].any() else np.ones(len(numbers))

    def _block_weight(self, block: Block) -> Array | None:
        return None if block.sample_weight is None else self._weights(block)

    def _of_features(self, work: Callable[[Any], Array], X: Any) -> Array:
        """Return ``work(Z)`` of the features of each block of X, an array or ``Blocks``, as one array."""
        name = type(self).__name__
        blocks = X if isinstance(X, Blocks) else as_blocks(check_rows(self, X, reset=False), owner=name)
        if blocks.width != self.n_features_in_:
            raise ValueError(f"X has {blocks.width} features, but {name} is expecting {self.n_features_in_} features.")
        with self._threads():
            parts = self._engine.map(lambda block: work(self.feature_map_.transform(block.X)), blocks.recut(None, name))
            return np.concatenate(list(parts))

    def _overflow(self, blocks: Blocks) -> ValueError:
        return ValueError(
            f"{type(self).__name__}: products of the features overflow {blocks.dtype}. Scale the rows down "
            "(sklearn.preprocessing.StandardScaler), or pass float64."
        )
