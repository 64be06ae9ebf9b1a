"""Encoders and imputers of text and of numbers, against scikit-learn."""

import numpy as np
import pytest
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from mercer import LinearFeatures

TEXT_ENCODERS = [
    OneHotEncoder(handle_unknown="ignore"),
    OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=12),
    OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=2, drop="first"),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=9, encoded_missing_value=-2),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=9, min_frequency=12),
]


def texts(rng, n_rows, levels):
    made = np.empty((n_rows, 2), dtype=object)
    made[:, 0] = rng.choice(levels, n_rows, p=[0.6, 0.25, 0.15])
    made[:, 1] = rng.choice(["x", "yy", None], n_rows)
    return made


def inputs_of(rows):
    return {f"x{j}": np.where(rows[:, [j]] == None, "", rows[:, [j]]) for j in range(rows.shape[1])}  # noqa: E711


def dense(values):
    return np.asarray(values.todense() if hasattr(values, "todense") else values, dtype=np.float32)


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("encoder", TEXT_ENCODERS, ids=repr)
def test_text_with_missing_and_unseen_values(run, close, rng, encoder):
    encoder.fit(texts(rng, 60, ["a", "b", "c"]))
    rows = texts(rng, 40, ["a", "b", "unseen"])
    if getattr(encoder, "encoded_missing_value", 0) != -2 and isinstance(encoder, OrdinalEncoder):
        rows = rows[rows[:, 1] != None]  # NaN is no number to compare  # noqa: E711
    close(run(encoder, inputs_of(rows))["transformed"], dense(encoder.transform(rows)))


@pytest.mark.parametrize("encoder", [OneHotEncoder(), OneHotEncoder(drop="if_binary"), OrdinalEncoder()], ids=repr)
def test_encoders_that_refuse_unseen_values_know_the_others(run, close, rng, encoder):
    rows = texts(rng, 60, ["a", "b", "c"])
    rows = rows[rows[:, 1] != None]  # noqa: E711
    close(run(encoder.fit(rows), inputs_of(rows))["transformed"], dense(encoder.transform(rows)))
    strange = inputs_of(np.array([["unseen", "x"]], dtype=object))
    found = run(encoder, strange)["transformed"]
    known = np.isnan(found[0, 0]) if isinstance(encoder, OrdinalEncoder) else not found[0, :3].any()
    assert known, "a file raises no error: zeros, or NaN for the number of a category"


def test_numbers_as_categories(run, close, rng):
    X = rng.choice([0.1, 2.0, 7.5, np.nan], (80, 2))
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LinearFeatures()).fit(X)
    rows = np.vstack([X, [[0.1, 3.0], [2.0, 0.0]]])
    close(run(model, rows)["features"], dense(model.transform(rows)))


def test_many_levels_take_no_square_of_them(run):
    levels = np.array([f"level {i}" for i in range(20_000)], dtype=object)[:, None]
    encoder = OneHotEncoder(handle_unknown="ignore").fit(levels)
    from mercer.export import to_onnx

    assert to_onnx(encoder).ByteSize() < 2_000_000
    found = run(encoder, {"x0": levels[[3, 7]]})["transformed"]
    assert found.shape == (2, 20_000)
    assert found.sum(axis=1).tolist() == [1.0, 1.0]


IMPUTERS = [
    SimpleImputer(),
    SimpleImputer(strategy="median", add_indicator=True),
    SimpleImputer(strategy="constant", fill_value=3.0),
    SimpleImputer(keep_empty_features=True),
    MissingIndicator(),
    MissingIndicator(features="all"),
]


@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
@pytest.mark.parametrize("imputer", IMPUTERS, ids=repr)
def test_missing_numbers(run, close, rng, imputer):
    X = np.where(rng.rand(50, 4) < 0.2, np.nan, rng.rand(50, 4))
    X[:, 2] = np.nan  # a column without values
    X[:, 3] = 1.0
    model = make_pipeline(imputer, LinearFeatures()).fit(X)
    close(run(model, X)["features"], model.transform(X))


def test_a_number_may_stand_for_missing(run, close, rng):
    X = rng.choice([-1.0, 2.0, 5.0], (40, 2))
    model = make_pipeline(SimpleImputer(missing_values=-1), LinearFeatures()).fit(X)
    close(run(model, X)["features"], model.transform(X))


def test_text_may_stand_for_missing(run, close, rng):
    rows = rng.choice(["?", "a", "b", "b"], (40, 1)).astype(object)
    filled = SimpleImputer(missing_values="?", strategy="most_frequent")
    model = make_pipeline(filled, OneHotEncoder(), LinearFeatures()).fit(rows)
    close(run(model, inputs_of(rows))["features"], dense(model.transform(rows)))


def test_what_onnx_cannot_hold_is_refused_in_words(rng):
    pytest.importorskip("onnx")
    from mercer.export import to_onnx

    mixed = np.array([["a"], ["b"], [None], [float("nan")]], dtype=object)
    with pytest.raises(ValueError, match=r"tells None from NaN"):
        to_onnx(OneHotEncoder().fit(mixed))
    numbers = np.array([[1], [2], [1]], dtype=object)
    with pytest.raises(ValueError, match=r"all text or all numbers.*astype\(str\)"):
        to_onnx(OneHotEncoder().fit(numbers))
    text = np.array([["a"], ["b"], [None]], dtype=object)
    filled = SimpleImputer(strategy="most_frequent", missing_values=None, add_indicator=True)
    with pytest.raises(ValueError, match=r"Leave add_indicator out"):
        to_onnx(make_pipeline(filled, OneHotEncoder()).fit(text))
