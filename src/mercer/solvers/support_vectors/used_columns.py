"""Problems in the columns that some row uses: hashed features of a few objects leave nearly all columns empty."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from mercer._typing import Array, Rows, is_sparse
from mercer.solvers.solution import Solution

# Share of columns in use above which all of them are kept: less would save no time.
_MOST_USED = 0.5


@dataclass(frozen=True)
class UsedColumns:
    """The columns of CSR rows that hold an entry; None stands for all columns.

    Parameters
    ----------
    numbers : ndarray of int or None
    n_columns : int
        Of the rows as they were given.
    """

    numbers: Array | None
    n_columns: int

    @classmethod
    def of(cls, Z: Rows) -> tuple["UsedColumns", Rows]:
        """Return the columns in use, and the rows with these columns alone.

        >>> import numpy as np
        >>> from scipy import sparse
        >>> used, rows = UsedColumns.of(sparse.csr_array(np.array([[0.0, 2.0, 0.0, 0.0]])))
        >>> used.numbers.tolist(), rows.toarray().tolist()
        ([1], [[2.0]])
        """
        n_columns = Z.shape[1]
        if not is_sparse(Z):
            return cls(None, n_columns), Z
        is_used = np.zeros(n_columns, dtype=bool)
        is_used[Z.indices] = True
        numbers = np.flatnonzero(is_used)
        if len(numbers) > _MOST_USED * n_columns or not len(numbers):
            return cls(None, n_columns), Z
        place = np.cumsum(is_used, dtype=Z.indices.dtype) - 1
        kept = sparse.csr_array((Z.data, place[Z.indices], Z.indptr), shape=(Z.shape[0], len(numbers)))
        return cls(numbers, n_columns), kept

    def widened(self, solution: Solution) -> Solution:
        """Return a solution whose weights (K, used + 1) are those of all columns: 0 where no row has an entry."""
        if self.numbers is None:
            return solution
        value = np.zeros((len(solution.value), self.n_columns + 1), dtype=solution.value.dtype)
        value[:, self.numbers], value[:, -1] = solution.value[:, :-1], solution.value[:, -1]
        return replace(solution, value=value)
