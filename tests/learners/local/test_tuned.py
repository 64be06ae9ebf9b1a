"""Tuned estimators: what they reach on synthetic tables, their report, intervals, importances, strange tables."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import TunedClassifier, TunedRegressor
from mercer.storage import dumps, loads


@parametrize_with_checks([TunedRegressor(), TunedClassifier()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_it_comes_near_the_noise(table, regressor):
    X, y = table
    # The noise has the variance (0.5^2 + 0.05^2) / 2 = 0.126; that of 300 squared errors has a standard error of 10 %.
    error = np.mean((regressor.predict(X[600:]) - y[600:]) ** 2)
    assert error < 0.126 * 1.6
    assert regressor.report_.error * np.var(y[:600]) < 0.126 * 1.6


def test_a_smooth_table_is_learned_to_many_digits():
    X = np.random.RandomState(1).rand(600, 3)
    y = np.sin(6 * X[:, 0]) + X[:, 1]
    assert TunedRegressor(random_state=0).fit(X[:500], y[:500]).score(X[500:], y[500:]) > 0.999


def test_no_row_is_predicted_far_outside_the_targets(table, regressor):
    """Random features did so: R^2 was -1.3 on a table with five rows far outside."""
    X, y = table
    far = X[600:] * 1e6
    predicted = regressor.predict(far)
    assert predicted.min() > y.min() - np.ptp(y)
    assert predicted.max() < y.max() + np.ptp(y)


def test_the_report_lists_trials_and_choices(regressor):
    report = regressor.report_
    assert {"columns", "metric", "kernel", "scale", "alpha", "new rows", "low order"} == set(report.steps) - {"trees"}
    trials = zip(report.steps, report.tried, report.errors, strict=True)
    columns = {what: error for step, what, error in trials if step == "columns" and "with trees" not in what}
    assert report.chosen["columns"] == min(columns, key=columns.__getitem__)  # the second search has one scaling
    assert report.ended == "done"
    assert len(report.table().splitlines()) == 1 + len(report.steps) + len(report.chosen) + 2
    assert len(repr(report)) < 300
    assert "<table>" in report._repr_html_()
    assert report.seconds >= sum(report.trial_seconds) > 0


def test_columns_that_matter_are_important(table, regressor):
    importances = regressor.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert set(np.argsort(importances)[-2:]) == {0, 1}
    X, y = table
    found = permutation_importance(regressor, X[600:], y[600:], n_repeats=2, random_state=0).importances_mean
    assert set(np.argsort(found)[-2:]) == {0, 1}


def test_partial_dependence_follows_the_target(table, regressor, rng):
    X, _ = table
    found = partial_dependence(regressor, X[600:], [0], grid_resolution=20)
    grid, mean = found["grid_values"][0], found["average"][0]
    # The target is sin(2 x) in column 0; the rest adds a constant.
    assert np.corrcoef(mean, np.sin(2 * grid))[0, 1] > 0.95
    labels = X[:, 0] + 0.3 * rng.standard_normal(900) > 0
    classifier = TunedClassifier(random_state=0).fit(X[:400], labels[:400])
    mean = partial_dependence(classifier, X[600:], [0], grid_resolution=5)["average"][0]
    assert mean[0] < 0.1
    assert mean[-1] > 0.9


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_cover_what_they_say_where_noise_is_small_and_where_it_is_large(coverage):
    rng = np.random.RandomState(3)
    X = rng.random_sample((4000, 2))
    y = np.sin(6 * X[:, 0]) + np.where(X[:, 1] > 0.5, 1.0, 0.1) * rng.standard_normal(4000)
    model = TunedRegressor(random_state=0, leaf_rows=500).fit(X[:2000], y[:2000])
    low, high = model.predict_interval(X[2000:], coverage).T
    inside = (low <= y[2000:]) & (y[2000:] <= high)
    # A false alarm in 1e-6 runs for exact coverage, and 3 points for what 2000 training rows leave unknown.
    slack = 0.03 + coverage - binom.ppf(5e-7, 2000, coverage) / 2000
    assert abs(inside.mean() - coverage) < slack
    large = X[2000:, 1] > 0.5
    width = high - low
    assert width[large].mean() > 4 * width[~large].mean()
    for part in (large, ~large):
        assert abs(inside[part].mean() - coverage) < slack + 0.06
    np.testing.assert_allclose((low + high) / 2, model.predict(X[2000:]), rtol=1e-6, atol=1e-9)


def test_several_targets_are_those_of_single_fits_in_shape_and_quality(table):
    X, y = table
    Y = np.column_stack([y, 1e6 * np.cos(X[:, 0])])
    model = TunedRegressor(random_state=0, leaf_rows=300).fit(X[:600], Y[:600])
    assert model.predict(X[600:]).shape == (300, 2)
    assert model.score(X[600:], Y[600:]) > 0.85
    intervals = model.predict_interval(X[600:], 0.9)
    assert intervals.shape == (300, 2, 2)
    inside = (intervals[..., 0] <= Y[600:]) & (Y[600:] <= intervals[..., 1])
    # 300 rows: five standard errors are 8.7 points, and 600 training rows leave 3 more unknown.
    assert np.abs(inside.mean(axis=0) - 0.9).max() < 0.117
    np.testing.assert_array_equal(loads(dumps(model)).predict(X), model.predict(X))


def test_standard_deviations_are_the_size_of_the_residuals(table, regressor):
    X, y = table
    predicted, deviation = regressor.predict(X[600:], return_std=True)
    np.testing.assert_array_equal(predicted, regressor.predict(X[600:]))
    ratio = (y[600:] - predicted) / deviation
    # The mean square of 300 ratios of variance 1 has a standard error of 8 % for normal noise.
    assert 0.6 < np.sqrt(np.mean(ratio**2)) < 1.4
    noisy = X[600:, 2] > 0.3
    assert deviation[noisy].mean() > 2 * deviation[X[600:, 2] < -0.3].mean()


@pytest.mark.parametrize("coverage", [0.7, 0.95])
def test_sets_hold_the_class_as_often_as_they_say(coverage):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((3000, 2))
    logits = np.column_stack([2 * np.sin(2 * X[:, 0]), X[:, 1], -X[:, 1]])
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < rng.random_sample((3000, 1))).sum(axis=1)
    model = TunedClassifier(random_state=0, leaf_rows=500).fit(X[:1000], y[:1000])
    sets = model.predict_set(X[1000:], coverage)
    inside = sets[np.arange(2000), y[1000:]]
    # A false alarm in 1e-6 runs for exact coverage, and 4 points for what 1000 training rows leave unknown.
    assert inside.mean() > binom.ppf(5e-7, 2000, coverage) / 2000 - 0.04
    if coverage > 0.9:  # with 0.7 the most probable class alone covers nearly as much
        assert inside.mean() < binom.ppf(1 - 5e-7, 2000, coverage) / 2000 + 0.04
    assert sets.any(axis=1).all()
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        model.predict_set(X, 1.0)


def test_float32_sparse_and_missing_values(table, regressor):
    X, y = table
    np.testing.assert_allclose(regressor.predict(sparse.csr_array(X[600:])), regressor.predict(X[600:]))
    holed = np.where(np.random.RandomState(0).random_sample(X.shape) < 0.1, np.nan, X)
    assert TunedRegressor(random_state=0).fit(holed[:600], y[:600]).score(holed[600:], y[600:]) > 0.6


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_with_text_and_dates(library):
    frames = pytest.importorskip(library)
    rng = np.random.RandomState(0)
    letters = rng.choice(list("abcd"), 600)
    days = rng.randint(0, 300, 600)
    dates = np.datetime64("2024-01-01") + days.astype("timedelta64[D]")
    X = frames.DataFrame({"letter": letters, "date": dates.astype("datetime64[ms]"), "x": rng.standard_normal(600)})
    y = np.where(letters == "a", 3.0, 0.0) + days / 100 + 0.1 * rng.standard_normal(600)
    model = TunedRegressor(random_state=0).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > 0.95
    assert list(model.feature_names_in_) == ["letter", "date", "x"]
    assert model.feature_importances_[2] < 0.1
    np.testing.assert_array_equal(loads(dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_found_and_probabilities_are_calibrated(n_classes):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((2000, 3))
    p = 1 / (1 + np.exp(-3 * X[:, 0]))
    y = (rng.random_sample(2000) < p).astype(int)
    if n_classes == 3:
        y = np.where(X[:, 1] > 1, 2, y)
    names = np.array(["one", "three", "two"])
    model = TunedClassifier(random_state=0, leaf_rows=500).fit(X[:1000], names[y[:1000]])
    best = np.where(X[:, 1] > 1, 2, p > 0.5) if n_classes == 3 else (p > 0.5).astype(int)
    # The best possible rule, and four standard errors of the difference of two rules on 1000 rows.
    assert model.score(X[1000:], names[y[1000:]]) > np.mean(best[1000:] == y[1000:]) - 0.04
    found = model.predict_proba(X[1000:])
    assert found.shape == (1000, n_classes)
    np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(X[1000:]))
    if n_classes == 2:
        # Calibration in five bins of 200 rows: a standard error of 0.035 in each.
        order = np.argsort(found[:, 1])
        for some in np.array_split(order, 5):
            assert abs(found[some, 1].mean() - y[1000:][some].mean()) < 0.15
    again = loads(dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_rare_classes_are_found_with_balanced_weights():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((1000, 2))
    y = (X[:, 0] + 0.5 * rng.standard_normal(1000) > 1.8).astype(int)
    plain, balanced = (TunedClassifier(random_state=0, class_weight=w).fit(X, y) for w in (None, "balanced"))
    assert balanced.predict(X).sum() > plain.predict(X).sum()


@pytest.mark.parametrize(
    "rows",
    [
        lambda rng: np.column_stack([np.full(60, np.nan), rng.standard_normal(60)]),
        lambda rng: rng.standard_normal((60, 200)),
        lambda rng: 1e300 * rng.standard_normal((60, 2)),
        lambda rng: 1e-300 * rng.standard_normal((60, 2)),
        lambda rng: np.ones((60, 2)),
        lambda rng: np.repeat(rng.standard_normal((3, 2)), 20, axis=0),
    ],
    ids=["all missing", "more columns than rows", "1e300", "1e-300", "constant", "repeated"],
)
def test_strange_tables_give_a_sound_model(rng, rows):
    X = rows(rng)
    y = rng.standard_normal(60)
    for target in (y, np.full(60, 2.0), 1e200 * y):
        model = TunedRegressor(random_state=0).fit(X, target)
        assert np.isfinite(model.predict(X)).all()
        assert np.isfinite(model.predict_interval(X)).all()
    assert np.isfinite(TunedClassifier(random_state=0).fit(X, y > 0).predict_proba(X)).all()


def test_mean_targets_of_categories_are_chosen_where_they_help():
    """Codes whose order says nothing: the mean of 100 levels explains what 100 jumps along a column would."""
    rng = np.random.RandomState(0)
    codes, effects = rng.randint(100, size=3000), rng.standard_normal(100)
    X = np.column_stack([codes, rng.standard_normal(3000)])
    y = effects[codes] + np.sin(2 * X[:, 1]) + 0.3 * rng.standard_normal(3000)
    model = TunedRegressor(random_state=0, leaf_rows=500, n_landmarks=50).fit(X[:2000], y[:2000])
    assert model.preparation_.get_feature_names_out().tolist()[:3] == ["x0", "x1", "x0 mean of y"]  # trees may follow
    # The noise is 5 % of the variance, and 20 rows per level leave 1 % of it unknown.
    assert model.score(X[2000:], y[2000:]) > 0.88
    # Statistics of a row that hold its own target would promise an error far below that of new rows.
    error = np.mean((model.predict(X[2000:]) - y[2000:]) ** 2) / np.var(y)
    assert model.report_.error > 0.8 * error
    np.testing.assert_array_equal(loads(dumps(model)).predict(X), model.predict(X))


def test_coverage_over_many_tables_is_what_was_asked_for():
    """Twenty tables, each with its own fit: the mean coverage, with the spread that fits and test rows give it."""
    covered = []
    for seed in range(20):
        rng = np.random.RandomState(seed)
        X = rng.standard_normal((900, 2))
        y = np.sin(2 * X[:, 0]) + np.exp(X[:, 1] / 2) * 0.3 * rng.standard_t(5, 900)
        model = TunedRegressor(random_state=seed, time_budget=1e-3).fit(X[:400], y[:400])
        low, high = model.predict_interval(X[400:], 0.9).T
        covered.append(np.mean((low <= y[400:]) & (y[400:] <= high)))
    # Mean of 20 coverages: the quantile of 400 residuals has a standard error of 1.5 points, the share of 500 test rows
    # one of 1.3 points, so that their mean has 0.45 points. Two points are asked for: with 4.9 standard errors (false
    # alarm 1e-6) more, a sound model stays within 4.2 points.
    assert abs(np.mean(covered) - 0.9) < 0.02 + 4.9 * np.sqrt((0.9 * 0.1 / 400 + 0.9 * 0.1 / 500) / 20)


def test_a_hundred_thousand_categories_give_a_sound_model():
    pandas = pytest.importorskip("pandas")
    n_rows = 100_000
    X = pandas.DataFrame({"id": [f"name {i}" for i in range(n_rows)], "x": np.arange(n_rows) % 1000 / 1000})
    y = np.sin(6 * X["x"].to_numpy())
    model = TunedRegressor(random_state=0, time_budget=1e-3, leaf_rows=100, n_landmarks=20, n_trees=1).fit(X, y)
    assert model.score(X[:1000], y[:1000]) > 0.9
    assert model.preparation_.encoding_.n_columns <= 34
    new = pandas.DataFrame({"id": ["never seen", None], "x": [0.25, 0.5]})
    np.testing.assert_allclose(model.predict(new), np.sin([1.5, 3.0]), atol=0.3)


def test_many_categories_share_columns():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"id": [f"name {i}" for i in range(3000)], "x": np.linspace(0, 1, 3000)})
    model = TunedRegressor(random_state=0, leaf_rows=300, n_landmarks=50).fit(X, X["x"] ** 2)
    assert model.preparation_.encoding_.n_columns == 33
    assert model.score(X, X["x"] ** 2) > 0.99


def test_importances_do_not_depend_on_the_scale_of_the_prepared_columns():
    """With one scale for all columns, a column of 0 and 1 has the largest gradient, and hardly any effect."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.RandomState(0)
    area, town = rng.uniform(30, 200, 400), rng.choice(["Aden", "Bern", "Cork"], 400)
    frame = pandas.DataFrame({"area": area, "town": town})
    y = 2000 * area + 20_000 * (town == "Bern") + 5000 * rng.standard_normal(400)
    model = TunedRegressor(n_trees=1, random_state=0).fit(frame, y)
    assert model.feature_importances_[0] > 0.8  # of the variance, area has 0.99
