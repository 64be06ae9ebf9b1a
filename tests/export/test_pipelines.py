"""Pipelines, tables of columns and unions before a model."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

import mercer
from mercer import FourierFeatures, Gaussian, KernelRidge, LinearFeatures

STEPS = ["passthrough", FunctionTransformer(), FourierFeatures(Gaussian(gamma=0.1), n_components=20, random_state=0)]


@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_each_step_before_a_map(run, close, diabetes, step):
    X = diabetes[0] * 3 + 1
    model = make_pipeline(step, LinearFeatures()).fit(X[:300])
    close(run(model, X)["features"], model.transform(X))


def test_a_pipeline_that_ends_in_a_learner(run, close, diabetes):
    X, y = diabetes
    model = make_pipeline(StandardScaler(), KernelRidge(random_state=0)).fit(100 + 7 * X, y)
    close(run(model, 100 + 7 * X)["prediction"], model.predict((100 + 7 * X).astype(np.float32).astype(np.float64)))


def test_other_steps_are_refused_in_words(run, diabetes):
    X, y = diabetes
    with pytest.raises(ValueError, match=r"step SelectKBest .* Steps that can: .*StandardScaler"):
        run(make_pipeline(SelectKBest(), KernelRidge(random_state=0)).fit(X, y), X)
    with pytest.raises(ValueError, match=r"holds the function .*log1p.* Apply it before the pipeline"):
        run(make_pipeline(FunctionTransformer(np.log1p), LinearFeatures()).fit(abs(X)), X)


def people(rng, n_rows, cities=("Oslo", "Rome", "Lima", "Bern")):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "height": rng.normal(170, 10, n_rows),
            "city": rng.choice(cities, n_rows).astype(object),
            "unused": "text",
            "size": rng.choice(["S", "M", "L"], n_rows),
            "floor": rng.randint(0, 4, n_rows),
        }
    )
    frame.loc[::13, "height"] = np.nan
    frame.loc[::17, "city"] = np.nan
    return frame


def inputs_of(frame, names):
    """Return the inputs of a file: float32 numbers, and text where "" is missing."""
    found = {}
    for name in names:
        column = frame[[name]]
        is_number = column.dtypes.iloc[0].kind in "fi"
        found[name] = (
            column.to_numpy(np.float32)
            if is_number
            else column.astype(object).where(column.notna(), "").to_numpy(dtype=object)
        )
    return found


def tutorial_columns():
    """The columns of every tutorial: numbers imputed and scaled, text imputed and one-hot."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    cities = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    sizes = OrdinalEncoder(categories=[["S", "M", "L"]])
    members = [("numbers", numbers, ["height"]), ("cities", cities, ["city"]), ("sizes", sizes, ["size"])]
    return ColumnTransformer([*members, ("left", "drop", ["unused"])], remainder="passthrough")


def test_the_pipeline_of_tutorials(run, close, rng, tmp_path):
    frame, other = people(rng, 300), people(rng, 80, ["Oslo", "Rome", "Paris"])
    y = np.nan_to_num(frame["height"] / 170) + (frame["city"] == "Rome") - (frame["size"] == "L")
    model = make_pipeline(tutorial_columns(), KernelRidge(random_state=0)).fit(frame, y)
    mercer.save(model, tmp_path / "model.mercer")
    other["height"] = other["height"].astype(np.float32)
    inputs = inputs_of(other, ["height", "city", "size", "floor"])
    for one in (model, mercer.load(tmp_path / "model.mercer")):
        close(run(one, inputs)["prediction"], model.predict(other))


def test_columns_that_no_step_takes_are_no_inputs(rng):
    onnx = pytest.importorskip("onnx")
    assert onnx is not None
    from mercer.export import to_onnx

    frame = people(rng, 50)
    model = make_pipeline(tutorial_columns(), LinearFeatures()).fit(frame)
    assert {one.name for one in to_onnx(model).graph.input} == {"height", "city", "size", "floor"}


def test_a_pipeline_that_ends_in_a_transformer(run, close, rng):
    frame = people(rng, 100)
    made = tutorial_columns().fit(frame)
    expected = made.transform(frame)
    found = run(made, inputs_of(frame, ["height", "city", "size", "floor"]))["transformed"]
    close(found, np.asarray(expected.todense() if hasattr(expected, "todense") else expected, dtype=np.float32))


def test_unions_weights_and_numbers_of_columns(run, close, diabetes):
    X = diabetes[0]
    union = FeatureUnion(
        [("a", StandardScaler()), ("none", "drop"), ("b", make_pipeline(MinMaxScaler(), Binarizer(threshold=0.5)))],
        transformer_weights={"b": 0.25},
    )
    some = ColumnTransformer(
        [
            ("first", union, [0, 3]),
            ("slice", "passthrough", slice(4, 6)),
            ("mask", MaxAbsScaler(), [False] * 9 + [True]),
        ],
        transformer_weights={"slice": 2.0},
    )
    model = make_pipeline(some, LinearFeatures()).fit(X[:300])
    close(run(model, X)["features"], model.transform(X))


def test_text_that_reaches_the_model_is_refused_in_words(rng):
    pytest.importorskip("onnx")
    from mercer.export import to_onnx

    frame = people(rng, 60)
    cities = ColumnTransformer([("city", SimpleImputer(strategy="constant", fill_value="none"), ["city"])])
    with pytest.raises(ValueError, match=r"is text where numbers are needed\. Encode it by OneHotEncoder"):
        to_onnx(cities.fit(frame))
