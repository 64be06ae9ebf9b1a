"""Columns cut into bins: quantiles, and bundles of columns that no row shares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import tree_core
from mercer.solvers.local import binned
from mercer.solvers.local.binned import BINS, Bins
from mercer.tree_core import BinnedRows, BoostedRows


def test_bins_part_the_values_of_a_column(rng):
    few = rng.choice([-1.0, 0.5, 2.0], 100)
    many = rng.standard_normal(5000)
    bins = Bins.of(np.column_stack([few, few]))
    assert bins.edges[0].tolist() == [-0.25, 1.25]
    np.testing.assert_array_equal(bins.codes[0], np.searchsorted([-1.0, 0.5, 2.0], few))
    bins = Bins.of(many[:, None])
    assert len(bins.edges[0]) == BINS - 1
    counts = np.bincount(bins.codes[0], minlength=BINS)
    assert counts.min() >= 5000 // BINS - 1
    assert counts.max() <= 5000 // BINS + 2


def test_bins_in_another_order_are_those_of_the_rows_in_this_order(rng):
    X = rng.standard_normal((50, 3))
    order = rng.permutation(50)
    found, expected = Bins.of(X).ordered(order), Bins.of(X[order])
    np.testing.assert_array_equal(found.codes, expected.codes)
    assert found.codes.flags.c_contiguous


def one_hot(rng, n, levels):
    """Return a column of 0 and 1 per level but the first."""
    return (rng.randint(levels, size=n)[:, None] == np.arange(1, levels)).astype(float)


def test_levels_of_a_category_are_one_bundle(rng):
    X = np.hstack([one_hot(rng, 500, 6), rng.standard_normal((500, 2)), one_hot(rng, 500, 4)])
    bins = Bins.of(X)
    assert bins.tables.tolist() == [10] * 5 + [5, 6] + [11] * 3
    assert bins.members.tolist() == [1, 2, 3, 4, 5, -1, -1, 1, 2, 3]
    assert bins.n_bins[10:].tolist() == [6, 4]
    for column in np.flatnonzero(bins.members > 0):
        ones = bins.codes[bins.tables[column]] == bins.members[column]
        np.testing.assert_array_equal(ones, bins.codes[column] == 1)


def test_columns_that_share_a_row_are_in_two_bundles():
    X = np.array([[1.0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    bins = Bins.of(X)  # the last column shares a row with the first alone
    assert bins.tables[0] != bins.tables[1]
    assert bins.tables[0] != bins.tables[3]
    assert Bins.of(X[:, :2]).codes.shape == (2, 4)


def test_a_bundle_has_as_many_codes_as_a_byte(rng):
    bins = Bins.of(one_hot(rng, 4000, 400))
    assert bins.n_bins.max() == BINS
    assert bins.codes.max() == BINS - 1
    assert len(np.unique(bins.tables)) == 2


def test_few_bundles_are_tried_for_a_column(monkeypatch):
    monkeypatch.setattr(binned, "_MOST_TRIED", 1)
    first, second = [1.0, 0, 0], [1.0, 1, 0]
    bins = Bins.of(np.array([first, second, [0, 0, 1.0]]).T)
    assert bins.tables.tolist() == [0, 3, 3]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.booleans())
def test_trees_with_bundles_are_those_without(seed, k, logistic):
    rng = np.random.RandomState(seed)
    X = np.hstack([one_hot(rng, 200, rng.randint(2, 8)) for _ in range(3)] + [rng.standard_normal((200, 2))])
    bins, Y = Bins.of(X), rng.choice([-1.0, 1.0], (200, k))
    d = X.shape[1]
    rows = np.sort(rng.permutation(200)[:150]).astype(np.int32)
    columns = np.sort(rng.permutation(d)[: rng.randint(1, d + 1)]).astype(np.int32)
    alone = np.arange(d, dtype=np.int32), np.full(d, -1, dtype=np.int32)
    found = []
    for bundles in ((bins.tables, bins.members), alone):
        seen = BinnedRows(bins.codes, rows, columns, bins.n_bins, *bundles)
        boosted = BoostedRows(Y, np.ones(200), np.ones(200), np.zeros((200, k)), np.zeros((200, k)), logistic)
        found.append(tree_core.boost_symmetric_tree(seen, boosted, 1.0, 0.5, 5))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("bundled", [False, True])
def test_slopes_of_any_size_have_the_same_splits(bundled, rng):
    """Slopes are rounded to integers in units of their largest, a power of two."""
    X = np.hstack([one_hot(rng, 300, 5), rng.standard_normal((300, 2))]) if bundled else rng.standard_normal((300, 3))
    bins, Y, n = Bins.of(X), rng.standard_normal((300, 1)), np.arange(300, dtype=np.int32)
    columns = np.arange(X.shape[1], dtype=np.int32)
    seen = BinnedRows(bins.codes, n, columns, bins.n_bins, bins.tables, bins.members)
    splits = []
    for size in (1.0, 2.0**900, 2.0**-900):
        zeros = np.zeros((300, 1))
        boosted = BoostedRows(size * Y, np.ones(300), np.zeros(300), zeros, zeros.copy(), False)
        tree = tree_core.boost_symmetric_tree(seen, boosted, 1.0, 0.5, 4)
        splits.append((tree.columns.tolist(), tree.bins.tolist()))
    assert len(splits[0][0]) == 4
    assert splits[0] == splits[1] == splits[2]
