"""Features from kernel values at landmarks: compiled against reference, reference against the definition."""

import numpy as np
import pytest
from oracle import assert_agrees, draw_rows, empty, strided

from mercer import _core, reference

SHAPES = [(1, 1, 1), (3, 5, 5), (7, 13, 6), (4, 48, 48), (56, 131, 100), (5, 300, 290), (3, 700, 49)]


def _projection(rng, m, r, first, dtype):
    weights = rng.standard_normal((m, r)).astype(dtype)
    weights[np.arange(m)[:, np.newaxis] >= first + np.arange(r)] = 0
    return weights


@pytest.mark.parametrize(("d", "m", "r"), SHAPES)
def test_compiled_equals_reference(level, dtype, d, m, r):
    rng = np.random.default_rng(m)
    for n in (1, 7, 16, 17, 130):
        for first in (m - r + 1, m):
            left, right = draw_rows(rng, n, d, dtype), draw_rows(rng, d, m, dtype) / 4
            weights = _projection(rng, m, r, first, dtype)
            out, expected = strided(empty((n, r), dtype)), empty((n, r), np.float64)
            _core.landmark_features(strided(left), strided(right), strided(weights), first, out)
            double = (array.astype(np.float64) for array in (left, right, weights))
            reference.landmark_features(*double, first, expected)
            # An error of the exponent is one of the value: about |left| |right| terms of d roundings, and m more.
            assert_agrees(out, expected.astype(dtype), terms=m + d * np.square(left).sum(axis=1).max())


def test_the_reference_is_the_definition():
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((9, 4)), rng.standard_normal((4, 300))
    weights = _projection(rng, 300, 280, 21, np.float64)
    out = empty((9, 280), np.float64)
    reference.landmark_features(left, right, weights, 21, out)
    np.testing.assert_allclose(out, np.exp(np.minimum(left @ right, 0)) @ weights, atol=1e-10)


def test_the_exponential(level, dtype):
    x = -np.linspace(0, 86 if dtype == np.float32 else 700, 10_001).astype(dtype)[:, np.newaxis]
    out, one = empty(x.shape, dtype), np.ones((1, 1), dtype)
    _core.landmark_features(x, one, one, 1, out)
    np.testing.assert_allclose(out, np.exp(x.astype(np.float64)), rtol=2 * np.finfo(dtype).eps)
    x = np.array([[3.0], [0.0], [-1e30], [-np.inf], [np.nan]], dtype=dtype)
    _core.landmark_features(x, one, one, 1, out[:5])
    np.testing.assert_array_equal(out[:5, 0], [1, 1, 0, 0, np.nan])


def test_bad_arguments_are_named():
    left, right, weights, out = np.ones((2, 3)), np.ones((3, 5)), np.ones((5, 4)), np.empty((2, 4))
    with pytest.raises(ValueError, match=r"right.shape\[0\] must be left.shape\[1\] = 3, got 2"):
        _core.landmark_features(left, right[:2], weights, 5, out)
    with pytest.raises(ValueError, match=r"projection.shape\[0\] must be right.shape\[1\] = 5, got 4"):
        _core.landmark_features(left, right, weights[:4], 5, out)
    with pytest.raises(ValueError, match=r"first must lie in \[0, right.shape\[1\]\] = \[0, 5\], got 6"):
        _core.landmark_features(left, right, weights, 6, out)
