"""Arrays, sparse matrices and memory maps."""

import numpy as np
import pytest
from scipy import sparse

from mercer.data import as_blocks
from mercer.testing import check_reader


@pytest.mark.parametrize(
    "make", [np.asarray, np.asfortranarray, np.ndarray.tolist, sparse.csr_array, sparse.csc_matrix, sparse.coo_array]
)
def test_the_laws_of_a_source(given, make):
    X = sparse.csr_array(given.X) if sparse.issparse(make(given.X)) else given.X
    check_reader(
        lambda: as_blocks(make(given.X), given.y, sample_weight=given.X[:, 2]),
        X,
        given.y,
        given.X[:, 2],
        missing=(lambda: make(given.hole), 17),
    )


@pytest.mark.parametrize("dtype", [np.float32, np.int16, bool])
def test_float32_stays_and_other_numbers_become_float64(given, dtype):
    X = given.X.astype(dtype)
    check_reader(lambda: X, X if dtype == np.float32 else X.astype(np.float64))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_columns_are_chosen_by_number_or_by_the_names_that_numbers_make(given, make):
    X, y = given.X[:, [1, 0]], given.X[:, 2]
    for choice in ({"target": -1, "columns": [1, 0]}, {"target": "x2", "columns": ["x1", "x0"]}):
        check_reader(lambda choice=choice: as_blocks(make(given.X), **choice), make(X), y)
    check_reader(
        lambda: as_blocks(make(given.X), target=0, sample_weight=2), make(given.X[:, [1]]), given.X[:, 0], given.X[:, 2]
    )


FAULTS = [
    ({"target": 3}, "the target 3 is not a column: columns are numbered from 0 to 2"),
    ({"target": "x7"}, "the target 'x7' is not a column.* The columns are 'x0', 'x1', 'x2'"),
    ({"columns": [0, 0]}, "'x0' is named in columns, twice"),
    ({"columns": [0, 1], "target": 1}, "'x1' is named in columns and the target"),
    ({"ignore": [0, 1, 2]}, "there is no column besides the target"),
    ({"target": 0, "y": np.ones(23)}, "y and target are both given"),
]


@pytest.mark.parametrize(("choice", "message"), FAULTS, ids=range(len(FAULTS)))
def test_choices_that_cannot_be_are_named(given, choice, message):
    with pytest.raises(ValueError, match=message):
        as_blocks(given.X, **choice)


def test_names_of_columns_are_not_made_unless_somebody_asks():
    wide = sparse.csr_array((2, 2**40))
    assert as_blocks(wide).width == 2**40
