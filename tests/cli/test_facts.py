"""What is said of a model of a table: columns by what became of them, scores, and the next step."""

import numpy as np
import pandas as pd
import pytest

from mercer import KernelRidge, TunedRegressor
from mercer.cli import facts
from mercer.learners import TableModel


@pytest.fixture(scope="module")
def frame():
    rng = np.random.RandomState(0)
    x = rng.rand(300)
    frame = pd.DataFrame({"x": x, "city": rng.choice(["a", "b", None], 300), "flat": 1.0, "id": np.arange(300)})
    frame["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(300), unit="D")
    frame["y"] = np.sin(6 * x) + (frame["city"] == "a")
    return frame


LEARNERS = {
    "tuned": TunedRegressor(n_trees=1, time_budget=0.5, random_state=0),
    "ridge": KernelRidge(n_components=128, random_state=0),
}


@pytest.mark.filterwarnings("ignore::mercer.data.TableWarning")
@pytest.mark.parametrize("name", LEARNERS)
def test_columns_by_what_became_of_them(frame, name):
    model = TableModel(regressor=LEARNERS[name]).fit(frame, "y", ignore=("id",))
    found = facts.column_facts(model)
    assert found["numbers"] == ["x"]
    assert found["dates"] == ["when"]
    assert found["categories"] == {"city": ["a", "b"]}
    assert (found["with_missing"], found["left_out"], found["ignored"]) == (["city"], ["flat"], ["id"])
    words = "\n".join(facts.in_words(model))
    for expected in (
        "R2",
        "leave-one-out on all 300 rows",
        "mean 0.0000",
        "1 number, 1 text, 1 date",
        "constant: flat",
    ):
        assert expected in words
    assert ("important" in words) == (name == "tuned")


def test_importances_are_shares_in_falling_order(frame):
    model = TableModel(regressor=LEARNERS["tuned"]).fit(frame[["x", "city", "y"]], "y")
    shares = list(facts.importances(model).values())
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1, abs=1e-3)


def test_the_next_step_depends_on_the_score(frame):
    model = TableModel.of(LEARNERS["tuned"].fit(frame[["x"]], frame["y"]))
    assert "predict m.mercer new.csv --interval 0.9" in facts.next_step(model, "m.mercer")
    model.baselines_ = {"linear": 0.999999}
    assert "hardly beats the baselines" in facts.next_step(model, "m.mercer")
    other = TableModel.of(LEARNERS["ridge"].fit(frame[["x"]], frame["y"]))
    assert "without --model" in facts.next_step(other, "m.mercer")
