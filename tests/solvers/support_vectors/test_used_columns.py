"""Columns without entries: the solution is that of all columns."""

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers import BoxProblems, coordinate_descent
from mercer.solvers.support_vectors.used_columns import UsedColumns


@pytest.fixture
def rows(rng):
    Z = sparse.random_array((40, 12), density=0.4, rng=rng, format="csr")
    spread = np.sort(rng.choice(5000, size=12, replace=False))
    wide = sparse.csr_array((Z.data, spread[Z.indices], Z.indptr), shape=(40, 5000))
    return Z, wide, spread


def test_only_used_columns_are_kept(rows):
    Z, wide, spread = rows
    used, kept = UsedColumns.of(wide)
    np.testing.assert_array_equal(used.numbers, spread)
    np.testing.assert_array_equal(kept.toarray(), Z.toarray())


@pytest.mark.parametrize("Z", [np.eye(3), sparse.csr_array(np.eye(3)), sparse.csr_array((2, 50))])
def test_rows_that_stay_as_they_are(Z):
    used, kept = UsedColumns.of(Z)
    assert kept is Z
    assert used.numbers is None


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_solution_of_wide_rows_is_that_of_narrow_ones(rows, rng, loss, dtype):
    Z, wide, spread = (part.astype(dtype) if sparse.issparse(part) else part for part in rows)
    problems = BoxProblems.of(loss, np.sign(rng.standard_normal((40, 2))), np.ones(40))
    narrow, found = coordinate_descent(Z, problems), coordinate_descent(wide, problems)
    assert found.value.shape == (2, 5001)
    np.testing.assert_array_equal(found.value[:, [*spread, -1]], narrow.value)
    assert np.count_nonzero(found.value) <= 2 * 13
    assert found.gap == narrow.gap
