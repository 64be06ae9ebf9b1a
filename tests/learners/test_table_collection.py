"""Tables that are Dask data frames: the model of the same rows in memory, lazy predictions, refusals by partition."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import KernelLogisticRegression, KernelRidge, KernelRidgeClassifier
from mercer.data import TableError, TablePreparation, TableWarning
from mercer.learners import TableModel, TunedRegressor

dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("default")  # Dask's own warnings
N_ROWS = 600
FEW = {"n_components": 40, "random_state": 0}


def _frame():
    """Numbers, dates, text and missing values; a column of text begins with numbers."""
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(5, 2, N_ROWS),
            "town": rng.choice(["Aden", "Bern", "Cork"], N_ROWS),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.randint(0, 400, N_ROWS), unit="D"),
            "code": [str(i % 3) for i in range(400)] + ["x", "0"] * 100,
            "constant": 1.0,
            "name": [f"row {i}" for i in range(N_ROWS)],
        }
    )
    frame.loc[rng.rand(N_ROWS) < 0.1, "size"] = np.nan
    frame.loc[rng.rand(N_ROWS) < 0.1, "town"] = None
    height = frame["size"].fillna(0) + 3 * (frame["town"] == "Bern") - (frame["code"] == "x")
    return frame.assign(price=height + 0.1 * rng.standard_normal(N_ROWS), label=np.where(height > 6, "dear", "cheap"))


FRAME = _frame()


def _parts(frame=FRAME):
    """Return a Dask data frame of partitions of several lengths, one of them empty."""
    cuts = [0, 170, 170, 400, 410, len(frame)]
    parts = [frame.iloc[a:b] for a, b in pairwise(cuts)]
    return dd.from_map(lambda part: part, parts, meta=frame.iloc[:0])


def _model():
    return TableModel(KernelRidgeClassifier(**FEW), KernelRidge(alpha=0.1, **FEW), test_fraction=0)


@pytest.mark.filterwarnings("ignore::mercer.data.TableWarning")
@pytest.mark.parametrize(("target", "other"), [("label", "price"), ("price", "label")])
def test_the_model_is_that_of_the_same_rows_in_memory(target, other):
    here = _model().fit(FRAME, target, ignore=(other, "name"))
    there = _model().fit(_parts(), target, ignore=(other, "name"))
    assert (there.task_, there.target_, there.ignored_, there.n_train_) == (here.task_, target, [other, "name"], N_ROWS)
    assert there.baselines_.items() <= here.baselines_.items()
    for name in ("number_names_", "date_names_", "category_names_", "indicated_", "left_out_", "categories_"):
        assert getattr(there.preparation_, name) == getattr(here.preparation_, name)
    assert there.preparation_.missing_levels_ == here.preparation_.missing_levels_
    assert there.kinds["code"] == "categories"
    np.testing.assert_allclose(there.preparation_.mean_, here.preparation_.mean_, rtol=1e-12)
    np.testing.assert_allclose(there.preparation_.scale_, here.preparation_.scale_, rtol=1e-12)
    found, expected = there.predict(FRAME), here.predict(FRAME)
    if target == "price":
        np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())  # blocks are cut elsewhere
        assert np.var(found - FRAME["price"]) < np.var(FRAME["price"])
    else:
        assert np.mean(found == expected) > 0.99
        assert np.mean(found == FRAME["label"]) > there.baselines_["majority"]


@pytest.mark.filterwarnings("ignore::mercer.data.TableWarning")
@pytest.mark.parametrize("target", ["label", "price"])
def test_predictions_are_lazy_and_those_of_the_partitions(target, tmp_path):
    other = {"label": "price", "price": "label"}[target]
    model = _model().fit(_parts(), target, ignore=(other, "name"))
    read = []

    def part(rows, target=target):  # Dask takes functions with equal closures for one
        read.append(len(rows))
        return rows

    frame = _parts().map_partitions(part, meta=FRAME.iloc[:0])
    lazy = model.predict(frame)
    assert read == []
    found = lazy.compute()
    assert sum(read) == N_ROWS
    expected = model.predict(FRAME)
    assert found.index.tolist() == FRAME.index.tolist()
    np.testing.assert_array_equal(found.to_numpy(), expected)
    frame.assign(predicted=lazy).to_parquet(tmp_path / "scored")
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "scored")["predicted"].to_numpy(), expected)


@pytest.mark.filterwarnings("ignore::mercer.data.TableWarning")
def test_probabilities_and_model_files(tmp_path):
    model = TableModel(KernelLogisticRegression(**FEW)).fit(_parts(), "label", ignore=("price", "name"))
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    found = loaded.predict_proba(_parts()).compute()
    np.testing.assert_array_equal(found.to_numpy(), model.predict_proba(FRAME))
    with pytest.raises(TableError, match="there are predict and predict_proba"):
        next(loaded.results(_parts()))


@pytest.mark.filterwarnings("ignore:.*left out, being constant:mercer.data.TableWarning")
def test_ridge_takes_the_place_of_tuned_models():
    with pytest.warns(TableWarning, match="KernelRidge on 1024 features takes their place, because X is a Dask data"):
        model = TableModel().fit(_parts()[["size", "town", "constant", "price"]], "price")
    assert isinstance(model.learner_, KernelRidge)
    assert model.loo_score_ > 0.8


def _with(column, row, value):
    frame = FRAME.copy()
    frame[column] = frame[column] if isinstance(value, float) else frame[column].astype(object)
    frame.loc[row, column] = value
    return frame


REFUSED = {
    "target": (lambda: _parts(_with("price", 405, None)), "partition 3: the target 'price' misses a value in row 6"),
    "infinity": (
        lambda: _parts(_with("size", 171, np.inf)),
        "partition 2: X contains infinity in column 'size', row 1",
    ),
    "dates": (lambda: _parts(_with("day", 405, "soon")), "partition 3 holds categories in column 'day'"),
    "no rows": (lambda: _parts()[_parts()["size"] > 1e9], "there are no rows"),
}


@pytest.mark.filterwarnings("ignore::mercer.data.TableWarning")
@pytest.mark.parametrize("fault", REFUSED)
def test_what_cannot_be_read_is_named_by_its_partition(fault):
    frame, message = REFUSED[fault]
    with pytest.raises(TableError, match=message):
        _model().fit(frame(), "price", ignore=("label", "name"))


def test_refusals_before_any_work():
    def never(rows):
        raise AssertionError("a partition was computed")

    frame = _parts().map_partitions(never, meta=FRAME.iloc[:0])
    with pytest.raises(ValueError, match="TunedRegressor prepares tables in this process"):
        TableModel(regressor=TunedRegressor()).fit(frame, "price")
    with pytest.raises(ValueError, match=r"test_fraction=0.2 holds out rows of this process.*random_split"):
        TableModel(KernelRidgeClassifier(), test_fraction=0.2).fit(frame, "label")
    with pytest.raises(ValueError, match="text names a column of strings of this process"):
        _model().fit(frame, "label", text="town")
    with pytest.raises(TableError, match=r"the target 'pice' is not a column\. Did you mean 'price'"):
        _model().fit(frame, "pice")
    with pytest.raises(TableError, match="which column is the target"):
        _model().fit(frame)
    with pytest.raises(TableError, match="a Dask array has no names of columns"):
        _model().fit(frame.to_dask_array(), 0)


@pytest.mark.filterwarnings("ignore::mercer.data.TableWarning")
def test_a_missing_column_is_named_before_any_work():
    model = _model().fit(FRAME, "price", ignore=("label", "name"))
    with pytest.raises(TableError, match="the model needs the column 'town'"):
        model.predict(_parts().drop(columns=["town"]))


def test_a_summary_of_parts_teaches_what_all_rows_teach():
    with pytest.raises(ValueError, match="missing must be one of"):
        TablePreparation(missing="maybe").fit_summary(None)
