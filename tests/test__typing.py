"""Types that many packages share: what tells sparse rows from dense ones."""

import numpy as np
import pytest
from scipy import sparse

from mercer._typing import is_sparse


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_sparse_rows_of_every_kind_are_sparse(kind):
    assert is_sparse(kind(np.eye(2)))


@pytest.mark.parametrize("X", [np.eye(2), [[1.0]], None])
def test_nothing_else_is_sparse(X):
    assert not is_sparse(X)
