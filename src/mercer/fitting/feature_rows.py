"""The features of rows as solvers read them: held while the memory budget allows, else made in each pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows, is_sparse
from mercer.checkpoints import kept
from mercer.config import get_config, memory_budget
from mercer.data import Block, Blocks
from mercer.data.sources.arrays import ArraySource
from mercer.engines.base import S
from mercer.features import FeatureMap
from mercer.fitting.passes import Passes
from mercer.fitting.survey import Sample
from mercer.fitting.targets import Targets
from mercer.recycling import empty
from mercer.stats.slabs import SlabRows

T = TypeVar("T")
# The features, the encoded targets and the weights of some rows; weights are None where all are 1.
Parts: TypeAlias = tuple[Rows, Rows, Array | None]

# Rows whose features are made before the first pass, to know the number, the type and the density of features.
PROBE_ROWS = 512
# Share of the memory budget that features may take; blocks in work and the solver take the rest.
_SHARE = 0.5
# This many bytes are taken to be free unless a budget is set: to measure memory takes as long as a small fit.
_NOT_MEASURED = 2**24
# D x D matrices that a preconditioner takes: the features of a block, their products, the same shifted, its factor.
_GRAM_MATRICES = 6


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
    """Features Z, targets Y and weights of all rows, block by block.

    Parameters
    ----------
    feature_map : FeatureMap
        Fitted.
    blocks : Blocks
        Whose rows have been counted.
    targets : Targets
        Encodes the y and the weights of each block.
    passes : Passes
    sample : Sample
        A uniform sample of the rows. The features of a few of them tell how many features there are, how dense they
        are, and where they lie.
    start : WarmStart, optional
        The solution of the last fit on these features.
    wide_sample : Sample, optional
        A uniform sample of more rows, for preconditioners.
    in_slabs : bool
        Whether passes give ``SlabRows`` in place of features that are not held: for maps with slabs, and for solvers
        that take products with the features alone.

    Attributes
    ----------
    n_rows, n_features : int
    is_sparse : bool
    dtype : dtype
        Of the features.
    origin : ndarray of shape (n_features,)
        The mean of the features of some rows: a point near the mean of all.
    """

    def __init__(
        self,
        feature_map: FeatureMap,
        blocks: Blocks,
        targets: Targets,
        passes: Passes,
        sample: Sample,
        start: WarmStart | None = None,
        wide_sample: Sample | None = None,
        *,
        in_slabs: bool = False,
    ):
        assert blocks.n_rows is not None  # noqa: S101 - the survey has counted them
        self.feature_map, self.targets, self.passes = feature_map, targets, passes
        self.sample, self.start = sample, start
        self.wide_sample = sample if wide_sample is None else wide_sample
        self.block_rows = blocks.block_rows
        self.n_probed = min(PROBE_ROWS, blocks.block_rows or PROBE_ROWS)
        self.n_rows, self.in_slabs = blocks.n_rows, in_slabs
        probed = sample.rows[:: -(-sample.rows.shape[0] // self.n_probed)]
        probe: Rows | SlabRows | None = feature_map.in_slabs(probed) if in_slabs else feature_map.transform(probed)
        assert probe is not None  # noqa: S101 - a map with slabs
        self.n_features, self.dtype = int(probe.shape[1]), probe.dtype
        self.is_sparse = is_sparse(probe)
        self.origin: Array = _mean(probe)
        entries = probe.nnz / probe.shape[0] if is_sparse(probe) else self.n_features
        self._n_bytes = self.n_rows * entries * (probe.dtype.itemsize + (4 if self.is_sparse else 0))
        self._source = blocks
        self._held: Blocks | None = None
        self._matrix: Parts | None = None
        self._may_hold = passes.engine.shares_memory

    def __getstate__(self) -> dict[str, object]:
        """Pickle what work on blocks needs, for workers elsewhere: neither rows nor the engine travel."""
        stays = {"_source": None, "_held": None, "_matrix": None, "sample": None, "wide_sample": None, "start": None}
        return {**vars(self), **stays, "passes": Passes(self.passes.owner), "_may_hold": False}

    @cached_property
    def memory(self) -> int:
        """The memory budget in bytes, measured once: features that are held leave less to measure."""
        # recorded: a fit that goes on later makes the same choices, whatever memory is free then
        return kept("memory", lambda: memory_budget().n_bytes)

    @property
    def fits(self) -> bool:
        """Whether the features of all rows fit their share of the memory budget, and were not released."""
        return self._may_hold and self.allows(self._n_bytes, _SHARE)

    def fits_square(self, n_matrices: int) -> bool:
        """Return whether so many D x D matrices in float64, and one more for each thread, fit the memory budget."""
        return self.allows(8 * max(n_matrices, get_config().threads + 2) * self.n_features**2)

    def allows(self, n_bytes: float, share: float = 1.0) -> bool:
        """Return whether so many bytes fit a share of the memory budget."""
        if n_bytes <= share * _NOT_MEASURED and get_config().memory is None:
            return True
        return n_bytes <= share * self.memory

    def release(self) -> None:
        """Release held features; from now on each pass makes the features again."""
        self._held, self._matrix, self._may_hold = None, None, False

    def solved(self, solve: Callable[["FeatureRows"], T]) -> T:
        """Return ``solve(self)``; if memory runs out while features are held, release them and solve again."""
        try:
            return solve(self)
        except MemoryError:
            if not self.fits:  # there is nothing to release
                raise
            self.release()
        return solve(self)

    @property
    def blocks(self) -> Blocks:
        """The blocks of rows, or of their features where these are held."""
        return self._held or self._source

    @property
    def holds(self) -> bool:
        """Whether ``blocks`` are the features themselves."""
        return self._held is not None

    def features(self, block: Block, rows: Array | None = None) -> Rows:
        """Return the features of a block of ``blocks``, or of some of its rows."""
        X = block.X
        if rows is not None and len(rows) < block.n_rows:
            X = X.take(rows, axis=0) if isinstance(X, np.ndarray) else X[rows]
        return X if self.holds else self.made(X)

    def weight(self, block: Block) -> Array | None:
        """Return the weights of a block of ``blocks``, None where all are 1."""
        return block.sample_weight if self.holds else self.targets.weight(block)

    def reduce(self, title: str, work: Callable[[Rows, Rows, Array | None], S], into: S) -> S:
        """Merge ``work(Z, Y, weight)`` of all blocks into ``into``; weight is None where all are 1."""
        return self.passes.reduce(title, lambda block: work(*self._parts(block)), self.blocks, into)

    def reduce_numbered(self, title: str, work: Callable[[int, Rows, Rows, Array | None], S], into: S) -> S:
        """Merge ``work(first_row, Z, Y, weight)`` of all blocks, with the number of each block's first row."""
        return self.passes.reduce(title, lambda block: work(block.first_row, *self._parts(block)), self.blocks, into)

    def each(self, title: str, first_row: int = 0) -> Iterator[Parts]:
        """Yield ``(Z, Y, weight)`` of all blocks in order, made on all threads, for solvers that go row by row.

        ``first_row`` leaves out the blocks before a row, which is the first one of a block.
        """
        return self.passes.map(title, self._parts, self.blocks.after(first_row) if first_row else self.blocks)

    def hold(self) -> bool:
        """Keep the features for the passes to come, if they fit; return whether they do."""
        if self._held is None and self.fits:
            try:
                self._hold()
            except MemoryError:  # the system has less memory than it reported
                self.release()
        return self.holds

    def hold_and_reduce(self, title: str, work: Callable[[Block], S], into: S) -> S:
        """Merge ``work`` of all blocks of features into ``into``, which is empty; keep the features if they fit.

        If memory runs out during the pass, the pass begins again without holding: ``work`` may see a block twice.
        """
        if self._matrix is None and not self.is_sparse and self.fits:
            total = into.zero()
            try:
                self._matrix = self._dense_matrix(title, work, total)
                self._hold()
                return total
            except MemoryError:
                self.release()
        self.hold()
        return self.passes.reduce(title, lambda block: work(self.of(block)), self.blocks, into, writes=True)

    def of(self, block: Block) -> Block:
        """Return a block of ``blocks`` with features for X, and the targets and weights that solvers read."""
        return block if self.holds else Block(*self._parts(block), block.first_row)

    def matrix(self) -> Parts:
        """Return Z (an array, or a CSR array), Y and the weights of all rows; ask ``fits`` first."""
        if self._matrix is None:
            self._matrix = self._sparse_matrix() if self.is_sparse else self._dense_matrix("features")
        return self._matrix

    @property
    def has_gram(self) -> bool:
        """Whether preconditioners are matrices: features are dense, and a few D x D matrices fit the memory budget."""
        return not self.is_sparse and self.fits_square(_GRAM_MATRICES)

    @property
    def is_wide(self) -> bool:
        """Whether dense features are so many that solvers make no D x D matrix: in slabs, or beyond the memory."""
        return not self.is_sparse and (self.in_slabs or not self.fits_square(_GRAM_MATRICES))

    def read(self, X: Rows) -> Rows | SlabRows:
        """Return the features of checked rows as passes read them: in slabs where the solver takes these."""
        slabs = self.feature_map.in_slabs(X) if self.in_slabs else None
        return self.made(X) if slabs is None else slabs

    def made(self, X: Rows) -> Rows:
        """Return the features of checked rows."""
        if self.is_sparse:
            return self.feature_map.transform(X)
        Z = empty((X.shape[0], self.n_features), dtype=X.dtype)
        self.feature_map.write_features(X, Z)
        return Z

    def _parts(self, block: Block) -> Parts:
        if self.holds:
            return block.X, block.y, block.sample_weight
        return self.read(block.X), self.targets.encode(block), self.targets.weight(block)

    def _hold(self) -> None:
        Z, Y, weight = self.matrix()
        reader = ArraySource(self.passes.owner, Z)
        owner, plan = self.passes.owner, self._source.plan
        self._held = Blocks(reader, self.block_rows, y=Y, sample_weight=weight, owner=owner, trusted=True, plan=plan)

    def _dense_matrix(self, title: str, work: Callable[[Block], S] | None = None, into: S | None = None) -> Parts:
        """Make the features of all rows, and in the same pass merge ``work`` of each block of them into ``into``."""
        Z = empty((self.n_rows, self.n_features), dtype=self.dtype)
        parts: dict[int, tuple[Rows, Array | None]] = {}

        def make(block: Block) -> Block:
            features = Z[block.first_row : block.first_row + block.n_rows]
            self.feature_map.write_features(block.X, features)
            Y, weight = parts[block.first_row] = self.targets.encode(block), self.targets.weight(block)
            return Block(features, Y, weight, block.first_row)

        if work is None or into is None:
            self.passes.for_each(title, make, self._source)
        else:
            self.passes.reduce(title, lambda block: work(make(block)), self._source, into, writes=True)
        ordered = [parts[first] for first in sorted(parts)]
        return Z, _joined([Y for Y, _ in ordered]), _joined([weight for _, weight in ordered])

    def _sparse_matrix(self) -> Parts:
        parts = list(self.passes.map("features", self._parts, self._source))
        Z = sparse.vstack([Z for Z, _, _ in parts], format="csr")
        return Z, _joined([Y for _, Y, _ in parts]), _joined([weight for _, _, weight in parts])


def _mean(Z: Rows | SlabRows) -> Array:
    """Return the mean of rows of features in float64."""
    if isinstance(Z, SlabRows):
        return np.concatenate([part.mean(axis=0, dtype=np.float64) for _, part in Z.slabs()])
    return np.asarray(Z.mean(axis=0, dtype=np.float64)).ravel()


@dataclass(frozen=True)
class FeaturePasses:
    """Passes over the features of all rows, for solvers that go row by row: each call is a pass."""

    rows: FeatureRows
    title: str

    def __call__(self) -> Iterator[Parts]:
        """Yield ``(Z, Y, weight)`` of all blocks."""
        return self.rows.each(self.title)

    def after(self, row: int) -> Iterator[Parts]:
        """Yield ``(Z, Y, weight)`` of the blocks from a row on."""
        return self.rows.each(self.title, row)


def _joined(parts: list[Array | None]) -> Array | None:
    given = [part for part in parts if part is not None]
    return np.concatenate(given) if given else None
