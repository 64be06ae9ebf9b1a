"""What a page says of rows with known targets is what scikit-learn's metrics and the map say of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, r2_score

pytest.importorskip("matplotlib")

from mercer import KernelLogisticRegression, KernelRidge, KernelSVC, approximation_error
from mercer.cli.row_figures import on_rows
from mercer.data import TableError, open_source
from mercer.learners import TableModel


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return two files of 300 rows each."""
    folder, found = tmp_path_factory.mktemp("rows"), []
    for seed in range(2):
        rng = np.random.RandomState(seed)
        frame = pd.DataFrame({"a": rng.rand(300), "b": rng.rand(300)})
        frame["y"] = np.sin(6 * frame["a"]) + 0.3 * rng.randn(300)
        frame["label"] = np.where(frame["y"] > 0.2, "high", "low")
        path = str(folder / f"{seed}.csv")
        frame.to_csv(path, index=False)
        found.append(path)
    return found


def test_regression(files):
    model = TableModel(regressor=KernelRidge(n_components=60, random_state=0)).fit(files[0], "y", ignore=("label",))
    found = on_rows(model, open_source(files[1]), files[1], "y")
    y, predicted = pd.read_csv(files[1])["y"], model.predict(files[1])
    assert found.facts["R2"] == f"{r2_score(y, predicted):.4f}"
    assert found.facts["rows"] == "300"
    assert [drawn.title for drawn in found.figures] == ["How far off is it here?"]
    rows = np.vstack(list(model.rows(files[1])))
    error = approximation_error(model.learner_.feature_map_, rows).frobenius
    assert found.facts["error of the kernel"].startswith(f"{error.value:.4f} of the Gram matrix")


@pytest.mark.parametrize("learner", [KernelLogisticRegression, KernelSVC])
def test_classification(files, learner):
    model = TableModel(learner(n_components=60, random_state=0)).fit(files[0], "label", ignore=("y",))
    found = on_rows(model, open_source(files[1]), files[1], "label")
    assert found.facts["accuracy"] == f"{accuracy_score(pd.read_csv(files[1])['label'], model.predict(files[1])):.4f}"
    has_probabilities = hasattr(model.learner_, "predict_proba")
    assert len(found.figures) == has_probabilities
    if has_probabilities:
        assert "in 10 groups of rows" in found.figures[0].caption


@pytest.mark.filterwarnings("ignore:.*columns that the model does not know")
def test_a_model_fitted_in_python_needs_the_name_of_the_target(files):
    frame = pd.read_csv(files[0])
    model = TableModel.of(KernelRidge(n_components=20, random_state=0).fit(frame[["a", "b"]], frame["y"]))
    with pytest.raises(TableError, match=r"which column is the target\? Name it with --target"):
        on_rows(model, open_source(files[1]), files[1], "")
    assert float(on_rows(model, open_source(files[1]), files[1], "y").facts["R2"]) > 0.5
