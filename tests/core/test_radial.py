"""Near pairs, exponentials and Matern functions: compiled equals reference at every level, at odd sizes."""

import numpy as np
import pytest

from mercer import _core, reference

SHAPES = [(1.0, 0.0, 0.0), (3.0, 1.0, 0.0), (5.0, 1.0, 1 / 3)]
SIZES = [(1, 1, 1), (2, 63, 3), (3, 64, 8), (7, 65, 1), (20, 200, 40), (0, 5, 2), (5, 0, 2), (3, 4, 0)]


@pytest.mark.parametrize(("n", "m", "d"), SIZES)
def test_near_pairs_are_those_of_the_reference(level, dtype, n, m, d, rng):
    left = np.ones((n, d + 2), dtype)  # rows with other entries between them
    left[:, :d] = rng.standard_normal((n, d))
    X, fixed = left[:, :d], rng.standard_normal((m, d)).astype(dtype)
    bounds, fixed_bounds = rng.random_sample(n).astype(dtype), rng.random_sample(m).astype(dtype)
    found = (4 * rng.random_sample((n, m))).astype(dtype)
    expected = found.copy()
    _core.near_squares(X, fixed, bounds, fixed_bounds, found)
    reference.near_squares(X, fixed, bounds, fixed_bounds, expected)
    np.testing.assert_allclose(found, expected, rtol=4 * max(1, d) ** 0.5 * np.finfo(dtype).eps)


def test_entries_that_are_not_near_stay(level, dtype):
    q = np.array([[2.0, 2.1, np.nan, np.inf]], dtype=dtype)
    _core.near_squares(np.ones((1, 1), dtype), np.zeros((4, 1), dtype), np.ones(1, dtype), np.ones(4, dtype), q)
    np.testing.assert_array_equal(q, np.array([[1.0, 2.1, np.nan, np.inf]], dtype=dtype))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [(1, 1), (3, 7), (5, 33), (0, 4), (4, 0)])
def test_matern_functions_are_those_of_the_reference(level, dtype, shape, size, rng):
    found = (10 * rng.random_sample((size[0], size[1] + 3)) ** 4).astype(dtype)[:, : size[1]]
    expected = found.copy()
    _core.matern_values(*shape, found)
    reference.matern_values(*shape, expected)
    np.testing.assert_allclose(found, expected, rtol=16 * np.finfo(dtype).eps)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("primitives", [_core, reference], ids=["compiled", "reference"])
def test_matern_functions_at_the_ends(level, dtype, shape, primitives):
    values = np.array([[0.0, 1e30, np.inf, np.nan]], dtype=dtype)
    primitives.matern_values(*shape, values)
    np.testing.assert_array_equal(values, np.array([[1.0, 0.0, 0.0, np.nan]], dtype=dtype))


@pytest.mark.parametrize("factor", [1.0, -0.3])
@pytest.mark.parametrize("size", [(1, 1), (3, 7), (5, 33), (2, 600), (0, 4), (4, 0)])
def test_exponentials_are_those_of_the_reference(level, dtype, factor, size, rng):
    found = (10 * rng.standard_normal((size[0], size[1] + 3))).astype(dtype)[:, : size[1]]
    expected = found.copy()
    _core.decays(factor, found)
    reference.decays(factor, expected)
    np.testing.assert_allclose(found, expected, rtol=16 * np.finfo(dtype).eps)


@pytest.mark.parametrize("primitives", [_core, reference], ids=["compiled", "reference"])
def test_exponentials_at_the_ends(level, dtype, primitives):
    values = np.array([[0.0, 1.0, np.inf, -np.inf, -1e30, np.nan]], dtype=dtype)
    primitives.decays(1.0, values)
    np.testing.assert_array_equal(values, np.array([[1.0, 1.0, 1.0, 0.0, 0.0, np.nan]], dtype=dtype))


def test_wrong_shapes_are_refused():
    X, fixed, q = np.ones((2, 3)), np.ones((4, 3)), np.ones((2, 4))
    with pytest.raises(ValueError, match=r"fixed.shape\[1\] must be X.shape\[1\]"):
        _core.near_squares(X, np.ones((4, 2)), np.ones(2), np.ones(4), q)
    with pytest.raises(ValueError, match=r"q.shape\[1\] must be fixed.shape\[0\]"):
        _core.near_squares(X, fixed, np.ones(2), np.ones(4), np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"len\(bounds\) must be X.shape\[0\]"):
        _core.near_squares(X, fixed, np.ones(3), np.ones(4), q)
    with pytest.raises(ValueError, match=r"len\(fixed_bounds\) must be fixed.shape\[0\]"):
        _core.near_squares(X, fixed, np.ones(2), np.ones(3), q)
