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
