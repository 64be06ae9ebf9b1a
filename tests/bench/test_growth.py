"""Growth with the rows: powers and crossings of known times, models that stop at the limit, and the sentences."""

import numpy as np
import pytest

from mercer import Gaussian
from mercer.bench import growth
from mercer.bench.comparison import two_rings
from mercer.bench.growth import Step


def steps(model, times):
    return [Step(model, n, 0.9, seconds, 0.0) for n, seconds in times.items()]


EXACT = steps("exact SVM", {n: (n / 10_000) ** 2 for n in (1000, 2000, 4000)})
OURS = steps("mercer", {n: n / 50_000 for n in (1000, 2000, 4000, 8000, 16_000)})


def test_the_power_and_the_projection_are_those_of_the_times():
    assert growth.growth_power(EXACT) == pytest.approx(2.0)
    assert growth.projected(EXACT, 16_000) == pytest.approx(2.56)
    assert growth.projected([], 16_000) == 0.0
    assert growth.growth_power(EXACT[:1]) == 2.0  # one size says nothing yet


def test_the_crossing_is_where_the_times_are_equal():
    # n^2 / 1e8 = n / 5e4 at 2000 rows, a measured size; beside it the crossing lies between two sizes
    assert growth.crossing(EXACT, OURS) in (0.0, pytest.approx(2000, rel=1e-6))
    slower = steps("mercer", {n: n / 30_000 for n in (1000, 2000, 4000, 8000)})
    assert growth.crossing(EXACT, slower) == pytest.approx(1e8 / 3e4, rel=1e-6)


def test_a_machine_that_is_always_or_never_faster():
    assert growth.crossing(EXACT, steps("mercer", {1000: 1e-5, 4000: 1e-4})) == 0.0
    assert growth.crossing(EXACT, steps("mercer", {1000: 10.0, 4000: 50.0})) is None


def test_the_sentences_name_sizes_times_crossing_and_scores():
    rows, best = two_rings(200)
    exact, ours, scores = growth.sentences(rows, [*EXACT, *OURS], best)
    assert "4,000 rows in 0.16 s" in exact
    assert "the power 2.0 of the rows: 16,000 would take about 2.56 s" in exact
    assert "16,000 rows in 0.32 s, 8.0 times faster" in ours
    assert "90.0 % of mercer against 90.0 % at 4,000 rows" in scores
    assert "best possible is 90.0 %" in scores


def test_models_learn_from_growing_rows_and_stop_at_the_limit():
    rows, _ = two_rings(800, seed=1)
    models = growth.contestants(rows, Gaussian(), 64, C=1.0, seed=0, tables=False)
    found = list(growth.grow(rows, models, limit=60.0))
    for name in ("exact SVM", "mercer"):
        assert [step.n_rows for step in growth.of(found, name)] == [200, 400, 800]
        assert growth.of(found, name)[-1].score > 0.75
    stopped = list(growth.grow(rows, models, limit=1e-12))  # the first size has no projection
    assert [step.n_rows for step in stopped] == [200, 200]


def test_tables_are_given_to_trees_and_to_the_tuned_estimator_too():
    rows, _ = two_rings(60)
    names = [model.name for model in growth.contestants(rows, Gaussian(), 8, C=1.0, seed=0, tables=True)]
    assert names == ["exact SVM", "mercer", "tuned mercer", "boosted trees"]


def test_a_gram_matrix_beyond_memory_is_left_out():
    models = growth.contestants(two_rings(60)[0], Gaussian(), 8, C=1.0, seed=0, tables=False)
    assert models[0].fits(1000)
    assert not models[0].fits(10**9)


def test_the_rows_are_those_of_the_seed_and_both_parts_differ():
    rows, best = two_rings(500, seed=3)
    again, _ = two_rings(500, seed=3)
    np.testing.assert_array_equal(rows.X_train, again.X_train)
    assert len(rows.y_train) == 500
    assert best == pytest.approx(0.9)
    assert not np.array_equal(rows.X_train[: len(rows.X_test)], rows.X_test)


def test_one_measured_size_is_no_measured_growth():
    few = [*EXACT[:1], *OURS[:2]]
    assert growth.sentences(two_rings(400)[0], few)[0] == (
        "The exact SVM trains on 1,000 rows in 10 ms; "
        "if its time grows with the square of the rows, 2,000 take about 40 ms."
    )


def test_tables_have_a_fourth_sentence_on_the_tuned_estimator_and_trees():
    rows, _ = two_rings(200)
    others = [*steps("tuned mercer", {1000: 2.0, 2000: 5.0}), *steps("boosted trees", {1000: 0.25})]
    said = growth.sentences(rows, [*EXACT, *OURS, *others])
    assert len(said) == 4
    assert said[3].startswith("Without settings: tuned mercer ")
    assert "at 2,000 rows, trained in 5 s; boosted trees" in said[3]
    assert said[3].endswith("at 1,000 rows, trained in 0.25 s.")
