"""What learners of features share that fit no linear scores."""

from collections.abc import Callable
from typing import Any, Self

from mercer._typing import Array
from mercer.data import Block, Blocks, as_blocks
from mercer.engines import rows_of
from mercer.learners.base import KernelLearner
from mercer.validation import check_finite_result, check_rows


class UnsupervisedLearner(KernelLearner):
    """A learner of the features alone; a y that comes with them is not used."""

    _needs_y = False

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

    def _targets(self, block: Block) -> Any:
        return None

    def _of_features(self, work: Callable[[Any], Array], X: Any) -> Array:
        """Return ``work(Z)`` of the features of each block of X, an array or ``Blocks``, as one array."""
        name = type(self).__name__
        blocks = X if isinstance(X, Blocks) else as_blocks(check_rows(self, X, reset=False), owner=name)
        self._check_width(blocks)
        far = self._far_rows()

        def of_block(block: Block) -> Array:
            far.see(block.X)
            return work(self.feature_map_.transform(block.X))

        with self._threads():
            rows = rows_of(self._engine, of_block, blocks.recut(None, name))
        self._warn_of(far)
        return check_finite_result(name, "result", rows)

    def _overflow(self) -> ValueError:
        return ValueError(
            f"{type(self).__name__}: products of the features overflow. Scale the rows down "
            "(sklearn.preprocessing.StandardScaler), or pass float64."
        )
