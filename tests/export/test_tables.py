"""Models of tables in ONNX, with an input for each column."""

import numpy as np
import pytest

from mercer import KernelRidgeClassifier
from mercer.learners import TableModel


def people(rng, n_rows):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"height": rng.normal(170, 10, n_rows), "city": rng.choice(["Oslo", "Rome"], n_rows)})
    frame["born"] = (np.datetime64("1990-01-01") + rng.randint(0, 9000, n_rows)).astype(str)
    frame["label"] = np.where((frame["height"] > 170) ^ (frame["city"] == "Rome"), "yes", "no")
    frame.loc[::13, "height"] = np.nan
    frame.loc[::17, "city"] = None
    frame.loc[::19, "born"] = None
    return frame


@pytest.mark.filterwarnings("ignore:.*never seen in training")
@pytest.mark.parametrize("learner", [None, KernelRidgeClassifier(random_state=0)], ids=["tuned", "ridge"])
def test_labels_are_those_of_the_model(run, rng, tmp_path, learner):
    people(rng, 300).to_csv(tmp_path / "people.csv", index=False)
    model = TableModel(learner).fit(str(tmp_path / "people.csv"), "label")
    rest = people(rng, 60)
    rest.loc[3, "city"] = "Paris"  # not seen
    inputs = {
        "height": rest[["height"]].to_numpy(np.float32),
        "city": rest[["city"]].astype(object).where(rest[["city"]].notna(), "").to_numpy(dtype=object),
    }
    known = rest["born"].notna()
    days = np.full(len(rest), np.nan)
    days[known] = rest["born"][known].to_numpy(dtype="datetime64[D]").astype(float)
    inputs["born"] = days[:, None]
    found = run(model, inputs)
    rest["height"] = rest["height"].astype(np.float32)
    expected = np.asarray(model.predict(rest))
    assert np.mean(found["label"] == expected) == 1.0
    if "scores" in found:
        (result,) = model.results(rest, scores=True)
        np.testing.assert_allclose(found["scores"].ravel(), result.scores[:, 1], atol=1e-5)
