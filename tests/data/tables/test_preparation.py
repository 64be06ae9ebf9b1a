"""Preparing columns: what scikit-learn's scaler and encoder give, in one pass and however the rows are cut."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer.data.tables import PreparedReader, SpooledTable, TableError, TablePreparation, open_table
from mercer.data.tables.preparation import columns_of
from mercer.data.tables.reader import Split


@pytest.fixture(scope="module")
def frame():
    rng = np.random.RandomState(0)
    cities = np.array(["Oslo", "Rome", "Lima", "Bern"])[rng.randint(4, size=10_000)]
    return pd.DataFrame({"a": rng.normal(1e6, 2, 10_000), "city": cities, "b": rng.rand(10_000), "y": rng.rand(10_000)})


@pytest.fixture(scope="module")
def path(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "rows.parquet"
    parquet.write_table(pa.table(frame), path, row_group_size=3000)
    return path


def _rows(table, preparation, wanted, **options):
    reader = PreparedReader(table, wanted, preparation, **options)
    return [block for block in reader.pieces(512) if block.n_rows]


def _expected(frame):
    numbers = StandardScaler().fit_transform(frame[["a", "b"]])
    return np.hstack([numbers, OneHotEncoder(sparse_output=False).fit_transform(frame[["city"]])])


def test_it_is_scikit_learns_scaler_and_encoder(frame, path):
    table = open_table(path)
    wanted = columns_of(table, "y")
    preparation = TablePreparation().fit(table, wanted)
    X = np.vstack([block.X for block in _rows(table, preparation, wanted)])
    assert X.dtype == np.float32
    np.testing.assert_allclose(X, _expected(frame), rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_spooled_table_is_read_once_and_gives_the_same_rows(frame, path, tmp_path, kind):
    if kind == "csv":
        path = tmp_path / "rows.csv"
        frame.to_csv(path, index=False)
    table = open_table(path)
    wanted = columns_of(table, "y")
    spooled = SpooledTable(table, wanted)
    first = list(spooled.batches(wanted))
    assert spooled.n_rows == 10_000
    table.batches = None  # a second reading of the source would fail
    for again in (list(spooled.batches(wanted)), list(spooled.batches(wanted))):
        for one, other in zip(first, again, strict=True):
            np.testing.assert_array_equal(one.numbers, other.numbers)
            np.testing.assert_array_equal(one.target, other.target)
            values = [np.array(batch.categories[0].values)[batch.categories[0].codes] for batch in (one, other)]
            np.testing.assert_array_equal(*values)
    spooled.close()


def test_a_spool_keeps_text_targets_and_missing_values(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,c,y\n1,u,no\n,v,yes\n0.1,,no\n")
    table = open_table(path)
    wanted = columns_of(table, "y")
    spooled = SpooledTable(table, wanted)
    (first,), (again,) = list(spooled.batches(wanted)), list(spooled.batches(wanted))
    np.testing.assert_array_equal(again.numbers, [[1], [np.nan], [0.1]])
    np.testing.assert_array_equal(first.numbers, again.numbers)
    assert again.target.tolist() == ["no", "yes", "no"]
    assert again.categories[0].codes.tolist() == [0, 1, -1]


def test_the_two_parts_of_a_split_are_the_rows_and_the_same_at_every_pass(path):
    table = open_table(path)
    wanted = columns_of(table, "y")
    preparation = TablePreparation().fit(table, wanted)
    whole = np.concatenate([block.y for block in _rows(table, preparation, wanted, encode=lambda y: y)])
    split = Split(0.3, seed=1)
    parts = []
    for held_out in (False, True, True):
        blocks = _rows(table, preparation, wanted, encode=lambda y: y, split=split, held_out=held_out)
        parts.append(np.concatenate([block.y for block in blocks]))
    np.testing.assert_array_equal(parts[1], parts[2])
    np.testing.assert_array_equal(np.sort(np.concatenate(parts[:2])), np.sort(whole))
    # 10 000 draws of probability 0.3: a count outside 6 deviations has probability 2e-9.
    assert abs(len(parts[1]) - 3000) < 6 * np.sqrt(10_000 * 0.3 * 0.7)
    assert PreparedReader(table, wanted, preparation, split=split, held_out=True).n_rows == len(parts[1])


def test_a_split_that_leaves_nothing_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1,0\n2,1\n")
    table = SpooledTable(open_table(path), columns_of(open_table(path), "y"))
    wanted = columns_of(table, "y")
    preparation = TablePreparation().fit(table, wanted)
    with pytest.raises(TableError, match="of 2 rows none is left to test on"):
        PreparedReader(table, wanted, preparation, split=Split(1e-9, 0), held_out=True)
