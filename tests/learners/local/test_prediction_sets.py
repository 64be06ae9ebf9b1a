"""Prediction sets: the quantile of n + 1 rows, weights, sets that grow with the coverage, and forged files."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.learners.local.prediction_sets import PredictionSets
from mercer.state import UnsoundError, check_stored


@pytest.fixture
def found(rng):
    p = rng.dirichlet(np.ones(4), size=99)
    codes = (p.cumsum(axis=1) < rng.random_sample((99, 1))).sum(axis=1)
    return p, codes, PredictionSets.of(p, codes, np.ones(99))


@pytest.mark.parametrize("coverage", [0.1, 0.5, 0.9])
def test_the_threshold_is_a_quantile_of_n_plus_one_rows(found, coverage):
    p, codes, sets = found
    check_stored(sets)
    threshold = np.sort(p[np.arange(99), codes])[::-1][int(np.ceil(coverage * 100)) - 1]
    expected = p >= threshold
    expected[np.arange(99), p.argmax(axis=1)] = True
    np.testing.assert_array_equal(sets.sets("owner", p, coverage), expected)


def test_sets_grow_with_the_coverage_to_all_classes(found):
    p, _, sets = found
    small, large = (sets.sets("owner", p, coverage) for coverage in (0.5, 0.8))
    assert (small <= large).all()
    assert sets.sets("owner", p, 0.999).all()


def test_weights_are_repetitions(found):
    p, codes, _ = found
    times = np.arange(99) % 3 + 1
    one = PredictionSets.of(p, codes, times.astype(float))
    other = PredictionSets.of(np.repeat(p, times, axis=0), np.repeat(codes, times), np.ones(times.sum()))
    for coverage in (0.3, 0.77):
        np.testing.assert_array_equal(one.sets("owner", p, coverage), other.sets("owner", p, coverage))


def test_bad_values_are_refused_in_words(found):
    p, _, sets = found
    for coverage in (0.0, 1.0, "most"):
        with pytest.raises(ValueError, match="owner: coverage must be"):
            sets.sets("owner", p, coverage)
    with pytest.raises(UnsoundError, match="probabilities must descend"):
        check_stored(replace(sets, probabilities=sets.probabilities[::-1].copy()))
    with pytest.raises(UnsoundError, match="shares must ascend"):
        check_stored(replace(sets, shares=sets.shares[::-1].copy()))
