"""Fourier features in slabs that are drawn from a seed whenever they are needed, and never stored."""

from collections.abc import Iterator
from copy import copy
from threading import Lock
from typing import Self
from weakref import WeakKeyDictionary

import numpy as np

from mercer._typing import Array, Rows, Seed, override
from mercer.features.base import Writer
from mercer.features.fourier.phases import PhaseFeatures, require_shift_invariant, write_phases
from mercer.features.fourier.shift_invariant import ShiftInvariantFeatures
from mercer.features.kernel_map import KernelMap
from mercer.kernels import Gaussian, Kernel
from mercer.kernels.frequencies import frequency_distribution
from mercer.parallel import for_each_block, row_blocks
from mercer.recycling import empty
from mercer.state import Count, Sizes, Stored
from mercer.stats.slabs import Slab, SlabRows
from mercer.validation import check_integer

# Features beyond which ``feature_map`` takes this map, whose memory does not grow with the number of features.
WIDE = 32_768
# Bytes of drawn slabs that a process keeps per map. A slab on few columns takes as long to draw as its features on a
# thousand rows take to make.
_KEPT_BYTES = 2**26
# Rows whose features in one slab are in memory at once, where a caller gives more.
_ROWS = 4096

_kept: "WeakKeyDictionary[SeededBlocks, _Drawn]" = WeakKeyDictionary()
_guard = Lock()


