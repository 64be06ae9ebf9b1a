"""The map of a shift-invariant kernel, chosen when the number of columns is known."""

from math import log2

import numpy as np

from mercer._typing import Array, Rows, is_sparse, override
from mercer.config import lasting_limit
from mercer.features.base import Writer
from mercer.features.fourier.independent import FourierFeatures
from mercer.features.fourier.orthogonal import LEAST_STRUCTURED, OrthogonalFeatures
from mercer.features.fourier.phases import PhaseFeatures, require_shift_invariant, write_phases
from mercer.features.fourier.quasi_random import QuasiRandomFeatures
from mercer.features.fourier.structured import padded_size
from mercer.features.kernel_map import KernelMap
from mercer.kernels import Gaussian, Kernel, RadialKernel
from mercer.kernels.frequencies import frequency_distribution
from mercer.state import Member, Stored

# Operations of fast transforms that take the time of one on a non-zero entry, whose frequencies lie far apart in memory
# (measured: fast transforms are the quicker ones below 1 to 15).
_OPERATIONS_PER_ENTRY = 16
# Bytes of frequencies, and their part of a limit set for the process, up to which they are worth their memory.
_TABLE_BYTES, _TABLE_SHARE = 2**30, 0.25
# Measured: up to here scrambled Sobol frequencies have 1.3 to 5 times less error than orthogonal ones.
_MOST_SOBOL_COLUMNS = 4


def few_entries(X: Rows, n_columns: int, n_components: int) -> bool:
    """Whether products with the non-zeros of CSR rows, of ``n_columns``, are quicker than fast transforms of them.

    The frequencies must also be worth their memory, which fast transforms do not need. The answer depends on the rows
    and on the limits set for the process, not on the memory that is free at the moment.
    """
    if not is_sparse(X) or n_columns < LEAST_STRUCTURED:
        return False
    n_frequencies, size = -(-n_components // 2), padded_size(n_columns)
    limit, table = lasting_limit(), 16 * n_columns * n_frequencies
    if table > (_TABLE_BYTES if limit is None else min(_TABLE_BYTES, _TABLE_SHARE * limit)):
        return False
    transforms = 3 * size * log2(size) * -(-n_frequencies // size)
    return bool(transforms > _OPERATIONS_PER_ENTRY * n_frequencies * X.nnz / max(1, X.shape[0]))


class ShiftInvariantFeatures(KernelMap):
    """The map that ``feature_map`` takes for a shift-invariant kernel: the best for the width that ``fit`` meets.

    Up to 4 columns ``QuasiRandomFeatures``; above, ``OrthogonalFeatures`` for radial kernels and ``FourierFeatures``
    for the rest (``Laplacian``, products). On CSR rows with few non-zeros ``FourierFeatures`` for radial kernels too:
    its time is that of the non-zeros, where fast transforms take that of all columns. On so many more columns than
    features, orthogonal frequencies have hardly less variance than independent ones.

    Parameters
    ----------
    kernel : shift-invariant kernel, default=Gaussian()
    n_components : int, default=100
    random_state : int, RandomState or None

    Attributes
    ----------
    map_ : fitted feature map
        The one chosen.
    kernel_ : Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian
    >>> from mercer.features import ShiftInvariantFeatures
    >>> ShiftInvariantFeatures(Gaussian(gamma=1.0)).fit(np.eye(8)).map_
    OrthogonalFeatures(kernel=Gaussian(gamma=1.0))
    """

    _stored = Stored(
        map_=Member(
            (FourierFeatures, OrthogonalFeatures, QuasiRandomFeatures), {"n_features_in_": "d", "n_features_out_": "D"}
        ),
    )

    _natural_kernel = Gaussian()

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        require_shift_invariant("ShiftInvariantFeatures", kernel)

    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        chosen = self.kind_for(kernel, X.shape[1])
        if chosen is OrthogonalFeatures and few_entries(X, X.shape[1], n_components):
            chosen = FourierFeatures
        self.map_ = chosen(kernel, n_components=n_components)
        self.map_.fit_member(X, rng)
        return self.map_.n_features_out_

    @staticmethod
    def kind_for(kernel: Kernel, n_features: int) -> type[PhaseFeatures]:
        """Return the class of the map that ``fit`` takes on this many columns, of rows that are dense."""
        if n_features <= _MOST_SOBOL_COLUMNS:
            return QuasiRandomFeatures
        return OrthogonalFeatures if isinstance(kernel, RadialKernel) else FourierFeatures

    @override
    def writer(self, X: Rows) -> Writer:
        return self.map_.writer(X)

    def _write_checked(self, write: Writer, X: Rows, rows: slice, out: Array) -> None:
        write_phases("ShiftInvariantFeatures", write, X, rows, out)

    @override
    def scratch_bytes(self, X: Rows) -> float:
        return self.map_.scratch_bytes(X)

    @override
    def block_rows(self, n_rows: int) -> int:
        return self.map_.block_rows(n_rows)

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        return self.map_.exact_variance(X, Y)

    @override
    def bias(self, X: Array, Y: Array) -> Array | float:
        return self.map_.bias(X, Y)

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        return self.map_.largest_feature(norm, X)

    @override
    def reaches(self, n_features: int, level: float) -> Array | None:
        return frequency_distribution(self.kernel_, n_features).reaches(level)
