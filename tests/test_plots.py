"""Plots show the numbers of the model, in given axes or new ones, with colours of one meaning."""

import numpy as np
import pytest
from matplotlib import colors
from matplotlib.figure import Figure

from mercer import Gaussian, KernelLogisticRegression, KernelPCA, KernelRidge, LocalKernelRidge, plots
from mercer.gram import approximation_error


@pytest.fixture
def axes():
    return Figure().subplots()


@pytest.fixture
def rows(rng):
    X = rng.randn(120, 3)
    return X, np.sin(X[:, 0]) + 0.1 * rng.randn(120)


def colours(axes):
    return {colors.to_hex(line.get_color()) for line in axes.get_lines()}


def test_a_learning_curve_shows_the_scores_of_fits_on_growing_parts(rows, axes):
    X, y = rows
    model = KernelRidge(n_components=20, random_state=0)
    assert plots.learning_curve(model, X, y, n_sizes=3, n_repeats=2, ax=axes) is axes
    new, _ = axes.get_lines()
    assert new.get_xdata()[-1] == 90
    order = [np.random.RandomState(seed).permutation(120) for seed in (0, 1)]
    scores = [model.fit(X[o[30:]], y[o[30:]]).score(X[o[:30]], y[o[:30]]) for o in order]
    assert new.get_ydata()[-1] == pytest.approx(np.mean(scores))
    assert colours(axes) == {plots.NEW_ROWS, plots.MODEL}


def test_errors_are_those_of_the_maps(rows, axes):
    from mercer import feature_map

    X = rows[0]
    plots.error_against_components(Gaussian(), X, components=[8, 32], methods=["nystroem"], ax=axes)
    made = feature_map(Gaussian(), 32, method="nystroem", random_state=0).fit(X)
    assert axes.get_lines()[0].get_ydata()[1] == pytest.approx(approximation_error(made, X).frobenius.value)
    assert not colours(axes) & {plots.MODEL, plots.NEW_ROWS, plots.REFERENCE}


def test_the_path_shows_the_chosen_alpha(rows, axes):
    model = KernelRidge(n_components=20, random_state=0).fit(*rows)
    plots.alpha_path(model, ax=axes)
    path, chosen = axes.get_lines()
    assert path.get_ydata().min() == model.scores_.min()
    assert chosen.get_xdata()[0] == model.alpha_
    with pytest.raises(ValueError, match=r"KernelRidge has no alphas_. Fit with alpha="):
        plots.alpha_path(KernelRidge(alpha=1.0, n_components=5, random_state=0).fit(*rows))


def test_the_spectrum_is_that_of_the_model(rows, axes):
    model = KernelPCA(n_components=4, random_state=0).fit(rows[0])
    np.testing.assert_array_equal(plots.spectrum(model, ax=axes).get_lines()[0].get_ydata(), model.eigenvalues_)


def test_residuals_of_training_rows_are_left_out_and_those_of_new_rows_are_not(rows, axes):
    X, y = rows
    model = LocalKernelRidge(random_state=0).fit(X, y)
    plots.residuals(model, None, y, ax=axes)
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), model.loo_residuals_)
    other = Figure().subplots()
    plots.residuals(model, X, y, ax=other)
    np.testing.assert_allclose(other.get_lines()[0].get_ydata(), y - model.predict(X))
    assert (axes.get_ylabel(), other.get_ylabel()) == ("leave-one-out residual", "residual")
    with pytest.raises(ValueError, match="one target for each of 120 rows"):
        plots.residuals(model, None, y[:5])


def test_calibration_counts_what_is_right(rows, axes):
    X, y = rows
    model = KernelLogisticRegression(random_state=0).fit(X, y > 0)
    plots.calibration(model, X, y > 0, n_bins=3, ax=axes)
    points = axes.get_lines()[1]
    assert np.mean(points.get_ydata()) == pytest.approx(np.mean(model.predict(X) == (y > 0)))
    with pytest.raises(ValueError, match="KernelRidge has no predict_proba"):
        plots.calibration(KernelRidge(random_state=0).fit(X, y), X, y > 0)


def test_importances_are_bars_in_order(axes):
    class Model:
        feature_importances_ = np.array([0.2, 0.7, 0.1])

    plots.importances(Model(), names=["a", "b", "c"], ax=axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["c", "a", "b"]
    with pytest.raises(ValueError, match="must name 3 columns, got 1 names"):
        plots.importances(Model(), names=["a"])
