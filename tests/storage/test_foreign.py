"""Pipelines of scikit-learn's transformers in model files: the same results after loading, and no code."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler

from mercer import KernelRidge
from mercer.storage import ModelFileError, dumps, loads


@pytest.fixture
def table(rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": rng.randn(80), "income": rng.rand(80), "city": rng.choice(["Oslo", "Rome"], 80)})
    frame.loc[::9, "age"] = np.nan
    frame.loc[::11, "city"] = None
    return frame, rng.rand(80)


def columns(city):
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    return ColumnTransformer([("numbers", numbers, ["age", "income"]), ("city", city, ["city"])])


@pytest.mark.parametrize(
    "city",
    [
        OneHotEncoder(handle_unknown="ignore"),
        OrdinalEncoder(encoded_missing_value=-1),
        make_pipeline(SimpleImputer(strategy="most_frequent", missing_values=None), OneHotEncoder()),
        "drop",
    ],
    ids=["one-hot", "ordinal", "imputed", "dropped"],
)
def test_the_pipeline_of_every_tutorial_is_saved_whole(table, city):
    X, y = table
    X = X.astype({"city": object}).where(X.notna(), None).astype({"age": float, "income": float})
    model = make_pipeline(columns(city), KernelRidge(random_state=0)).fit(X, y)
    again = loads(dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict(X[["city", "income", "age"]]), model.predict(X))  # by name
    assert again[0].get_feature_names_out().tolist() == model[0].get_feature_names_out().tolist()


def test_categories_keep_the_order_that_a_user_gave():
    sizes = np.array([["S"], ["L"], ["M"], ["L"]], dtype=object)
    encoder = OrdinalEncoder(categories=[["S", "M", "L"]]).fit(sizes)
    assert loads(dumps(encoder)).transform(sizes).ravel().tolist() == [0.0, 2.0, 1.0, 2.0]
    encoder.categories_[0] = np.array(["S", "M", "S"], dtype=object)
    with pytest.raises(ModelFileError, match=r"categories_\[0\] must differ"):
        dumps(encoder)
    numbers = OrdinalEncoder().fit([[1.0], [2.0]])
    numbers.categories_[0] = np.array([2.0, 1.0])
    with pytest.raises(ModelFileError, match="ascending"):
        dumps(numbers)


def test_passed_through_columns_and_masks(rng):
    X, y = rng.rand(60, 4), rng.rand(60)
    steps = [("mask", StandardScaler(), [True, False, False, False]), ("last", "passthrough", [-1])]
    model = make_pipeline(ColumnTransformer(steps), KernelRidge(random_state=0)).fit(X, y)
    np.testing.assert_array_equal(loads(dumps(model)).predict(X), model.predict(X))


def test_a_function_is_refused_in_words(rng):
    X, y = rng.rand(30, 2), rng.rand(30)
    model = make_pipeline(FunctionTransformer(np.log1p), KernelRidge(random_state=0)).fit(X, y)
    with pytest.raises(ModelFileError, match=r"is a function \(log1p\), and a model file holds no code"):
        dumps(model)
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b"])
    chosen = ColumnTransformer([("some", StandardScaler(), lambda table: ["a"])]).fit(frame)
    with pytest.raises(ModelFileError, match="is a function"):
        dumps(chosen)


def test_columns_chosen_by_their_types_are_stored_by_name(table):
    X, y = table
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    texts = OneHotEncoder(handle_unknown="ignore")
    chosen = ColumnTransformer(
        [
            ("numbers", numbers, make_column_selector(dtype_include="number")),
            ("texts", texts, make_column_selector(dtype_exclude="number")),
        ]
    )
    model = make_pipeline(chosen, KernelRidge(random_state=0)).fit(X, y)
    again = loads(dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert [columns for _, _, columns in again[0].transformers] == [["age", "income"], ["city"]]
    assert isinstance(model[0].transformers[0][2], make_column_selector)  # the model itself is as it was
    with pytest.raises(ModelFileError, match="is a function"):
        dumps(ColumnTransformer([("some", StandardScaler(), make_column_selector("a"))]))  # not fitted


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda model: model._transformer_to_input_indices.update(one=[7]), "places of columns must be those"),
        (lambda model: model.set_params(n_jobs=4), "n_jobs must be None in a model file"),
        (lambda model: model.transformers_.pop(), "transformers_ must be those of transformers"),
        (lambda model: setattr(model, "_columns", [[0]]), "columns must be those of the transformers"),
        (
            lambda model: setattr(model.transformers_[0][1], "n_features_in_", 9),
            "must be d = 9, got 2|must take as many",
        ),
    ],
)
def test_what_leads_outside_the_columns_is_refused(rng, change, words):
    model = ColumnTransformer([("one", StandardScaler(), [0, 2])]).fit(rng.rand(9, 3))
    change(model)
    with pytest.raises(ModelFileError, match=words):
        dumps(model)


def test_polynomials_beyond_a_million_columns_are_refused(rng):
    with pytest.raises(ModelFileError, match="n_output_features_ must be an integer"):
        dumps(PolynomialFeatures(6).fit(rng.rand(3, 60)))
