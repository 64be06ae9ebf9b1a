"""A column of objects in place of prepared columns."""

import pytest

from mercer.data import Choice, TableError, open_source
from mercer.data.object_column import ObjectColumn


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text,kind,n\nab,x,1\n,y,2\n")
    source = open_source(path)
    return source.choose(Choice("kind", text="text").of(source))


def test_the_column_is_matched_by_name_or_alone(table, tmp_path):
    seen = []
    prepared = ObjectColumn().fit(table, watch=seen.append)
    assert (prepared.column_, prepared.domain_, prepared.n_features_out_) == ("text", "strings", 1)
    assert [piece.y.tolist() for piece in seen] == [["x", "y"]]
    (tmp_path / "other.csv").write_text("n,text\n1,12\n2,13\n")  # text that looks like numbers
    [piece] = prepared.match(open_source(tmp_path / "other.csv")).pieces(10)
    assert prepared.transform(piece, table.columns).tolist() == [b"12", b"13"]
    (tmp_path / "reads.fasta").write_text(">a\nAC\n")
    [piece] = prepared.match(open_source(tmp_path / "reads.fasta")).pieces(10)
    assert piece.X.tolist() == [b"AC"]


def test_faults_are_named(table, tmp_path):
    prepared = ObjectColumn().fit(table)
    (tmp_path / "other.csv").write_text("txt,n\na,1\n")
    with pytest.raises(TableError, match=r"needs the column 'text'\. Did you mean 'txt'"):
        prepared.match(open_source(tmp_path / "other.csv"))
    (tmp_path / "G").mkdir()
    (tmp_path / "G" / "X_A.txt").write_text("1, 2\n")
    (tmp_path / "G" / "X_graph_indicator.txt").write_text("1\n1\n")
    with pytest.raises(TableError, match="holds graphs, and the model takes strings"):
        prepared.match(open_source(tmp_path / "G"))
    with pytest.raises(TableError, match="no column of objects"):
        ObjectColumn().fit(open_source(tmp_path / "other.csv"))
