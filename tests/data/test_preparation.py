"""Preparing columns: what scikit-learn's scaler and encoder give, in one pass and from every format."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer.data import Choice, TablePreparation, open_source
from mercer.data.prepared import PreparedReader
from mercer.data.sources import source_of


@pytest.fixture(scope="module")
def frame():
    rng = np.random.RandomState(0)
    cities = np.array(["Oslo", "Rome", "Lima", "Bern"])[rng.randint(4, size=10_000)]
    return pd.DataFrame({"a": rng.normal(1e6, 2, 10_000), "city": cities, "b": rng.rand(10_000), "y": rng.rand(10_000)})


def _parquet(frame, folder):
    parquet.write_table(pa.table(frame), folder / "rows.parquet", row_group_size=3000)
    return open_source(folder / "rows.parquet")


def _feather(frame, folder):
    feather.write_feather(pa.table(frame), str(folder / "rows.feather"))
    return open_source(folder / "rows.feather")


def _csv(frame, folder):
    frame.to_csv(folder / "rows.csv.gz", index=False)
    return open_source(folder / "rows.csv.gz")


def _npz(frame, folder):
    vectors = {name: frame[name].to_numpy().astype("U" if name == "city" else "d") for name in frame}
    np.savez(folder / "rows.npz", **vectors, X=np.zeros((len(frame), 1)))
    return open_source(folder / "rows.npz")


SOURCES = [_parquet, _feather, _csv, _npz, lambda frame, folder: source_of("frame", frame)]


@pytest.mark.parametrize("make", SOURCES, ids=["parquet", "feather", "csv.gz", "npz", "frame"])
def test_it_is_scikit_learns_scaler_and_encoder(frame, tmp_path, make):
    source = make(frame, tmp_path)
    source = source.choose(Choice("y", ("a", "b", "city")).of(source))
    preparation = TablePreparation().fit(source)
    X = np.vstack([piece.X for piece in PreparedReader(source, preparation).pieces(512)])
    assert X.dtype == np.float32
    numbers = StandardScaler().fit_transform(frame[["a", "b"]])
    expected = np.hstack([numbers, OneHotEncoder(sparse_output=False).fit_transform(frame[["city"]])])
    np.testing.assert_allclose(X, expected, rtol=2e-6, atol=2e-7)


def test_without_a_choice_all_columns_are_prepared(frame, tmp_path):
    preparation = TablePreparation().fit(_parquet(frame, tmp_path))
    assert (preparation.number_names_, preparation.category_names_) == (["a", "b", "y"], ["city"])
