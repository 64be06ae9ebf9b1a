"""Block kernel approximation: exact within clusters, zero between them."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve
from sklearn.utils import check_random_state

from mercer._typing import Array, RowsLike, Seed
from mercer.gram.base import GramOperator, RowNumbers, as_columns, check_ridge, row_numbers
from mercer.gram.partition import Partition
from mercer.kernels import Kernel
from mercer.validation import check_integer, check_matrix, check_memory


class BlockGram(GramOperator):
    r"""The block diagonal of the Gram matrix, for a partition of the rows by k-means.

    .. math:: \tilde K = K^{(1,1)} \oplus \cdots \oplus K^{(c,c)}

    Positive semi-definite, exact for pairs in the same cluster, zero for other pairs. Suited to narrow kernels (large
    gamma), whose Gram matrix is not of low rank.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix of shape (n, d)
    n_clusters : int
        Memory is about n^2 / n_clusters numbers for clusters of equal size; ``solve`` costs sum n_s^3 / 3.
    random_state : int, RandomState or None
        Seed of the initial centres of k-means.

    Attributes
    ----------
    partition_ : Partition
    blocks_ : list of ndarray
        The exact blocks, in the order of the clusters.

    References
    ----------
    S. Si, C.-J. Hsieh and I. Dhillon, "Memory efficient kernel approximation", ICML 2014, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian
    >>> from mercer.gram import BlockGram
    >>> X = np.array([[0.0], [0.1], [9.0], [9.1]])
    >>> K = BlockGram(Gaussian(gamma=1.0), X, n_clusters=2, random_state=0)
    >>> K.frobenius_error(X) < 1e-12, K.memory_bytes - K.partition_.memory_bytes
    (True, 64)
    """

    def __init__(self, kernel: Kernel, X: RowsLike, *, n_clusters: int, random_state: Seed = None):
        X = check_matrix("BlockGram", "X", X)
        n_clusters = check_integer("BlockGram", "n_clusters", n_clusters)
        self.kernel_ = kernel
        self._n_rows, self._dtype = int(X.shape[0]), np.dtype(X.dtype)
        self.partition_ = Partition.of(X, n_clusters, check_random_state(random_state))
        sizes = np.diff(self.partition_.ends, prepend=0)
        n_bytes = int((sizes.astype(float) ** 2).sum()) * self._dtype.itemsize
        check_memory("BlockGram", "n_clusters", n_clusters, n_bytes, f"blocks of up to {sizes.max()} rows")
        self.blocks_ = [kernel(X[self.partition_.order[part]]) for part in self.partition_.slices]

    def _members(self) -> list[Array]:
        return [self.partition_.order[part] for part in self.partition_.slices]

    def _matmat(self, V: Array) -> Array:
        out = np.empty((self._n_rows, V.shape[1]), dtype=np.result_type(self._dtype, V.dtype))
        for block, members in zip(self.blocks_, self._members(), strict=True):
            out[members] = block @ V[members]
        return out

    def rows(self, i: RowNumbers) -> Array:
        """Return rows of the matrix."""
        numbers = row_numbers(i, self._n_rows)
        asked = np.atleast_1d(numbers)
        out = np.zeros((len(asked), self._n_rows), dtype=self._dtype)
        for block, members in zip(self.blocks_, self._members(), strict=True):
            place = np.full(self._n_rows, -1)
            place[members] = np.arange(len(members))
            here = np.flatnonzero(place[asked] >= 0)
            out[np.ix_(here, members)] = block[place[asked[here]]]
        return out[0] if np.ndim(numbers) == 0 else out

    def diagonal(self) -> Array:
        """Return k(x, x) of every row."""
        out = np.empty(self._n_rows, dtype=self._dtype)
        for block, members in zip(self.blocks_, self._members(), strict=True):
            out[members] = np.diagonal(block)
        return out

    @property
    def memory_bytes(self) -> int:
        """Bytes of the blocks and of the partition."""
        return sum(block.nbytes for block in self.blocks_) + self.partition_.memory_bytes

    def solve(self, B: ArrayLike, *, alpha: float) -> Array:
        """Return (K + alpha I)^-1 B, exactly, by a Cholesky factorisation of each block."""
        alpha = check_ridge("BlockGram", alpha)
        columns, vector = as_columns("BlockGram", B, self._n_rows)
        out = np.empty_like(columns)
        for block, members in zip(self.blocks_, self._members(), strict=True):
            ridged = block.astype(np.float64)
            ridged[np.diag_indices_from(ridged)] += alpha
            out[members] = cho_solve(cho_factor(ridged, overwrite_a=True), columns[members])
        return out[:, 0] if vector else out