class SeededBlocks(KernelMap):
    r"""Random Fourier features for very large D: slabs of features, each drawn from its own seed when it is needed.

    Slab b is a map of ``slab`` features, drawn with a seed that depends on ``random_state`` and b alone. The slabs side
    by side, each scaled by :math:`\sqrt{\mathrm{slab} / D}`, have the mean of the slabs' kernels. A fitted map holds
    one integer and the kernel, whatever D; so does a model file. ``KernelRidge``, ``KernelRidgeClassifier``,
    ``KernelLogisticRegression`` and the squared losses of ``KernelSVC`` and ``KernelSVR`` read the features slab by
    slab, and predict slab by slab: at D = 500,000, 4096 rows of features in a slab take 64 MiB (float32) instead of 8
    GB. ``feature_map`` takes this map for shift-invariant kernels beyond 32,768 features, and so do learners.

    Parameters
    ----------
    kernel : shift-invariant kernel, default=Gaussian()
    n_components : int, default=100
        Number of features D.
    slab : int, default=4096
        Features per slab; the last slab has the rest. With an even ``slab``, two maps of one seed share their first
        slabs, apart from the scale.
    random_state : int, RandomState or None

    Attributes
    ----------
    seed_ : int
        All slabs are drawn from this number.
    slab_ : int
        Features per slab.
    kernel_ : Kernel

    Notes
    -----
    Time per row as ``OrthogonalFeatures`` (radial kernels; fast transforms from 64 columns on), ``QuasiRandomFeatures``
    (up to 4 columns) or ``FourierFeatures`` (others); the draws are added once per block of rows. A process keeps up to
    64 MiB of drawn slabs.

    ``transform`` returns all features at once, and refuses what does not fit in memory. Learners that need all features
    of a row at once (``KernelPCA``, ``KernelKMeans``, the hinge loss) take the map too, in blocks of few rows.

    References
    ----------
    S. Tu, R. Roelofs, S. Venkataraman and B. Recht, "Large scale kernel learning using block coordinate descent", 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian
    >>> from mercer.features import SeededBlocks
    >>> X = np.random.RandomState(0).randn(5, 8)
    >>> wide = SeededBlocks(Gaussian(gamma=0.1), n_components=20_000, random_state=0).fit(X)
    >>> Z = wide.transform(X)
    >>> bool(np.abs(Z @ Z.T - wide.kernel_(X)).max() < 0.05)
    True
    >>> [Z.shape for _, Z in wide.slabs(X)]
    [(5, 4096), (5, 4096), (5, 4096), (5, 4096), (5, 3616)]
    """

    _stored = Stored(seed_=Count(most=2**31 - 1), slab_=Count(least=1))

    _natural_kernel = Gaussian()
    has_slabs = True

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int = 100,
        slab: int = 4096,
        random_state: Seed = None,
    ):
        super().__init__(kernel, n_components=n_components, random_state=random_state)
        self.slab = slab

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        require_shift_invariant("SeededBlocks", kernel)
        check_integer("SeededBlocks", "slab", self.slab)

    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        self.seed_, self.slab_ = int(rng.randint(2**31 - 1)), self.slab
        return n_components

    @property
    def n_slabs(self) -> int:
        """The number of slabs."""
        return -(-self.n_features_out_ // self.slab_)

    def columns_of(self, number: int) -> slice:
        """Return the columns of a slab among the features."""
        return slice(number * self.slab_, min((number + 1) * self.slab_, self.n_features_out_))

    def slab_map(self, number: int) -> PhaseFeatures:
        """Return the map of one slab, fitted: drawn now, or kept from an earlier call."""
        state = self.seed_, self.slab_, self.n_features_in_, self.n_features_out_, self.kernel_
        with _guard:
            drawn = _kept.get(self)
            if drawn is None or drawn.state != state:
                drawn = _kept[self] = _Drawn(state)
        found = drawn.slabs.get(number)
        if found is None:
            columns = self.columns_of(number)
            found = _drawn_slab(self.kernel_, columns.stop - columns.start, self.n_features_in_, (self.seed_, number))
            if (len(drawn.slabs) + 1) * _slab_bytes(found) <= _KEPT_BYTES:
                drawn.slabs[number] = found
        return found

    def slabs(self, X: Rows) -> Iterator[Slab]:
        """Yield the columns and the features of each slab, of checked rows; one array serves all slabs."""
        buffer = empty((X.shape[0], min(self.slab_, self.n_features_out_)), dtype=X.dtype)
        for number in range(self.n_slabs):
            columns = self.columns_of(number)
            Z = buffer[:, : columns.stop - columns.start]
            self.write_slab(number, X, Z)
            yield columns, Z

    @override
    def write_features(self, X: Rows, out: Array) -> None:
        for number in range(self.n_slabs):
            self.write_slab(number, X, out[:, self.columns_of(number)])

    def write_slab(self, number: int, X: Rows, out: Array) -> None:
        """Write the features of one slab of checked rows."""
        write = self._slab_writer(number, X)

        def work(rows: slice) -> None:
            write_phases("SeededBlocks", write, X, rows, out[rows])

        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by ``write_phases``
            for_each_block(work, row_blocks(X.shape[0], self._rows_in_work(X)))

    def _slab_writer(self, number: int, X: Rows) -> Writer:
        return self.slab_map(number).scaled_writer(X, (2 / self.n_features_out_) ** 0.5)

    @override
    def in_slabs(self, X: Rows) -> SlabRows:
        return SlabRows((X.shape[0], self.n_features_out_), X.dtype, lambda: self.slabs(X))

    @property
    @override
    def features_at_once(self) -> int:
        return min(self.slab_, self.n_features_out_)

    @override
    def writer(self, X: Rows) -> Writer:
        def write(rows: slice, out: Array) -> bool:
            # all slabs are written, whatever the first ones find
            finite = [
                bool(self._slab_writer(number, X)(rows, out[:, self.columns_of(number)]))
                for number in range(self.n_slabs)
            ]
            return all(finite)

        return write

    @override
    def _write_checked(self, write: Writer, X: Rows, rows: slice, out: Array) -> None:
        write_phases("SeededBlocks", write, X, rows, out)

    @override
    def times(self, X: Rows, weights: Array) -> Array:
        blocks = row_blocks(X.shape[0], _ROWS)
        out = np.empty((X.shape[0], weights.shape[1]), dtype=X.dtype)
        for rows in blocks:
            out[rows] = self.in_slabs(X[rows]) @ weights
        return out

    @override
    def block_rows(self, n_rows: int) -> int:
        return self.slab_map(0).block_rows(n_rows)

    @override
    def scratch_bytes(self, X: Rows) -> float:
        return self.slab_map(0).scratch_bytes(X)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        total = np.zeros((X.shape[0], Y.shape[0]))
        for number, count in ((0, self.n_slabs - 1), (self.n_slabs - 1, 1)):
            drawn = self.slab_map(number)
            part = drawn.exact_variance(X, Y)
            if part is None:
                return None
            total += count * (drawn.n_features_out_ / self.n_features_out_) ** 2 * part
        return total

    @override
    def reaches(self, n_features: int, level: float) -> Array | None:
        return frequency_distribution(self.kernel_, n_features).reaches(level)

    def first_slabs(self, count: int) -> Self:
        """Return the fitted map of the first ``count`` slabs alone: the same features, but for their scale."""
        other = copy(self)
        other.n_components = other.n_features_out_ = self.columns_of(count - 1).stop
        return other

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        check_integer("SeededBlocks", "slab", self.slab)


class _Drawn:
    """The slabs of a map that a process keeps, and what they were drawn from."""

    def __init__(self, state: tuple[int, int, int, int, Kernel]):
        self.state = state
        self.slabs: dict[int, PhaseFeatures] = {}


def _drawn_slab(kernel: Kernel, width: int, n_columns: int, seed: tuple[int, int]) -> PhaseFeatures:
    """Draw a slab; its random numbers depend on the seed of the map and on the number of the slab alone."""
    drawn = ShiftInvariantFeatures.kind_for(kernel, n_columns)(kernel, n_components=width)
    rng = np.random.RandomState(np.random.SeedSequence(seed).generate_state(8))
    drawn.fit_member(np.zeros((1, n_columns)), rng)
    return drawn


def _slab_bytes(drawn: PhaseFeatures) -> int:
    """Return the bytes of the arrays of a drawn slab, with a copy of them in another precision."""
    return 2 * sum(value.nbytes for value in vars(drawn).values() if isinstance(value, np.ndarray))
