"""Mean targets of levels: the formula, folds, missing and new levels, weights, 100,000 levels, and forged files."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.learners.local.target_statistics import TargetStatistics, coded_columns
from mercer.state import UnsoundError, check_stored


@pytest.fixture
def column(rng):
    codes = rng.randint(8, size=400).astype(float)
    Y = np.column_stack([np.sin(codes), np.cos(codes)]) + 0.3 * rng.standard_normal((400, 2))
    return codes, Y, rng.randint(1, 4, 400).astype(float)


def as_text(codes):
    return np.array([None if np.isnan(code) else f"level {code:g}" for code in codes], dtype=object)


def test_means_are_drawn_to_the_overall_mean(column):
    codes, Y, weight = column
    found = TargetStatistics.of(0, codes, Y, weight)
    check_stored(found)
    mean, at = weight @ Y / weight.sum(), codes == 3
    expected = (weight[at] @ Y[at] + found.strength * mean) / (weight[at].sum() + found.strength)
    np.testing.assert_allclose(found.means(np.array([3.0]))[0], expected)
    np.testing.assert_allclose(found.means(np.array([77.0]))[0], mean)


def test_the_strength_is_the_variance_within_over_the_variance_between(rng):
    # 2000 levels of 10 rows: effects of variance 1, noise of variance 4
    codes = np.repeat(np.arange(2000.0), 10)
    y = rng.standard_normal(2000)[codes.astype(int)] + 2 * rng.standard_normal(20_000)
    # The variance between levels has a standard error of about sqrt(2 / 2000) 1.4 = 4.4 %: five of them.
    assert TargetStatistics.of(0, codes, y[:, None], np.ones(20_000)).strength == pytest.approx(4.0, rel=0.25)
    noise = rng.standard_normal((20_000, 1))
    assert TargetStatistics.of(0, codes, noise, np.ones(20_000)).strength > 30


def test_no_row_of_a_rare_level_is_in_its_own_statistic(column):
    codes, Y, _ = column
    codes = 2 * codes + np.arange(400) % 2  # 16 levels of about 25 rows
    weight = np.ones(400)
    found = TargetStatistics.of(0, codes, Y, weight)
    means = found.training_means(codes, Y, weight, 0)
    changed = Y.copy()
    changed[17] += 1e6
    other = replace(found, sums=found.sums + np.where(np.arange(16)[:, None] == codes[17], 1e6 * weight[17], 0.0))
    after = other.training_means(codes, changed, weight, 0)
    np.testing.assert_allclose(after[17], means[17], rtol=1e-6)
    assert np.abs(after - means).max() > 1e3
    # Rows of one level and one fold share one value, so that it does not tell their targets apart.
    assert 1 < len(np.unique(means[codes == 3][:, 0])) <= 10


def test_rows_of_a_frequent_level_have_the_statistic_of_new_rows(column):
    codes, Y, _ = column
    codes = np.where(codes < 3, 0.0, 2 * codes + np.arange(400) % 2)  # about 150 rows of one level, 25 of the others
    found = TargetStatistics.of(0, codes, Y, np.ones(400))
    means = found.training_means(codes, Y, np.ones(400), 0)
    np.testing.assert_array_equal(means[codes == 0], found.means(codes)[codes == 0])
    assert not np.any(means[codes > 0] == found.means(codes)[codes > 0])


def test_text_numbers_and_missing_values_are_levels(column):
    codes, Y, weight = column
    codes = np.where(codes == 2, np.nan, codes)
    one, other = TargetStatistics.of(0, codes, Y, weight), TargetStatistics.of(0, as_text(codes), Y, weight)
    new = np.array([np.nan, 1.0, 3.0, 99.0])
    np.testing.assert_allclose(one.means(new), other.means(as_text(new)))
    assert not np.allclose(one.means(new)[0], one.means(new)[3])
    check_stored(other)


def test_weights_are_repetitions(column):
    codes, Y, weight = column
    times = weight.astype(int)
    one = TargetStatistics.of(0, codes, Y, weight)
    other = TargetStatistics.of(0, np.repeat(codes, times), np.repeat(Y, times, axis=0), np.ones(times.sum()))
    np.testing.assert_allclose(one.means(codes), other.means(codes), rtol=1e-12)


def test_a_hundred_thousand_levels(rng):
    codes = rng.randint(100_000, size=250_000).astype(float)
    Y = rng.standard_normal((250_000, 1))
    found = TargetStatistics.of(0, codes, Y, np.ones(250_000))
    assert found.training_means(codes, Y, np.ones(250_000), 0).shape == (250_000, 1)
    assert found.sums.nbytes < 2**20


def test_which_columns_are_codes(rng):
    text = as_text(rng.randint(5, size=100).astype(float))
    values = [
        text,
        rng.randint(5, size=100).astype(float),
        rng.standard_normal(100),
        np.arange(100.0),
        rng.randint(2, size=100).astype(float),
        np.full(100, np.nan),
        rng.randint(5, size=100).astype(float),
        as_text(np.arange(100.0)),
    ]
    kinds = ["categories", "number", "number", "number", "number", "number", "date", "categories"]
    assert coded_columns(values, kinds) == [0, 1]


def test_what_no_fit_makes_is_refused(column):
    found = TargetStatistics.of(0, *column)
    with pytest.raises(UnsoundError, match="codes must ascend"):
        check_stored(replace(found, codes=found.codes[::-1].copy()))
    with pytest.raises(UnsoundError, match="there must be sums for each level"):
        check_stored(replace(found, codes=found.codes[:-1]))
