"""Boosted symmetric trees: the compiled core equals NumPy, and both take the split of the largest gain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import _core, reference
from mercer.reference.types import BinnedRows, BoostedRows, BoostedTree

MODULES = [_core, reference]


def boosted(module, seen, rows, penalty, rate=0.5, depth=3):
    """Return how many levels the next tree has, what it writes, and the rows, which change in copies."""
    k = rows.targets.shape[1]
    rows = rows._replace(scores=rows.scores.copy(), expected=rows.expected.copy())
    splits = np.full(depth, -1, np.int32), np.full(depth, -1, np.int32)
    out = BoostedTree(*splits, np.full((2**depth, k), np.nan), np.full(k, np.nan))
    if module is _core:
        found = module.boost_symmetric_tree(*seen, *rows, penalty, rate, *out)
    else:
        found = module.boost_symmetric_tree(seen, rows, penalty, rate, out)
    return found, out, rows


def from_zero(Y, weights, judges=None, *, logistic=False):
    """Return rows whose scores are 0: the slopes of both losses are then the targets times their weights."""
    judges = np.zeros_like(weights) if judges is None else judges
    return BoostedRows(Y, weights, judges, np.zeros_like(Y), np.zeros_like(Y), logistic)


def made(seed, n, d, most_bins):
    rng = np.random.RandomState(seed)
    n_bins = rng.randint(1, most_bins + 1, size=d).astype(np.int32)
    codes = (rng.randint(2**20, size=(d, n)) % n_bins[:, None]).astype(np.uint8)
    rows = np.sort(rng.permutation(n)[: rng.randint(1, n + 1)]).astype(np.int32)
    columns = np.sort(rng.permutation(d)[: rng.randint(1, d + 1)]).astype(np.int32)
    return rng, alone(codes, rows, columns, n_bins)


def alone(codes, rows, columns, n_bins):
    """Return binned rows without bundles."""
    d = len(codes)
    return BinnedRows(codes, rows, columns, n_bins, np.arange(d, dtype=np.int32), np.full(d, -1, np.int32))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 5), st.integers(1, 9), st.integers(1, 3))
def test_compiled_and_reference_take_the_same_splits(seed, n, d, most_bins, k):
    rng, seen = made(seed, n, d, most_bins)
    rows = from_zero(rng.standard_normal((n, k)), rng.uniform(0.5, 2, n))
    (found, out, _), (expected, reference_out, _) = (boosted(module, seen, rows, 1.0) for module in MODULES)
    assert found == expected
    assert out.columns.tolist() == reference_out.columns.tolist()
    assert out.bins.tolist() == reference_out.bins.tolist()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(0, 6), st.integers(1, 3), st.booleans())
def test_compiled_and_reference_take_the_same_step(seed, n, depth, k, logistic):
    rng, seen = made(seed, n, 4, 256)
    scores = rng.standard_normal((n, k))
    expected = np.tanh(scores) if logistic else scores
    Y = rng.choice([-1.0, 1.0], (n, k)) if logistic else rng.standard_normal((n, k))
    rows = BoostedRows(Y, rng.uniform(0.5, 2, n), rng.uniform(0, 1, n), scores, expected, logistic)
    (found, out, after), (levels, other, others) = (boosted(m, seen, rows, 0.5, 0.1, depth) for m in MODULES)
    assert (found, out.columns.tolist(), out.bins.tolist()) == (levels, other.columns.tolist(), other.bins.tolist())
    np.testing.assert_allclose(out.values[: 2**found], other.values[: 2**found], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(after.scores, others.scores, rtol=1e-12, atol=1e-12)
    # Hyperbolic tangents are in float32, by two formulas.
    rounding = 8 * np.finfo(np.float32).eps if logistic else 1e-12
    np.testing.assert_allclose(after.expected, others.expected, rtol=rounding, atol=rounding)
    np.testing.assert_allclose(out.errors, other.errors, rtol=8 * rounding, atol=n * rounding)


@pytest.mark.parametrize("module", MODULES)
def test_a_step_is_a_damped_newton_step_and_errors_are_those_of_the_judges(module, rng):
    n, k = 80, 2
    _, seen = made(3, n, 3, 9)
    weights, judges, scores = rng.uniform(0.5, 2, n), np.where(np.arange(n) % 3, 0.0, 0.7), rng.standard_normal((n, k))
    Y = rng.choice([-1.0, 1.0], (n, k))
    rows = BoostedRows(Y, weights, judges, scores, np.tanh(scores), True)
    found, out, after = boosted(module, seen, rows, 0.5, 0.1)
    cells = np.zeros(n, dtype=int)
    for column, bin_ in zip(out.columns[:found], out.bins[:found], strict=True):
        cells = 2 * cells + (seen.codes[column] > bin_)
    slopes, curvatures = weights[:, None] * (Y - rows.expected), weights[:, None] * (1 - rows.expected**2)
    for cell in np.unique(cells):
        some = cells == cell
        newton = 0.1 * slopes[some].sum(axis=0) / (curvatures[some].sum(axis=0) + 0.5)
        np.testing.assert_allclose(after.scores[some] - scores[some], np.tile(newton, (some.sum(), 1)), rtol=1e-9)
    atol = 4 * np.finfo(np.float32).eps
    np.testing.assert_allclose(after.expected, np.tanh(after.scores), atol=atol)
    np.testing.assert_allclose(out.errors, judges @ (Y - np.tanh(after.scores)) ** 2, rtol=1e-5)


@pytest.mark.parametrize("module", MODULES)
def test_rows_in_no_doubt_have_no_slope(module):
    codes = np.array([[0, 0, 1, 1]], np.uint8)
    seen = alone(codes, *(np.arange(m, dtype=np.int32) for m in (4, 1)), np.full(1, 2, np.int32))
    rows = BoostedRows(np.ones((4, 1)), np.ones(4), np.ones(4), np.full((4, 1), 30.0), np.ones((4, 1)), True)
    found, out, after = boosted(module, seen, rows, 1.0)
    assert found == 0
    np.testing.assert_array_equal(after.scores, 30.0)
    np.testing.assert_array_equal(after.expected, 1.0)
    assert out.errors[0] == 0


@pytest.mark.parametrize("module", MODULES)
def test_the_split_is_the_best_of_all(module, rng):
    codes = rng.randint(7, size=(3, 50)).astype(np.uint8)
    weight, y = rng.uniform(0.5, 2, 50), rng.standard_normal(50)
    seen = alone(codes, *(np.arange(m, dtype=np.int32) for m in (50, 3)), np.full(3, 7, np.int32))
    found, out, _ = boosted(module, seen, from_zero(y[:, None], weight), 0.5, depth=1)

    def gain(column, bin_):
        right = codes[column] > bin_
        return sum((weight[s] @ y[s]) ** 2 / (weight[s].sum() + 0.5) for s in (right, ~right))

    best = max(((c, b) for c in range(3) for b in range(6)), key=lambda split: gain(*split))
    assert (found, out.columns.tolist(), out.bins.tolist()) == (1, [best[0]], [best[1]])


@pytest.mark.parametrize("module", MODULES)
def test_a_level_without_a_gain_ends_the_tree(module):
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], np.uint8)
    seen = alone(codes, *(np.arange(m, dtype=np.int32) for m in (4, 2)), np.full(2, 2, np.int32))
    Y = np.array([[0.0], [0.0], [5.0], [5.0]])
    found, out, _ = boosted(module, seen, from_zero(Y, np.ones(4)), 1e-9, depth=4)
    assert out.columns[0] == 0
    assert found < 4  # after one level the cells are pure
    assert boosted(module, seen, from_zero(0 * Y, np.ones(4)), 1.0, depth=4)[0] == 0


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2100), st.integers(0, 4), st.integers(0, 3), st.integers(1, 3))
def test_compiled_scores_are_those_of_the_reference(seed, n, n_trees, depth, k):
    rng = np.random.RandomState(seed)
    codes = rng.randint(256, size=(3, n)).astype(np.uint8)
    columns, bins = rng.randint(3, size=(n_trees, depth)), rng.choice([0, 7, 100, 254, 255], size=(n_trees, depth))
    trees = columns.astype(np.int32), bins.astype(np.uint8), rng.standard_normal((n_trees * 2**depth, k))
    found = rng.standard_normal((n, k))
    expected = found.copy()
    _core.add_tree_scores(codes, *trees, found)
    reference.add_tree_scores(codes, *trees, expected)
    np.testing.assert_array_equal(found, expected)


def test_wrong_trees_are_refused_in_words():
    codes, values, scores = np.zeros((2, 5), np.uint8), np.zeros((2, 1)), np.zeros((5, 1))
    columns, bins = np.ones((1, 1), np.int32), np.zeros((1, 1), np.uint8)

    def refused(match, columns=columns, bins=bins, values=values, scores=scores):
        with pytest.raises(ValueError, match=match):
            _core.add_tree_scores(codes, columns, bins, values, scores)

    refused("columns must lie in", columns=columns + 1)
    refused(r"bins.shape\[1\] must be the number of columns", bins=np.zeros((1, 2), np.uint8))
    refused(r"values.shape\[0\] must be the number of rows", values=np.zeros((3, 1)))
    refused(r"scores.shape\[0\] must be the number of rows", scores=np.zeros((4, 1)))
    refused("at most 8 levels", columns=np.zeros((1, 9), np.int32))
