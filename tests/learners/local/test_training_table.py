"""Rows of a tuned fit: the same sample from arrays, tables and streams, the others in passes, limits, bad input."""

import numpy as np
import pytest
from scipy import sparse

from mercer import config_context
from mercer.data import as_blocks
from mercer.data.raw_table import RawTable
from mercer.fitting import Classes, Numbers
from mercer.learners.local.training_table import TrainingTable, rows_to_hold
from mercer.stats import Totals


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((300, 3))
    return X, X[:, 0] + 1.0, rng.randint(0, 3, 300).astype(float)


def _from_memory(X, y, weight, most, targets=Numbers):
    return TrainingTable.of_table(RawTable.of("Test", X), targets("Test"), y, weight, most, seed=5)


def _streams(X, y, weight):
    def source():
        yield from zip(*(np.array_split(part, 7) for part in (X, y, weight)), strict=True)

    yield as_blocks(source)
    yield as_blocks(X, y, sample_weight=weight, block_rows=11)
    yield as_blocks(sparse.csr_array(X), y, sample_weight=weight)
    yield as_blocks(X, y, sample_weight=weight, plan=[120, 180])


@pytest.mark.parametrize("most", [90, 300])
def test_arrays_and_streams_hold_the_same_rows(rows, most):
    X, y, weight = rows
    here = _from_memory(X, y, weight, most)
    assert (here.others is None) == (most == 300)
    assert here.n_rows == 300
    assert 0 < here.table.n_rows == np.count_nonzero(here.held.weight)
    for blocks in _streams(X, y, weight):
        there = TrainingTable.of_blocks(blocks, Numbers("Test"), most, seed=5)
        assert there.n_rows == 300
        np.testing.assert_array_equal(np.array(there.table.values), np.array(here.table.values))
        for name in ("Y", "given", "weight", "left_out"):
            np.testing.assert_array_equal(getattr(there.held, name), getattr(here.held, name))
        np.testing.assert_allclose(there.held.targets.mean, here.held.targets.mean, rtol=1e-12)


def _sums(table, Y, weight):
    return Totals(np.array([weight.sum(), weight @ Y[:, 0], *(weight @ column for column in table.values)]))


def test_held_rows_and_others_are_all_rows(rows):
    X, y, weight = rows
    expected = _sums(RawTable.of("Test", X), y[:, None], weight)
    fits = [TrainingTable.of_blocks(blocks, Numbers("Test"), 90, seed=5) for blocks in _streams(X, y, weight)]
    for training in (_from_memory(X, y, weight, 90), *fits):
        total = training.others.reduce("sums", _sums, lambda: Totals.of(5))
        total.merge(_sums(training.table, training.held.Y, training.held.weight))
        np.testing.assert_allclose(total.values, expected.values, rtol=1e-10)


def test_classes_and_their_weights_are_those_of_all_rows(rows):
    X, _, _ = rows
    y = np.array(["common"] * 297 + ["rare"] * 3)
    balanced = Classes("Test", class_weight="balanced")
    blocks = TrainingTable.of_blocks(as_blocks(X, y), balanced, 200, seed=5)
    memory = TrainingTable.of_table(RawTable.of("Test", X), balanced, y, None, 200, seed=5)
    for training in (blocks, memory):
        assert training.held.targets.classes.tolist() == ["common", "rare"]
        np.testing.assert_allclose(training.held.targets.factors, [300 / (2 * 297), 300 / (2 * 3)])


def test_a_limit_that_lasts_bounds_the_rows():
    assert rows_to_hold(123, 30) == 123
    with config_context(memory="1GiB"):
        found = rows_to_hold(None, 30)
        assert rows_to_hold(123, 30) == 123
    assert 2**12 < found < 2**20
    assert found * 30 * 48 < 2**30
    with config_context(memory="1MiB"):
        assert rows_to_hold(None, 30) == 2**12
    with config_context(memory="1TiB"):
        assert rows_to_hold(None, 30) <= 2**20


def test_bad_input_is_refused_in_words(rows):
    X, y, _ = rows
    for most in (90, 300):
        with pytest.raises(ValueError, match="Test: sample_weight must not be all zero"):
            TrainingTable.of_blocks(as_blocks(X, y, sample_weight=np.zeros(300)), Numbers("Test"), most, seed=5)
    labels = np.array(["common"] * 299 + ["rare"])
    few = TrainingTable.of_blocks(as_blocks(X, labels), Classes("Test"), 299, seed=0)
    missing = next(seed for seed in range(3000) if "rare" not in labels[_numbers_held(X, seed)])
    assert few.n_rows == 300
    with pytest.raises(ValueError, match=r"the 10 rows that the model holds are all of one class.*Raise max_rows"):
        TrainingTable.of_blocks(as_blocks(X, labels), Classes("Test"), 10, seed=missing)
    with pytest.raises(ValueError, match="at least 2 classes, got 1 class: 'one'"):
        TrainingTable.of_blocks(as_blocks(X, ["one"] * 300), Classes("Test"), 90, seed=5)
    bad = X.copy()
    bad[250, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity .* at row 250, column 1"):
        TrainingTable.of_blocks(as_blocks(bad, y), Numbers("Test"), 90, seed=5)
    with pytest.raises(ValueError, match="NaN"):
        TrainingTable.of_blocks(as_blocks(X, np.where(y > y[250], y, np.nan)), Numbers("Test"), 90, seed=5)


def _numbers_held(X, seed):
    held = TrainingTable.of_blocks(as_blocks(X, np.arange(300.0)), Numbers("Test"), 10, seed=seed).held
    return held.Y[:, 0].astype(int)
