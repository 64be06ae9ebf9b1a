"""What the parameter ``kernel`` and the rows of ``Nystroem`` may be."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian
from mercer.features.nystroem.inputs import bytes_of, is_function, is_precomputed, listed_objects


def test_kernels_functions_and_matrices_are_told_apart():
    values = [Gaussian(), np.minimum, "precomputed", "rbf", None]
    assert [is_function(value) for value in values] == [False, True, False, False, False]
    assert [is_precomputed(value) for value in values] == [False, False, True, False, False]


def test_objects_become_an_array_of_them_whatever_they_are():
    found = listed_objects(iter([[1, 2], [3], "x"]))
    assert found.dtype == object
    assert list(found) == [[1, 2], [3], "x"]
    with pytest.raises(ValueError, match="X is an empty list; give at least one object"):
        listed_objects([])
    with pytest.raises(ValueError, match="X must be a list of objects, as in fit, got 3"):
        listed_objects(3)


def test_the_bytes_of_sparse_arrays_are_those_of_their_parts():
    assert bytes_of(np.zeros((3, 2))) == 48
    X = sparse.csr_array(np.eye(3))
    assert bytes_of(X) == X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
