"""The exact Gram matrix, recomputed for every product."""

from collections.abc import Callable

import numpy as np

from mercer._typing import Array, Rows, RowsLike
from mercer.gram.base import GramOperator, RowNumbers, row_numbers
from mercer.kernels import Kernel
from mercer.parallel import for_each_block, row_blocks
from mercer.validation import check_matrix

_TILE_ENTRIES = 2**20


class ExactGram(GramOperator):
    """k(X, X) as an operator that stores nothing: K @ V by tiles of rows.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix of shape (n, d)

    Notes
    -----
    X is not copied: if X changes, the matrix changes too.

    A product costs n^2 kernel values, O(n^2) operations per column, and the memory of a few tiles.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ExactGram, Gaussian
    >>> K = ExactGram(Gaussian(gamma=1.0), [[0.0], [1.0], [2.0]])
    >>> (K @ np.ones(3)).round(4)
    array([1.3862, 1.7358, 1.3862])
    """

    def __init__(self, kernel: Kernel, X: RowsLike):
        self.kernel_ = kernel
        self._X = check_matrix("ExactGram", "X", X)
        self._n_rows, self._dtype = int(self._X.shape[0]), np.dtype(self._X.dtype)

    def _matmat(self, V: Array) -> Array:
        columns = self._columns()
        out = np.empty((self._n_rows, V.shape[1]), dtype=np.result_type(self._dtype, V.dtype))

        def work(rows: slice) -> None:
            np.matmul(columns(self._X[rows]), V, out=out[rows])

        for_each_block(work, row_blocks(self._n_rows, max(1, _TILE_ENTRIES // self._n_rows)))
        return out

    def rows(self, i: RowNumbers) -> Array:
        """Return rows of the matrix."""
        numbers = row_numbers(i, self._n_rows)
        tile = self._columns()(self._X[np.atleast_1d(numbers)])
        return tile[0] if np.ndim(numbers) == 0 else tile

    def diagonal(self) -> Array:
        """Return k(x, x) of every row."""
        return np.asarray(self.kernel_.diag(self._X))

    def _columns(self) -> Callable[[Rows], Array]:
        # The function is made again for each product, on purpose: a stored function could not be pickled.
        tile: Callable[[Rows], Array] = self.kernel_.evaluator(self._X, self._dtype)
        return tile

    @property
    def memory_bytes(self) -> int:
        """Zero: a product allocates a few tiles and frees them."""
        return 0
