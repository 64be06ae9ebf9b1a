"""Prepared rows, and those that are held out."""

import numpy as np
import pytest

from mercer.data import Blocks, Choice, TableError, TablePreparation, TableWarning, open_source, prepared_blocks
from mercer.data.prepared import PreparedReader, Split
from mercer.data.spool import SpooledSource
from mercer.testing import check_reader


@pytest.fixture
def source(tmp_path):
    rng = np.random.RandomState(0)
    np.save(tmp_path / "rows.npy", rng.standard_normal((5000, 3)))
    source = open_source(tmp_path / "rows.npy")
    return source.choose(Choice("x2").of(source))


def _labels(reader, block_rows=512):
    return np.concatenate([piece.y for piece in reader.pieces(block_rows)])


def test_the_laws_of_a_source(tmp_path):
    (tmp_path / "rows.csv").write_text("a,city,y,w\n1,u,0,1\n3,v,1,2\n5,u,0,3\n")
    source = open_source(tmp_path / "rows.csv")
    source = source.choose(Choice("y", sample_weight="w").of(source))
    preparation = TablePreparation().fit(source)
    a = (np.array([1.0, 3.0, 5.0]) - 3) / np.std([1, 3, 5])
    X = np.column_stack([a, [1, 0, 1], [0, 1, 0]]).astype(np.float32)
    check_reader(
        lambda: PreparedReader(source, preparation, encode=lambda y: y), X, np.array([0, 1, 0]), np.array([1.0, 2, 3])
    )


def test_the_two_parts_of_a_split_are_the_rows_and_the_same_however_they_are_cut(source):
    preparation, split = TablePreparation().fit(source), Split(0.3, seed=1)
    whole = _labels(PreparedReader(source, preparation, encode=lambda y: y))
    parts = [
        _labels(PreparedReader(source, preparation, encode=lambda y: y, split=split, held_out=held_out), size)
        for held_out, size in ((False, 512), (True, 512), (True, 77))
    ]
    np.testing.assert_array_equal(parts[1], parts[2])
    np.testing.assert_array_equal(np.sort(np.concatenate(parts[:2])), np.sort(whole))
    # 5000 draws of probability 0.3: a count outside 6 deviations has probability 2e-9.
    assert abs(len(parts[1]) - 1500) < 6 * np.sqrt(5000 * 0.3 * 0.7)
    assert PreparedReader(source, preparation, split=split, held_out=True).n_rows == len(parts[1])


def test_a_split_that_leaves_nothing_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n1,0\n2,1\n")
    source = open_source(tmp_path / "rows.csv")
    source = SpooledSource(source.choose(Choice("y").of(source)))
    preparation = TablePreparation().fit(source)
    with pytest.raises(TableError, match="of 2 rows none is left to test on"):
        PreparedReader(source, preparation, split=Split(1e-9, 0), held_out=True)


def test_categories_never_seen_are_told_of_once_per_pass(tmp_path):
    (tmp_path / "old.csv").write_text("c\nu\nv\n")
    (tmp_path / "new.csv").write_text("c\nu\nw\nw\n")
    preparation = TablePreparation().fit(open_source(tmp_path / "old.csv"))
    reader = PreparedReader(preparation.match(open_source(tmp_path / "new.csv")), preparation)
    with pytest.warns(TableWarning, match="'c' has 1 categories never seen in training, in 2 rows") as told:
        (X,) = Blocks(reader, 100)
    assert len(told) == 1
    assert X.tolist() == [[1, 0], [0, 0], [0, 0]]


def test_blocks_of_files_and_frames_are_the_same_and_bring_their_target(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, np.nan, 5.0], "city": ["u", "v", None], "day": "?", "y": ["no", "yes", "no"]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    found = []
    for table in (tmp_path / "rows.csv", frame, open_source(tmp_path / "rows.csv")):
        encoder = TablePreparation().fit(table, target="y", ignore=["day"])
        assert encoder.column_names == ["a", "a is missing", "city=u", "city=v", "city is missing"]
        with pytest.warns(TableWarning, match="does not know, ignored: 'day'"):
            (block,) = prepared_blocks(encoder, table, "y").labelled()
        assert block.y.tolist() == ["no", "yes", "no"]
        found.append(block.X)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    (alone,) = prepared_blocks(encoder, frame.drop(columns=["day", "y"]))
    np.testing.assert_array_equal(alone, found[0])


def test_an_unknown_target_is_refused_in_words():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [1.0, 3.0]})
    encoder = TablePreparation().fit(frame)
    with pytest.raises(TableError, match="'c'"):
        prepared_blocks(encoder, frame, "c")
