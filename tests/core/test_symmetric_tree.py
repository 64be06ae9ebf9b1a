"""Symmetric trees: the compiled core equals NumPy, and both take the split of the largest gain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import _core, core, reference

MODULES = [_core, reference]


def grown(module, codes, rows, sums, columns, n_bins, penalty, depth):
    out_columns, out_bins = np.full(depth, -1, np.int32), np.full(depth, -1, np.int32)
    found = module.grow_symmetric_tree(codes, rows, sums, columns, n_bins, penalty, out_columns, out_bins)
    return found, out_columns[:found].tolist(), out_bins[:found].tolist()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 5), st.integers(1, 9), st.integers(1, 3))
def test_compiled_and_reference_take_the_same_splits(seed, n, d, n_bins, k):
    rng = np.random.RandomState(seed)
    codes = rng.randint(n_bins, size=(d, n)).astype(np.uint8)
    rows = np.sort(rng.permutation(n)[: rng.randint(1, n + 1)]).astype(np.int32)
    weight = rng.uniform(0.5, 2, len(rows))
    sums = np.column_stack([weight[:, None] * rng.standard_normal((len(rows), k)), weight])
    columns = np.sort(rng.permutation(d)[: rng.randint(1, d + 1)]).astype(np.int32)
    arguments = (codes, rows, sums, columns, n_bins, 1.0, 3)
    assert grown(_core, *arguments) == grown(reference, *arguments)


@pytest.mark.parametrize("module", MODULES)
def test_the_split_is_the_best_of_all(module, rng):
    codes = rng.randint(7, size=(3, 50)).astype(np.uint8)
    weight, y = rng.uniform(0.5, 2, 50), rng.standard_normal(50)
    found = grown(module, codes, np.arange(50, dtype=np.int32), np.column_stack([weight * y, weight]),
                  np.arange(3, dtype=np.int32), 7, 0.5, 1)  # fmt: skip

    def gain(column, bin_):
        right = codes[column] > bin_
        return sum((weight[s] @ y[s]) ** 2 / (weight[s].sum() + 0.5) for s in (right, ~right))

    best = max(((c, b) for c in range(3) for b in range(6)), key=lambda split: gain(*split))
    assert found == (1, [best[0]], [best[1]])


@pytest.mark.parametrize("module", MODULES)
def test_a_level_without_a_gain_ends_the_tree(module):
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], np.uint8)
    sums = np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 1.0], [5.0, 1.0]])
    rows, columns = np.arange(4, dtype=np.int32), np.arange(2, dtype=np.int32)
    found, chosen, _ = grown(module, codes, rows, sums, columns, 2, 1e-9, 4)
    assert chosen[0] == 0
    assert found < 4  # after one level the cells are pure
    assert grown(module, codes, rows, np.column_stack([np.zeros(4), np.ones(4)]), columns, 2, 1.0, 4)[0] == 0


def test_wrong_arguments_are_refused_in_words():
    codes, rows = np.zeros((2, 3), np.uint8), np.arange(3, dtype=np.int32)
    sums, columns = np.ones((3, 2)), np.arange(2, dtype=np.int32)
    with pytest.raises(ValueError, match="rows must lie in"):
        core.grow_symmetric_tree(codes, rows + 1, sums, columns, 2, 1.0, 2)
    with pytest.raises(ValueError, match="columns must lie in"):
        core.grow_symmetric_tree(codes, rows, sums, columns + 1, 2, 1.0, 2)
    with pytest.raises(ValueError, match="n_bins must lie in"):
        core.grow_symmetric_tree(codes, rows, sums, columns, 0, 1.0, 2)
    with pytest.raises(ValueError, match="penalty must be positive"):
        core.grow_symmetric_tree(codes, rows, sums, columns, 2, 0.0, 2)
    with pytest.raises(ValueError, match=r"sums.shape\[0\] must be len\(rows\)"):
        core.grow_symmetric_tree(codes, rows, sums[:2], columns, 2, 1.0, 2)
