"""The page of a trained model: figures, columns and choices, with names escaped."""

import numpy as np
import pandas as pd
import pytest

from mercer import KernelRidge, TunedClassifier, TunedRegressor
from mercer.cli.report_page import render
from mercer.learners import TableModel

pytest.importorskip("matplotlib")
OPTIONS = {"n_trees": 1, "time_budget": 0.5, "random_state": 0}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({"<b>x</b>": rng.rand(300), "z": rng.rand(300)})
    frame["y"] = np.sin(6 * frame["<b>x</b>"]) + 0.1 * frame["z"]
    return frame


def test_a_regression_has_four_figures_and_no_markup_of_names(frame):
    page = render(TableModel(regressor=TunedRegressor(**OPTIONS)).fit(frame, "y"), "rows.csv")
    for title in ("How good is it?", "Which columns matter?", "What was tried?", "How far off is it?"):
        assert f"<h3>{title}</h3>" in page
    assert page.count("<svg") == 4
    assert "<b>x</b>" not in page
    assert "<script" not in page
    assert 'style="' not in page  # the policy of the page forbids it


def test_a_classification_and_a_learner_that_is_not_tuned(frame):
    labelled = frame.assign(y=np.where(frame["y"] > 0, "up", "down"))
    page = render(TableModel(TunedClassifier(**OPTIONS)).fit(labelled, "y"), "rows.csv")
    assert "accuracy" in page
    page = render(TableModel(regressor=KernelRidge(n_components=16, random_state=0)).fit(frame, "y"), "rows.csv")
    assert "<h3>Which penalty?</h3>" in page
    assert page.count("<svg") == 2
    assert "error of the kernel" in page
    assert "Gaussian(" in page
