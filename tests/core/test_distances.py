"""L1 and squared distances: the compiled core equals NumPy at odd sizes, in both precisions."""

import numpy as np
import pytest

from mercer import _core, core, reference

NAMES = ["absolute_distances", "squared_distances"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (2, 32, 3), (3, 33, 8), (7, 65, 1), (50, 100, 130), (0, 5, 2)])
def test_compiled_equals_reference(name, dtype, n, m, d, rng):
    X, fixed = (rng.standard_normal((rows, d)).astype(dtype) for rows in (n, m))
    found, expected = np.empty((n, m), dtype), np.empty((n, m), dtype)
    getattr(_core, name)(X, fixed, found)
    getattr(reference, name)(X, fixed, expected)
    # a sum of d terms in one order or another
    np.testing.assert_allclose(found, expected, rtol=4 * d**0.5 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_coincide_have_distance_0(name, rng):
    X = (1e4 + rng.standard_normal((40, 6))).astype(np.float32)
    assert (np.diagonal(getattr(core, name)(X, X)) == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_wrong_shapes_are_refused(name):
    distances = getattr(_core, name)
    with pytest.raises(ValueError, match=r"fixed.shape\[1\] must be X.shape\[1\]"):
        distances(np.ones((2, 3)), np.ones((2, 2)), np.empty((2, 2)))
    with pytest.raises(ValueError, match=r"out.shape\[1\] must be fixed.shape\[0\]"):
        distances(np.ones((2, 3)), np.ones((4, 3)), np.empty((2, 2)))
