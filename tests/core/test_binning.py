"""Hashes of grid cells: compiled against reference, reference against its definition."""

import numpy as np
import pytest
from oracle import draw_rows, strided

from mercer import _core, reference


def _grids(rng, n_grids, d, dtype):
    inverse = (1 / rng.gamma(2.0, 1.0, (n_grids, d))).astype(dtype)
    shifts = rng.uniform(0, 1, (n_grids, d)).astype(dtype)
    multipliers = rng.integers(2**32, size=(n_grids, d), dtype=np.uint32) | np.uint32(1)
    return inverse, shifts, multipliers


@pytest.mark.parametrize("n", [1, 7, 16, 17, 32, 33, 70])
@pytest.mark.parametrize(("d", "n_grids"), [(1, 1), (3, 16), (16, 17), (123, 40)])
def test_compiled_equals_reference(level, dtype, n, d, n_grids):
    rng = np.random.default_rng(n)
    X = 5 * draw_rows(rng, n, d, dtype)
    grids = _grids(rng, n_grids, d, dtype)
    out, expected = np.empty((n, n_grids), dtype=np.uint32), np.empty((n, n_grids), dtype=np.uint32)
    _core.cell_hashes(strided(X), *grids, out)
    reference.cell_hashes(X, *grids, expected)
    # A fused multiply-add rounds once where two instructions round twice: a row within that of a border may differ.
    positions = X[:, np.newaxis, :] * grids[0] + grids[1]
    border = np.abs(positions - np.rint(positions)) < 4 * np.finfo(dtype).eps * (1 + np.abs(positions))
    same = out == expected
    assert np.all(same | border.any(axis=2))
    assert same.any()


def test_the_hash_is_that_of_the_floor(rng):
    X = rng.standard_normal((20, 3)) * 10
    inverse, shifts, multipliers = _grids(np.random.default_rng(0), 2, 3, np.float64)
    out = np.empty((20, 2), dtype=np.uint32)
    reference.cell_hashes(X, inverse, shifts, multipliers, out)
    for g in range(2):
        cells = [tuple(np.floor(row * inverse[g] + shifts[g]).astype(int)) for row in X]
        assert len(set(cells)) == len(set(out[:, g].tolist()))
        for cell, hashed in zip(cells, out[:, g], strict=True):
            h = sum(int(m) * int(c) for m, c in zip(multipliers[g], cell, strict=True)) % 2**32
            h = (h ^ h >> 16) * 0x85EBCA6B % 2**32
            h = (h ^ h >> 13) * 0xC2B2AE35 % 2**32
            assert h ^ h >> 16 == hashed


def test_a_grid_of_another_width_is_refused():
    grids = _grids(np.random.default_rng(0), 4, 3, np.float64)
    with pytest.raises(ValueError, match=r"inverse_pitches.shape\[1\] must be X.shape\[1\] = 2, got 3"):
        _core.cell_hashes(np.ones((5, 2)), *grids, np.empty((5, 4), dtype=np.uint32))
