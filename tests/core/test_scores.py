"""Products with few columns: compiled against reference, of every width of a tile, and the choice of BLAS."""

import numpy as np
import pytest
from oracle import draw_rows, empty, strided

from mercer import _core, core, reference


@pytest.mark.parametrize("D", [1, 7, 8, 33, 512, 1500])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 7, 10])
def test_compiled_equals_reference(level, dtype, k, D):
    rng = np.random.default_rng(D)
    for n in (0, 1, 3, 4, 5, 33, 70):
        Z, W = draw_rows(rng, n, D, dtype), draw_rows(rng, k, D, dtype)
        out, expected = strided(empty((n, k), dtype)), empty((n, k), np.float64)
        _core.scores(strided(Z), strided(W), out)
        reference.scores(Z.astype(np.float64), W.astype(np.float64), expected)
        # 8 standard deviations of D roundings, each relative to a term: sums of D normal products are of size sqrt(D).
        np.testing.assert_allclose(out, expected, rtol=0, atol=8 * np.finfo(dtype).eps * D)


@pytest.mark.parametrize("k", [1, 2, 24, 25])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_any_layout_and_width(layout, k, rng):
    Z, weights = layout(rng.standard_normal((50, 40))), rng.standard_normal((40, k))
    np.testing.assert_allclose(core.scores(Z, weights), Z @ weights, atol=1e-12)
    out = np.empty((50, k))
    assert core.scores(Z, weights, out) is out


@pytest.mark.parametrize("k", [1, 2, 10])
def test_a_row_alone_has_the_bits_it_has_among_others(level, dtype, k):
    """Predictions must not depend on how rows are cut into blocks."""
    rng = np.random.default_rng(0)
    Z, W = draw_rows(rng, 70, 1100, dtype), draw_rows(rng, k, 1100, dtype)
    whole, single = empty((70, k), dtype), empty((70, k), dtype)
    _core.scores(Z, W, whole)
    for i in range(70):
        _core.scores(Z[i : i + 1], W, single[i : i + 1])
    np.testing.assert_array_equal(whole, single)


def test_bad_arguments_are_named():
    Z, W, out = np.ones((4, 3)), np.ones((2, 3)), np.empty((4, 2))
    with pytest.raises(ValueError, match=r"W.shape\[1\] must be Z.shape\[1\] = 3, got 2"):
        _core.scores(Z, W[:, :2], out)
    with pytest.raises(ValueError, match=r"out.shape\[0\] must be Z.shape\[0\] = 4, got 3"):
        _core.scores(Z, W, out[:3])
    with pytest.raises(ValueError, match=r"out.shape\[1\] must be W.shape\[0\] = 2, got 1"):
        _core.scores(Z, W, out[:, :1])
