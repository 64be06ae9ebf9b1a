"""Functions that return a new iterator at each call."""

import numpy as np
import pytest
from scipy import sparse

from mercer.data import as_blocks
from mercer.testing import check_reader


def _pieces(given, X, make):
    return lambda: ((make(X[i : i + 5]), given.y[i : i + 5], X[i : i + 5, 2]) for i in range(0, 23, 5))


@pytest.mark.parametrize("make", [np.asarray, np.ndarray.tolist, sparse.csr_array, sparse.coo_matrix])
def test_the_laws_of_a_source(given, make):
    X = sparse.csr_array(given.X) if sparse.issparse(make(given.X)) else given.X
    check_reader(
        lambda: _pieces(given, given.X, make), X, given.y, given.X[:, 2], missing=(lambda: lambda: [given.hole], 17)
    )


def test_one_buffer_for_all_blocks(given):
    buffer = np.empty((1, 3))

    def blocks():
        for row in given.X:
            buffer[0] = row
            yield buffer

    check_reader(lambda: blocks, given.X)


def test_columns_are_chosen_by_number(given):
    def rows():
        return [given.X]

    check_reader(lambda: as_blocks(rows, target=2, columns=[1]), given.X[:, [1]], given.X[:, 2])
    check_reader(lambda: as_blocks(lambda: [(given.X, given.y)], ignore=[0]), given.X[:, 1:], given.y)
    with pytest.raises(ValueError, match="y is given twice, by the source of X and as its column"):
        as_blocks(lambda: [(given.X, given.y)], target=0)
