"""The survey: one look at all rows, on all threads, whose sample depends on neither the blocks nor the threads."""

import threading

import numpy as np
import pytest

from mercer import config_context
from mercer.data import as_blocks
from mercer.fitting import Classes, Numbers, Passes, Sample, Survey, Targets
from mercer.stats import ColumnRanges


def _survey(blocks, targets=None, *, size=1000, seed=3):
    return Survey.of(blocks, targets or Targets("Test"), Passes("Test"), size=size, seed=seed)


def test_the_sample_is_that_of_the_rows_however_they_come():
    X = np.random.RandomState(0).rand(20_000, 2)
    surveys = []
    for source, threads in ((as_blocks(X), 1), (as_blocks(X), 2), (as_blocks(lambda: np.array_split(X, 7)), 2)):
        with config_context(threads=threads):
            surveys.append(_survey(source.recut(4096, "Test")))
    for survey in surveys:
        assert survey.sample.rows.shape == (1000, 2)
        np.testing.assert_array_equal(survey.sample.rows, surveys[0].sample.rows)
        np.testing.assert_array_equal(survey.ranges.low, X.min(axis=0))
        np.testing.assert_array_equal(survey.ranges.high, X.max(axis=0))
        assert survey.weight == len(X)
    assert not np.array_equal(_survey(as_blocks(X), seed=4).sample.rows, surveys[0].sample.rows)


def test_rows_of_weight_0_do_not_widen_the_ranges():
    X, weight = np.random.RandomState(0).rand(100, 2), np.ones(100)
    X[3], weight[3] = 1e3, 0
    survey = _survey(as_blocks(X, sample_weight=weight))
    assert survey.ranges.high.max() < 1
    assert survey.weight == 99
    assert survey.sample.rows.shape == (100, 2)
    assert survey.sample.counted.shape == (99, 2)
    np.testing.assert_array_equal(survey.sample.weight, weight)


def test_a_sample_without_weight_counts_its_rows_once():
    sample = Sample(np.eye(3), np.zeros(3))
    assert sample.weight.tolist() == [1.0, 1.0, 1.0]
    assert sample.counted.shape == (0, 3)


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(ValueError, match=r"Test: sample_weight must not be all zero. Leave it out"):
        _survey(as_blocks(np.eye(3), sample_weight=np.zeros(3)))


def test_it_finds_classes_and_means_in_weights():
    X, weight = np.zeros((6, 1)), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    labels, numbers = np.array(["b", "a", "b", "a", "b", "a"]), np.arange(6.0)
    blocks = as_blocks(X, labels, sample_weight=weight, block_rows=4)
    targets = _survey(blocks, Classes("Test", class_weight="balanced")).targets
    assert targets.classes.tolist() == ["a", "b"]
    assert targets.total == 21.0
    np.testing.assert_allclose(targets.factors, 21 / (2 * np.array([12.0, 9.0])))
    blocks = as_blocks(X, numbers, sample_weight=weight, block_rows=4)
    np.testing.assert_allclose(_survey(blocks, Numbers("Test")).targets.mean, [np.average(numbers, weights=weight)])


def test_several_blocks_are_looked_at_at_a_time(monkeypatch):
    """Two blocks meet in the middle of their looks; a pass on one thread would wait for ever."""
    together = threading.Barrier(2)
    update = ColumnRanges.update

    def meet(ranges, rows):
        together.wait(timeout=30)
        return update(ranges, rows)

    monkeypatch.setattr(ColumnRanges, "update", meet)
    with config_context(threads=2):
        _survey(as_blocks(np.random.RandomState(0).rand(400, 2), block_rows=100))


def test_a_row_that_is_not_finite_is_named_while_others_are_looked_at():
    X = np.random.RandomState(0).rand(2000, 2)
    X[1217, 1] = np.nan
    with config_context(threads=2):
        for source in (as_blocks(X), as_blocks(lambda: np.array_split(X, 11))):
            with pytest.raises(ValueError, match="NaN at row 1217, column 1"):
                _survey(source.recut(256, "Test"))


def test_a_wide_sample_holds_more_rows_and_leaves_the_sample_of_the_map(rng):
    X = rng.rand(3000, 2)
    few = Survey.of(as_blocks(X), Targets("Test"), Passes("Test"), size=100, seed=3)
    both = Survey.of(as_blocks(X), Targets("Test"), Passes("Test"), size=100, seed=3, wide_size=700)
    assert few.wide_sample is few.sample
    np.testing.assert_array_equal(both.sample.rows, few.sample.rows)
    assert both.wide_sample.rows.shape == (700, 2)
    assert {tuple(row) for row in both.sample.rows} <= {tuple(row) for row in both.wide_sample.rows}
    narrow = Survey.of(as_blocks(X), Targets("Test"), Passes("Test"), size=100, seed=3, wide_size=50)
    np.testing.assert_array_equal(narrow.wide_sample.rows, few.sample.rows)
