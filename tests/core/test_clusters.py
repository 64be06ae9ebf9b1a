"""Nearest centres and their bounds: compiled against reference."""

import numpy as np
import pytest
from oracle import strided

from mercer import _core, reference

SHAPES = [(1, 1, 1), (5, 2, 3), (13, 4, 8), (40, 7, 19), (100, 10, 33)]  # rows, centres, features


def draw(n, k, d, dtype, n_labelled):
    rng = np.random.default_rng([n, k, d])
    Z, centres = rng.standard_normal((n, d)).astype(dtype), rng.standard_normal((k, d)).astype(dtype)
    labels = np.where(np.arange(n) < n_labelled, rng.integers(k, size=n), -1).astype(np.int32)
    norms = np.where(labels < 0, np.nan, np.square(Z.astype(float)).sum(axis=1))
    upper, lower = rng.random(n).astype(np.float32), 2 * rng.random((k, n)).astype(np.float32)
    return rng, Z, centres, labels, norms, upper, lower


@pytest.mark.parametrize(("n", "k", "d"), SHAPES)
@pytest.mark.parametrize("gathered", [False, True], ids=["of all rows", "of the rows"])
@pytest.mark.parametrize("weighted", [False, True])
def test_nearest_centres(level, dtype, n, k, d, gathered, weighted):
    rng, Z, centres, labels, norms, upper, lower = draw(n, k, d, dtype, n // 2)
    rows = np.flatnonzero(rng.random(n) < 0.8)
    weight = rng.random(n) if weighted else np.zeros(0)
    slack, longest = 8 * np.finfo(dtype).eps * d**0.5, np.square(centres.astype(float)).sum(axis=1).max()
    results = []
    for core in (_core, reference):
        state = [norms.copy(), labels.copy(), upper.copy(), lower.copy(), np.zeros((k, d)), np.zeros(k)]
        features = Z[rows] if gathered else Z
        if core is _core:
            features, state[3] = strided(features), strided(state[3])
        moves = core.nearest_centres(features, rows, centres, slack, longest, weight, *state)
        results.append((moves, *state))
    assert results[0][0] == results[1][0]
    np.testing.assert_array_equal(results[0][2], results[1][2])
    eps = np.finfo(dtype).eps
    for got, expected in zip(results[0][1:], results[1][1:], strict=True):
        finite = np.isfinite(expected)
        np.testing.assert_array_equal(np.isfinite(got), finite)
        # bounds are roots: of a square near 0 they keep half of the digits
        np.testing.assert_allclose(got[finite], expected[finite], rtol=1e-6, atol=8 * d * eps**0.5)
    exact = np.square(Z[rows, None].astype(float) - centres).sum(axis=2)
    np.testing.assert_array_equal(results[0][2][rows], exact.argmin(axis=1))
    member = np.zeros((k, n))
    member[results[0][2][rows], rows] += weight[rows] if weighted else 1.0
    known = rows[labels[rows] >= 0]
    member[labels[known], known] -= weight[known] if weighted else 1.0
    np.testing.assert_allclose(results[0][5], member @ Z.astype(float), atol=1e-12)
    np.testing.assert_allclose(results[0][6], member.sum(axis=1), atol=1e-13)
    bounds = np.sqrt(exact).T
    own = np.arange(k)[:, None] == results[0][2][rows]
    assert (results[0][4][:, rows][~own] <= bounds[~own]).all()
    assert (results[0][3][rows] >= bounds.min(axis=0)).all()


@pytest.mark.parametrize(("n", "k"), [(1, 1), (7, 3), (600, 5), (1100, 1)])
def test_move_bounds(level, n, k):
    rng, _, _, labels, _, upper, lower = draw(n, k, 2, np.float32, n - n // 5)
    lower[np.maximum(labels, 0), np.arange(n)] = np.inf
    moved = (0.2 * rng.random(k)).astype(np.float32)
    results = []
    for core in (_core, reference):
        state = [upper.copy(), strided(lower) if core is _core else lower.copy(), np.full(n, -1)]
        count = core.move_bounds(moved, labels, *state)
        results.append((*state[:2], state[2][:count]))
    for got, expected in zip(*results, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert set(np.flatnonzero(labels < 0)) <= set(results[0][2])
    if n > 100:
        assert (labels < 0).sum() < len(results[0][2]) < n or k == 1


def _arguments():
    _, Z, centres, labels, norms, upper, lower = draw(6, 3, 4, np.float64, 3)
    return {
        "Z": Z,
        "rows": np.arange(6),
        "centres": centres,
        "slack": 0.0,
        "longest": 1.0,
        "weight": np.ones(6),
        "norms": norms,
        "labels": labels,
        "upper": upper,
        "lower": lower,
        "sums": np.zeros((3, 4)),
        "totals": np.zeros(3),
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Z", np.zeros((5, 4)), r"Z.shape\[0\] must be len\(labels\) = 6, got 5"),
        ("rows", np.array([0, 6]), r"rows must lie in \[0, len\(labels\)\) = \[0, 6\)"),
        ("rows", np.array([-1]), "rows must lie in"),
        ("centres", np.zeros((3, 5)), r"centres.shape\[1\] must be Z.shape\[1\] = 4, got 5"),
        ("centres", np.zeros((2, 4)), r"centres.shape\[0\] must be lower.shape\[0\] = 3, got 2"),
        ("weight", np.ones(5), r"len\(weight\) must be len\(labels\) = 6, got 5"),
        ("norms", np.ones(5), r"len\(norms\) must be lower.shape\[1\] = 6, got 5"),
        ("labels", np.full(6, 3, dtype=np.int32), r"labels must lie in \[-1, lower.shape\[0\]\)"),
        ("labels", np.zeros(5, dtype=np.int32), r"len\(labels\) must be lower.shape\[1\] = 6, got 5"),
        ("upper", np.zeros(5, dtype=np.float32), r"len\(upper\) must be lower.shape\[1\] = 6, got 5"),
        ("sums", np.zeros((2, 4)), r"sums.shape\[0\] must be centres.shape\[0\] = 3, got 2"),
        ("sums", np.zeros((3, 5)), r"sums.shape\[1\] must be centres.shape\[1\] = 4, got 5"),
        ("totals", np.zeros(4), r"len\(totals\) must be centres.shape\[0\] = 3, got 4"),
    ],
)
def test_the_border_names_what_is_wrong(name, value, message):
    with pytest.raises(ValueError, match=message):
        _core.nearest_centres(**{**_arguments(), name: value})


def test_the_border_of_bounds():
    labels, upper, lower = np.zeros(4, dtype=np.int32), np.zeros(4, dtype=np.float32), np.zeros((2, 4), np.float32)
    with pytest.raises(ValueError, match=r"len\(moved\) must be lower.shape\[0\] = 2, got 3"):
        _core.move_bounds(np.zeros(3, np.float32), labels, upper, lower, np.zeros(4, np.int64))
    with pytest.raises(ValueError, match=r"len\(doubt\) must be lower.shape\[1\] = 4, got 3"):
        _core.move_bounds(np.zeros(2, np.float32), labels, upper, lower, np.zeros(3, np.int64))
