"""Tables of the core: weights in its layout, norms of rows, and shares of threads."""

import numpy as np
import pytest
from scipy import sparse

from mercer import config_context
from mercer.solvers.support_vectors.tables import row_squares, shares, weight_table


@pytest.mark.parametrize(("n_problems", "padded"), [(1, 1), (2, 8), (8, 8), (9, 16)])
def test_weights_of_csr_rows_are_padded_columns(rng, n_problems, padded):
    Z, value = rng.standard_normal((4, 3)).astype(np.float32), rng.standard_normal((n_problems, 3))
    dense, columns = weight_table(Z, value), weight_table(sparse.csr_array(Z), value)
    assert dense.dtype == columns.dtype == np.float32
    assert columns.shape == (3, padded)
    np.testing.assert_array_equal(dense, value.astype(np.float32))
    np.testing.assert_array_equal(columns[:, :n_problems].T, dense)
    assert not columns[:, n_problems:].any()
    dense[:] = 0
    assert value.all()  # a copy


def test_squared_norms_are_the_same_for_sparse_rows(rng):
    Z = rng.standard_normal((5, 3))
    np.testing.assert_allclose(row_squares(Z), (Z**2).sum(axis=1))
    np.testing.assert_allclose(row_squares(sparse.csr_array(Z)), row_squares(Z))


def test_threads_share_all_problems():
    with config_context(threads=3):
        assert shares(7) == [slice(0, 2), slice(2, 5), slice(5, 7)]
        assert shares(2) == [slice(0, 1), slice(1, 2)]
