"""Figures of what a fitted model holds: each is there if the model holds what it shows, and says it in words."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from mercer import Gaussian, KernelPCA, KernelRidge, KernelSVC, LocalKernelRidge, TunedClassifier
from mercer.cli.model_figures import figure, histogram, of_model
from mercer.learners import TableModel

X = np.random.RandomState(0).rand(300, 3)
Y = np.sin(6 * X[:, 0]) + X[:, 1]


def titles(learner):
    return [drawn.title for drawn in of_model(TableModel.of(learner))]


def test_ridge_regression_shows_the_widths_that_it_tried():
    X = np.random.RandomState(0).uniform(-1, 1, (4500, 4))
    model = KernelRidge(Gaussian(gamma=1.0), alpha=0.01, random_state=0).fit(X, np.sin(5 * X).sum(axis=1))
    (drawn,) = of_model(TableModel.of(model))
    assert drawn.title == "Would more features help?"
    assert drawn.caption.endswith(f"{model.coef_.size} features were taken.")


def test_ridge_regression_shows_its_penalties():
    model = KernelRidge(n_components=40, random_state=0).fit(X, Y)
    (penalties,) = of_model(TableModel.of(model))
    assert penalties.title == "Which penalty?"
    assert f"alpha {model.alpha_:.3g} was chosen of {len(model.alphas_)}" in penalties.caption
    assert "mathdefault" not in penalties.panels[0].svg


def test_one_penalty_is_no_path():
    assert titles(KernelRidge(alpha=0.1, n_components=20, random_state=0).fit(X, Y)) == []


def test_residuals_of_one_target_only():
    one = LocalKernelRidge(alpha=0.1, random_state=0).fit(X, Y)
    assert titles(one) == ["How far off is it?"]
    two = LocalKernelRidge(alpha=0.1, random_state=0).fit(X, np.column_stack([Y, Y]))
    assert titles(two) == []


def test_the_meaning_of_a_score_is_shown_for_two_classes():
    y = np.array(["under", "over"])[(Y > 1).astype(int)]
    model = TunedClassifier(n_trees=1, time_budget=0.5, random_state=0).fit(X, y)
    drawn = {one.title: one for one in of_model(TableModel.of(model))}
    assert "share of under" in drawn["What does a score mean?"].panels[0].svg
    three = TunedClassifier(n_trees=1, time_budget=0.5, random_state=0).fit(X, (3 * X[:, 0]).astype(int))
    assert "What does a score mean?" not in titles(three)
    assert titles(KernelSVC(n_components=20, random_state=0).fit(X, y)) == []


def test_quantiles_in_words_are_those_of_the_residuals():
    drawn = histogram(np.linspace(-2, 2, 401), "Title", "Residuals")
    assert drawn.caption == "Residuals: half of the residuals are within 1, nine tenths within 1.8."


def test_a_screen_reader_hears_title_and_facts():
    drawn = figure("How good?", "caption", lambda axes, colours: axes.plot([1, 2]), "very good", (2.0, 2.0))
    assert drawn.panels[0].alt == "How good? very good."


def test_models_without_a_target_have_no_page():
    with pytest.raises(ValueError, match="predicts neither classes nor numbers"):
        titles(KernelPCA(random_state=0).fit(X))
