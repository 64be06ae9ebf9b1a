"""Tables in the layout of the core's coordinate descent, and how threads share the problems."""

from itertools import pairwise

import numpy as np

from mercer._typing import Array, Rows
from mercer.config import get_config

# Number of problems in one row of the table of weights for CSR rows: that of the numbers in a SIMD register.
_LANES = 8


def weight_table(Z: Rows, value: Array) -> Array:
    """Return a copy of weights (K, D) as the core reads them: as they are, or (D, K padded to 8) for CSR rows.

    >>> import numpy as np
    >>> from scipy import sparse
    >>> weight_table(sparse.csr_array(np.eye(3)), np.ones((2, 3))).shape
    (3, 8)
    """
    if isinstance(Z, np.ndarray):
        return np.array(value, dtype=Z.dtype, order="C")
    n_problems = len(value)
    padded = n_problems if n_problems == 1 else -(-n_problems // _LANES) * _LANES
    weights = np.zeros((value.shape[1], padded), dtype=Z.dtype)
    weights[:, :n_problems] = value.T
    return weights


def row_squares(Z: Rows) -> Array:
    """Return the squared norms of the rows."""
    if isinstance(Z, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", Z, Z))
    return np.ravel(Z.multiply(Z).sum(axis=1))


def shares(n_problems: int) -> list[slice]:
    """Share the problems among the threads; the result of a problem does not depend on the others of its thread."""
    n_groups = min(get_config().threads, n_problems)
    ends = np.linspace(0, n_problems, n_groups + 1).round().astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]
