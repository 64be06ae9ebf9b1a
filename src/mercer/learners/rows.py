"""The features of rows as solvers read them: held while the memory budget allows, else made in each pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._typing import Array
from mercer.config import get_config, memory_budget
from mercer.data import Block, Blocks
from mercer.data.readers.arrays import ArrayReader
from mercer.engines.base import S
from mercer.recycling import empty
from mercer.stats import Moments
from mercer.validation import check_memory

if TYPE_CHECKING:
    from mercer.learners.base import KernelLearner

# Rows whose features are looked at before the first pass over all.
_PROBE_ROWS = 512
# Part of the memory budget that features may take; blocks in work and the solver take the rest.
_SHARE = 0.5
# Matrices of D x D that a preconditioner takes: 2 D rows of the sample, their products, the same shifted, its factor.
_GRAM_MATRICES = 6
# Vectors of as many float64 as there are features that every solver has at least.
_VECTORS = 6


def check_vectors(learner: "KernelLearner", n_features: int, itemsize: int) -> None:
    """Refuse more features than there is memory for the vectors of a solver and for one row per thread."""
    owner, name = type(learner).__name__, learner._width_name
    row_bytes = 8 * _VECTORS + 3 * itemsize * get_config().threads
    what = "the coefficients, the vectors of the solver, and a row of features for each thread"
    check_memory(owner, name, n_features, row_bytes * n_features, what, way_out=f"Lower {name}.")


@dataclass(frozen=True)
class WarmStart:
    """Where a solver may begin: the solution of an earlier fit on the same features.

    Attributes
    ----------
    coef : ndarray of shape (n_features + 1, n_outputs)
        The coefficients, the intercept last.
    duals : ndarray of shape (n_rows, n_outputs) or None
        The dual variables of a support vector machine.
    """

    coef: Array
    duals: Array | None = None


class FeatureRows:
    """Features Z, targets Y (what the learner makes of y) and weights of all rows, a block at a time.

    Parameters
    ----------
    learner : KernelLearner
        With its map fitted; its ``_targets`` and ``_block_weight`` give Y and the weights.
    blocks : Blocks
    sample : array or CSR matrix
        A uniform sample of X: the features of a few of its rows tell how many there are, how dense, and where they lie.
    sample_weight : ndarray

    Attributes
    ----------
    sample, sample_weight
    n_rows, n_features : int
    is_sparse : bool
    dtype : dtype
        Of the features.
    origin : ndarray of shape (n_features,)
        The mean of the features of some rows: a point near that of all.
    start : WarmStart or None
        With ``warm_start``: the solution of the last fit on these features.
    found : statistic or None
        What the first pass found in y.
    """

    def __init__(self, learner: "KernelLearner", blocks: Blocks, sample: Any, sample_weight: Array):
        assert blocks.n_rows is not None  # noqa: S101 - the survey has counted them
        self.sample, self.sample_weight = sample, sample_weight
        n_probed = min(_PROBE_ROWS, blocks.block_rows or _PROBE_ROWS)
        probe: Any = learner.feature_map_.transform(sample[:: -(-sample.shape[0] // n_probed)])
        self._learner, self._source = learner, blocks
        self.n_rows, self.n_features = blocks.n_rows, int(probe.shape[1])
        self.block_rows = blocks.block_rows
        self.is_sparse, self.dtype = bool(sparse.issparse(probe)), probe.dtype
        self.origin: Array = np.asarray(probe.mean(axis=0, dtype=np.float64)).ravel()
        entries = probe.nnz / probe.shape[0] if self.is_sparse else self.n_features
        self._row_bytes = entries * (probe.dtype.itemsize + (4 if self.is_sparse else 0))
        self.start: WarmStart | None = None
        self.found: Any = None
        self._held: Blocks | None = None
        self._matrix: tuple[Any, Any, Array | None] | None = None
        self._released = False

    @cached_property
    def memory(self) -> int:
        """The memory budget in bytes, measured once: features that are held leave less to measure."""
        return memory_budget().n_bytes

    @property
    def fits(self) -> bool:
        """Whether the features of all rows fit their share of the memory budget, and were not released."""
        return not self._released and bool(self.n_rows * self._row_bytes <= _SHARE * self.memory)

    def fits_square(self, n_matrices: int) -> bool:
        """Whether so many matrices of D x D in float64, and one more for each thread, fit the memory budget."""
        return 8 * max(n_matrices, get_config().threads + 2) * self.n_features**2 <= self.memory

    def release(self) -> None:
        """Let features that are held go, and make them again in each pass from now on."""
        self._held, self._matrix, self._released = None, None, True

    @property
    def blocks(self) -> Blocks:
        """The rows themselves, or their features where these are held: ``features`` knows which."""
        return self._held or self._source

    @property
    def holds(self) -> bool:
        """Whether ``blocks`` are the features themselves."""
        return self._held is not None

    def features(self, block: Block, rows: Array | None = None) -> Any:
        """Return the features of a block of ``blocks``, or of some of its rows."""
        X = block.X
        if rows is not None and len(rows) < block.n_rows:
            X = X.take(rows, axis=0) if isinstance(X, np.ndarray) else X[rows]
        return X if self._held is not None else self._learner.feature_map_.transform(X)

    def reduce(self, title: str, work: Callable[[Any, Any, Array | None], S], into: S) -> S:
        """Merge ``work(Z, Y, weight)`` of all blocks into ``into``; weight is None where all are 1."""
        return self._learner._reduce(title, lambda block: work(*self._parts(block)), self.blocks, into)

    def reduce_numbered(self, title: str, work: Callable[[int, Any, Any, Array | None], S], into: S) -> S:
        """Merge ``work(first_row, Z, Y, weight)`` of all blocks, with the number of each block's first row."""
        return self._learner._reduce(title, lambda block: work(block.first_row, *self._parts(block)), self.blocks, into)

    def each(self, title: str) -> Iterator[tuple[Any, Any, Array | None]]:
        """Yield ``(Z, Y, weight)`` of all blocks in order, made on all threads, for solvers that go row by row."""
        return self._learner._map(title, self._parts, self.blocks)

    def hold(self) -> bool:
        """Keep the features for the passes to come, if they fit; return whether they do."""
        if self.fits and self._held is None:
            try:
                self._hold()
            except MemoryError:  # the system has less than it told
                self.release()
        return self._held is not None

    def hold_and_reduce(self, title: str, work: Callable[[Block], S], into: S) -> S:
        """Merge ``work`` of all ``blocks`` into ``into``, which is empty; features that fit are kept as they are made.

        ``work`` may see a block twice: where the memory ends within the pass, the pass begins again without holding.
        """
        if self.fits and self._matrix is None and not self.is_sparse:
            total = into.zero()
            try:
                self._matrix = self._dense_matrix(title, work, total)
                self._hold()
                return total
            except MemoryError:
                self.release()
        self.hold()
        return self._learner._reduce(title, lambda block: work(self.of(block)), self.blocks, into)

    def of(self, block: Block) -> Block:
        """Return a block of ``blocks`` with its features for X."""
        return block if self.holds else Block(self.features(block), block.y, block.sample_weight, block.first_row)

    def matrix(self) -> tuple[Any, Any, Array | None]:
        """Return Z (an array, or a CSR array), Y and the weights of all rows; ask ``fits`` first."""
        if self._matrix is None:
            self._matrix = self._sparse_matrix() if self.is_sparse else self._dense_matrix("features")
        return self._matrix

    def _hold(self) -> None:
        Z, Y, weight = self.matrix()
        owner = type(self._learner).__name__
        reader = ArrayReader(owner, Z)
        self._held = Blocks(reader, self.block_rows, y=Y, sample_weight=weight, owner=owner, trusted=True)

    def sample_gram(self) -> Array:
        """Return the weighted mean of a a^T, a = (z, 1), over the sample; its diagonal for sparse or many features."""
        whole = not self.is_sparse and self.fits_square(_GRAM_MATRICES)
        n_probed = min(_PROBE_ROWS, self.block_rows or _PROBE_ROWS)
        n_sampled = min(self.sample.shape[0], max(n_probed, 2 * self.n_features if whole else 0))
        step = self.sample.shape[0] // n_sampled
        weight = self.sample_weight[::step]
        Z: Any = self._learner.feature_map_.transform(self.sample[::step])
        weight = weight / weight.sum() if weight.any() else np.full(len(weight), 1 / len(weight))
        if self.is_sparse:
            return np.append(np.asarray(Z.multiply(Z).T @ weight).ravel(), 1.0)
        if not whole:
            return np.append(np.einsum("ij,ij,i->j", Z, Z, weight), 1.0)
        gram = np.empty((self.n_features + 1, self.n_features + 1))
        moments = Moments.of(self.n_features, 1).update(Z, np.ones(len(weight)), weight)
        gram[:-1, :-1], gram[-1, :-1], gram[:-1, -1], gram[-1, -1] = (
            moments.gram,
            moments.sum_features,
            moments.sum_features,
            1.0,
        )
        return gram

    def _dense_matrix(
        self, title: str, work: Callable[[Block], S] | None = None, into: Any = None
    ) -> tuple[Any, Any, Array | None]:
        Z = empty((self.n_rows, self.n_features), dtype=self.dtype)
        parts: dict[int, tuple[Any, Array | None]] = {}

        def make(block: Block) -> Any:
            features = Z[block.first_row : block.first_row + block.n_rows]
            self._learner.feature_map_.write_features(block.X, features)
            weight = self._learner._block_weight(block)
            parts[block.first_row] = self._learner._targets(block), weight
            return None if work is None else work(Block(features, None, weight, block.first_row))

        total: Any = _Nothing() if work is None else into
        self._learner._reduce(title, make, self._source, total)
        ordered = [parts[first] for first in sorted(parts)]
        return Z, _joined([Y for Y, _ in ordered]), _joined([weight for _, weight in ordered])

    def _sparse_matrix(self) -> tuple[Any, Any, Array | None]:
        parts = list(self._learner._map("features", self._parts, self._source))
        Z = sparse.vstack([Z for Z, _, _ in parts], format="csr")
        return Z, _joined([Y for _, Y, _ in parts]), _joined([weight for _, _, weight in parts])

    def _parts(self, block: Block) -> tuple[Any, Any, Array | None]:
        if self._held is not None:
            return block.X, block.y, block.sample_weight
        Z = self._learner.feature_map_.transform(block.X)
        return Z, self._learner._targets(block), self._learner._block_weight(block)


def _joined(parts: list[Array | None]) -> Array | None:
    given = [part for part in parts if part is not None]
    return np.concatenate(given) if given else None


class _Nothing:
    """A statistic of blocks that are looked at for something else."""

    def merge(self, other: Any) -> Any:
        return self
