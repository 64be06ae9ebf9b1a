"""The fit of a table: the memory that it asks for, and which rows are held out."""

import numpy as np
import pandas as pd
import pytest

from mercer import KernelRidge, KernelSVR, TunedRegressor, config_context
from mercer.data import TableError
from mercer.learners import KernelRidgeClassifier, TableModel, table_fit


@pytest.fixture
def frame(rng):
    x = rng.rand(300)
    return pd.DataFrame({"x": x, "y": np.sin(6 * x)})


def test_a_small_budget_of_memory_sends_a_table_through_passes(frame):
    with config_context(memory="1MiB"), pytest.warns(UserWarning, match=r"needs about .*config_context"):
        model = TableModel(random_state=0).fit(frame, "y")
    assert isinstance(model.learner_, KernelRidge)
    assert model.preparation_ is not None


def test_the_score_of_a_tuned_model_is_that_of_rows_it_has_not_seen(frame):
    learner = TunedRegressor(n_trees=1, time_budget=0.5, random_state=0)
    noise = frame.assign(y=np.random.RandomState(1).standard_normal(300))
    model = TableModel(regressor=learner, test_fraction=0.5).fit(noise, "y")
    assert model.score_ < 0.2  # of noise; a model that has seen the rows would have more
    assert model.n_train_ == 300


def test_fractions_that_leave_no_rows_are_refused(frame):
    with pytest.raises(TableError, match=r"of 300 rows none is left to test on. Choose another test fraction"):
        TableModel(regressor=KernelSVR(), test_fraction=1e-9).fit(frame, "y")


@pytest.mark.parametrize(
    ("learner", "expected"), [(KernelRidge(), True), (KernelRidge(alpha=1.0), False), (KernelRidgeClassifier(), False)]
)
def test_which_learners_have_leave_one_out_scores(learner, expected):
    assert table_fit._has_loo_score(learner) is expected
