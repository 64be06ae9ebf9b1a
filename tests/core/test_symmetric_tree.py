"""Symmetric trees: the compiled core equals NumPy, and both take the split of the largest gain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import _core, reference

MODULES = [_core, reference]


def grown(module, codes, rows, slopes, weights, columns, n_bins, penalty, depth):
    out_columns, out_bins = np.full(depth, -1, np.int32), np.full(depth, -1, np.int32)
    arguments = codes, rows, slopes, weights, columns, n_bins, penalty
    found = module.grow_symmetric_tree(*arguments, out_columns, out_bins)
    return found, out_columns[:found].tolist(), out_bins[:found].tolist()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 5), st.integers(1, 9), st.integers(1, 3))
def test_compiled_and_reference_take_the_same_splits(seed, n, d, most_bins, k):
    rng = np.random.RandomState(seed)
    n_bins = rng.randint(1, most_bins + 1, size=d).astype(np.int32)
    codes = (rng.randint(2**20, size=(d, n)) % n_bins[:, None]).astype(np.uint8)
    rows = np.sort(rng.permutation(n)[: rng.randint(1, n + 1)]).astype(np.int32)
    weights = rng.uniform(0.5, 2, n)
    slopes = weights[:, None] * rng.standard_normal((n, k))
    columns = np.sort(rng.permutation(d)[: rng.randint(1, d + 1)]).astype(np.int32)
    arguments = (codes, rows, slopes, weights, columns, n_bins[columns], 1.0, 3)
    assert grown(_core, *arguments) == grown(reference, *arguments)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(0, 6), st.integers(1, 3), st.booleans())
def test_compiled_and_reference_take_the_same_step(seed, n, depth, k, shared):
    rng = np.random.RandomState(seed)
    codes = rng.randint(256, size=(4, n)).astype(np.uint8)
    columns, bins = rng.randint(4, size=depth).astype(np.int32), rng.randint(256, size=depth).astype(np.int32)
    slopes, curvatures = rng.standard_normal((n, k)), rng.uniform(size=(n, 1 if shared else k))
    found = []
    for module in MODULES:
        values, scores = np.full((2**depth, k), np.nan), np.ones((n, k))
        module.step_by_symmetric_tree(codes, columns, bins, slopes, curvatures, 0.5, 0.1, values, scores)
        found.append((values, scores))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("module", MODULES)
def test_the_split_is_the_best_of_all(module, rng):
    codes = rng.randint(7, size=(3, 50)).astype(np.uint8)
    weight, y = rng.uniform(0.5, 2, 50), rng.standard_normal(50)
    rows, columns, n_bins = np.arange(50, dtype=np.int32), np.arange(3, dtype=np.int32), np.full(3, 7, np.int32)
    found = grown(module, codes, rows, (weight * y)[:, None], weight, columns, n_bins, 0.5, 1)

    def gain(column, bin_):
        right = codes[column] > bin_
        return sum((weight[s] @ y[s]) ** 2 / (weight[s].sum() + 0.5) for s in (right, ~right))

    best = max(((c, b) for c in range(3) for b in range(6)), key=lambda split: gain(*split))
    assert found == (1, [best[0]], [best[1]])


@pytest.mark.parametrize("module", MODULES)
def test_a_level_without_a_gain_ends_the_tree(module):
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], np.uint8)
    slopes, weights = np.array([[0.0], [0.0], [5.0], [5.0]]), np.ones(4)
    rows, columns, n_bins = np.arange(4, dtype=np.int32), np.arange(2, dtype=np.int32), np.full(2, 2, np.int32)
    found, chosen, _ = grown(module, codes, rows, slopes, weights, columns, n_bins, 1e-9, 4)
    assert chosen[0] == 0
    assert found < 4  # after one level the cells are pure
    assert grown(module, codes, rows, np.zeros((4, 1)), weights, columns, n_bins, 1.0, 4)[0] == 0
