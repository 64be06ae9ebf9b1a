"""Preparation of columns: every type of pandas and polars, missing values, dates, names, files, and bad input."""

import datetime

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.data.calendar import DATE_PARTS
from mercer.data.raw_table import RawTable
from mercer.learners import ColumnPreparation
from mercer.storage import dumps, loads
from mercer.testing import check_fitted, check_refits


@parametrize_with_checks([ColumnPreparation(), ColumnPreparation(method="common")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_the_laws_of_estimators():
    check_refits(ColumnPreparation(), others={"method": ["clip", "common"]})
    check_fitted(ColumnPreparation())


def pandas_frame():
    pandas = pytest.importorskip("pandas")
    dates = [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 2, 3, 6), None, datetime.datetime(2025, 12, 31)]
    return pandas.DataFrame(
        {
            "number": [1.0, 2.0, np.nan, 5.0],
            "whole": pandas.array([1, None, 3, 3], dtype="Int64"),
            "flag": [True, False, True, True],
            "text": ["x", "y", None, "x"],
            "category": pandas.Categorical(["u", "v", "u", None]),
            "date": pandas.Series(dates, dtype="datetime64[ns]"),
            "zoned": pandas.Series(dates, dtype="datetime64[ns]").dt.tz_localize("UTC"),
            "span": pandas.to_timedelta([1, 2, 3, 4], unit="D"),
            "constant": [7, 7, 7, 7],
        }
    )


def polars_frame():
    polars = pytest.importorskip("polars")
    dates = [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 2, 3, 6), None, datetime.datetime(2025, 12, 31)]
    return polars.DataFrame(
        {
            "number": [1.0, 2.0, None, 5.0],
            "whole": [1, None, 3, 3],
            "flag": [True, False, True, True],
            "text": ["x", "y", None, "x"],
            "category": polars.Series(["u", "v", "u", None], dtype=polars.Categorical),
            "date": dates,
            "zoned": polars.Series(dates).dt.replace_time_zone("UTC"),
            "span": [datetime.timedelta(days=d) for d in (1, 2, 3, 4)],
            "constant": [7, 7, 7, 7],
        }
    )


NAMES = [
    *("number", "number is missing", "whole", "whole is missing", "flag"),
    *("text=x", "text=y", "text is missing", "category=u", "category=v", "category is missing"),
    *(f"date {part}" for part in DATE_PARTS),
    "date is missing",
    *(f"zoned {part}" for part in DATE_PARTS),
    *("zoned is missing", "span"),
]


@pytest.mark.parametrize("frame", [pandas_frame, polars_frame])
def test_every_type_of_column_becomes_numbers(frame):
    X = frame()
    preparation = ColumnPreparation(method="clip").fit(X)
    assert preparation.get_feature_names_out().tolist() == NAMES
    raw = dict(zip(NAMES, preparation.encoding_.numbers(RawTable.of("test", X)).T, strict=True))
    assert raw["number"].tolist() == [1.0, 2.0, 2.0, 5.0]  # the median in the place of what is missing
    assert raw["number is missing"].tolist() == [0, 0, 1, 0]
    assert raw["flag"].tolist() == [1, 0, 1, 1]
    assert raw["text=x"].tolist() == [1, 0, 0, 1]
    assert raw["text is missing"].tolist() == [0, 0, 1, 0]
    assert raw["category=v"].tolist() == [0, 1, 0, 0]
    assert raw["span"].tolist() == [1, 2, 3, 4]
    for name in ("date", "zoned"):
        assert raw[f"{name} days"][[0, 1, 3]].tolist() == [19723.0, 19756.25, 20453.0]
        np.testing.assert_allclose(raw[f"{name} day sin"][[0, 1, 3]], [0, 1, 0], atol=1e-12)
        np.testing.assert_allclose(raw[f"{name} week cos"][0], 1)  # a Monday
    assert np.isfinite(preparation.transform(X)).all()
    assert preparation.encoding_.sources[NAMES.index("text=y")] == 3


def test_pandas_and_polars_give_the_same_rows():
    one, other = (ColumnPreparation().fit_transform(frame()) for frame in (pandas_frame, polars_frame))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_new_categories_are_none_of_those_seen_and_missing_values_are_filled():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"text": ["a", "b", "a", "c"], "number": [1.0, 2.0, 3.0, 4.0]})
    preparation = ColumnPreparation(max_categories=2).fit(X)
    assert preparation.get_feature_names_out().tolist() == ["text=a", "text=b", "number"]
    new = pandas.DataFrame({"text": ["z", "a", None], "number": [2.5, np.nan, 9.0]})
    assert preparation.encoding_.numbers(RawTable.of("test", new)).tolist() == [[0, 0, 2.5], [1, 0, 2.5], [0, 0, 9.0]]


def test_a_saved_preparation_gives_the_same_rows():
    for X in (pandas_frame(), np.random.RandomState(0).rand(20, 3)):
        preparation = ColumnPreparation(random_state=0).fit(X)
        np.testing.assert_array_equal(loads(dumps(preparation)).transform(X), preparation.transform(X))


def test_hopeless_columns_do_no_harm():
    X = np.column_stack([np.full(5, np.nan), np.ones(5)])
    found = ColumnPreparation().fit(X)
    assert found.transform(X).shape == (5, 1)
    assert np.isfinite(found.transform(np.array([[3.0, 2.0]]))).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p(method="minmax").fit(np.eye(3)), r"method must be one of \['rank', 'clip', 'common'\]"),
        (lambda p: p(max_categories=0).fit(np.eye(3)), "max_categories must be an integer >= 1, got 0"),
    ],
)
def test_bad_parameters_are_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call(ColumnPreparation)


def test_bad_rows_are_refused_in_words():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(ValueError, match="X contains infinity in column 'a', row 1"):
        ColumnPreparation().fit(pandas.DataFrame({"a": [1.0, np.inf]}))
    with pytest.raises(ValueError, match="column 'a' holds 'x' in row 2, and held numbers in training"):
        ColumnPreparation().fit(X).transform(pandas.DataFrame({"a": ["1", "x"], "b": ["x", "y"]}))
    with pytest.raises(ValueError, match="feature names should match"):
        ColumnPreparation().fit(X).transform(X.rename(columns={"a": "c"}))
    with pytest.raises(ValueError, match="X has 0 rows and 2 columns"):
        ColumnPreparation().fit(X[:0])
