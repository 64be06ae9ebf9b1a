"""Cosines and sines of turns: compiled against longer arithmetic, and against the reference."""

import numpy as np
import pytest
from oracle import assert_agrees, empty

from mercer import _core, reference

# The bounds that the documentation states for a given phase, up to 1000 turns.
BOUND = {np.float32: 2e-7, np.float64: 5e-16}
TWO_PI = 2 * np.longdouble("3.14159265358979323846264338327950288")


def _turns(dtype, n=40_000):
    """Phases of all sizes, the ends of every fold among them."""
    rng = np.random.default_rng(0)
    folds = np.arange(-16, 17) / 16
    near = np.concatenate([folds, np.nextafter(folds, -2), np.nextafter(folds, 2)])
    spread = rng.uniform(-1000, 1000, n)
    dense = np.linspace(-0.5, 0.5, n)
    return np.concatenate([near, near + 999, spread, dense, dense + 500, [0.0, -0.0]]).astype(dtype)


def _exact(t):
    fraction = t.astype(np.longdouble)
    fraction -= np.rint(fraction)
    return np.cos(TWO_PI * fraction), np.sin(TWO_PI * fraction)


@pytest.mark.parametrize("primitive", [_core.cos_sin, reference.cos_sin], ids=["compiled", "reference"])
def test_pairs_are_within_the_stated_error(level, dtype, primitive):
    t = _turns(dtype)
    out = np.concatenate([t, np.full_like(t, np.nan)])[np.newaxis].copy()
    primitive(out, np.empty(0, dtype=dtype), 1.0)
    cosine, sine = _exact(t)
    assert np.abs(out[0, : len(t)] - cosine).max() < BOUND[dtype]
    assert np.abs(out[0, len(t) :] - sine).max() < BOUND[dtype]


@pytest.mark.parametrize("primitive", [_core.cos_sin, reference.cos_sin], ids=["compiled", "reference"])
def test_single_features_are_within_the_stated_error_of_their_rounded_phase(level, dtype, primitive):
    t = _turns(dtype)
    offsets = np.random.default_rng(1).uniform(0, 1, len(t)).astype(dtype)
    out = t[np.newaxis].copy()
    primitive(out, offsets, 1.0)
    fraction = t - np.rint(t)
    cosine, _ = _exact(fraction.astype(np.longdouble) + offsets)
    allowed = BOUND[dtype] + 2 * np.pi * np.finfo(dtype).eps  # the sum of fraction and offset, below 2, is rounded once
    assert np.abs(out[0] - cosine).max() < allowed


@pytest.mark.parametrize("n_rows", [1, 2, 9])
@pytest.mark.parametrize(("n_pairs", "n_single"), [(0, 1), (1, 0), (3, 1), (8, 0), (33, 5)])
def test_the_layout_and_the_scale(level, dtype, n_rows, n_pairs, n_single):
    rng = np.random.default_rng(0)
    wide = rng.uniform(-3, 3, (n_rows, 2 * n_pairs + n_single + 4)).astype(dtype)
    got, expected = wide[:, :-4], wide[:, :-4].astype(np.float64)
    offsets = rng.uniform(0, 1, n_single).astype(dtype)
    margin = wide[:, -4:].copy()
    _core.cos_sin(got, offsets, 0.3)
    reference.cos_sin(expected, offsets.astype(np.float64), 0.3)
    assert_agrees(got, expected.astype(dtype), terms=4)
    np.testing.assert_array_equal(wide[:, -4:], margin)


def test_a_width_without_room_for_pairs_is_refused():
    with pytest.raises(ValueError, match=r"out.shape\[1\] - len\(offsets\) must be even and not negative, got 3"):
        _core.cos_sin(empty((2, 4), np.float64), np.zeros(1), 1.0)


@pytest.mark.parametrize(("n_pairs", "n_single"), [(0, 1), (1, 0), (16, 0), (33, 5), (40, 24), (0, 40)])
@pytest.mark.parametrize("n_rows", [1, 6, 13])
@pytest.mark.parametrize("n_columns", [1, 7, 130])
def test_features_of_dense_rows_are_those_of_a_product_and_its_turns(
    level, dtype, n_rows, n_pairs, n_single, n_columns
):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n_rows, n_columns + 2)).astype(dtype)[:, 1:-1]
    W = rng.uniform(-1, 1, (n_columns, n_pairs + n_single + 3)).astype(dtype)[:, :-3]
    offsets = rng.uniform(0, 1, n_single).astype(dtype)
    wide = rng.uniform(-3, 3, (n_rows, 2 * n_pairs + n_single + 4)).astype(dtype)
    margin = wide[:, -4:].copy()
    expected = np.empty((n_rows, 2 * n_pairs + n_single))
    assert _core.fourier_features(X, W, offsets, 0.3, wide[:, :-4]) is True
    reference.fourier_features(X.astype(np.float64), W.astype(np.float64), offsets.astype(np.float64), 0.3, expected)
    # Every sum of d products is rounded at most d times, relative to the sum of their sizes; a turn is 2 pi of phase.
    rounding = np.finfo(dtype).eps * n_columns * (np.abs(X) @ np.abs(W)).max()
    assert np.abs(wide[:, :-4] - expected).max() < 0.3 * (2 * np.pi * rounding + 2 * BOUND[dtype])
    np.testing.assert_array_equal(wide[:, -4:], margin)


@pytest.mark.parametrize("core", [_core, reference], ids=["compiled", "reference"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (8, 4), (3, 2)])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_turns_that_are_not_finite_are_told(level, dtype, core, value, place):
    X, W = np.ones((9, 5), dtype=dtype), np.full((5, 20), 0.25, dtype=dtype)
    for n_single in (0, 3):
        out, offsets = np.zeros((9, 40 - n_single), dtype=dtype), np.zeros(n_single, dtype=dtype)
        assert core.fourier_features(X, W, offsets, 1.0, out)
        X[place] = value
        assert not core.fourier_features(X, W, offsets, 1.0, out)
        assert np.isnan(out[place[0]]).all()
        X[place] = 1.0
    turns = np.zeros((9, 11), dtype=dtype)
    assert core.cos_sin(turns.copy(), np.zeros(1, dtype=dtype), 1.0)
    turns[place] = value
    assert not core.cos_sin(turns.copy(), np.zeros(1, dtype=dtype), 1.0)
    turns[place] = 0.0
    turns[:, 5:10] = np.nan  # the sines' room holds whatever was there
    assert core.cos_sin(turns, np.zeros(1, dtype=dtype), 1.0)


@pytest.mark.parametrize("core", [_core, reference], ids=["compiled", "reference"])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_structured_turns_that_are_not_finite_are_told(level, dtype, core):
    X, diagonals, permutation = (
        np.ones((9, 5), dtype=dtype),
        np.ones((2, 1, 8), dtype=dtype),
        np.empty((0, 0), np.int32),
    )
    arguments = diagonals, permutation, np.ones(8, dtype=dtype), np.empty(0, dtype=dtype), 1.0
    out = np.zeros((9, 16), dtype=dtype)
    assert core.hadamard_features(X, *arguments, out)
    X[7, 3] = np.inf
    assert not core.hadamard_features(X, *arguments, out)
