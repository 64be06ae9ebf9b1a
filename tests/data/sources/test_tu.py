"""Folders of TU text files."""

import gzip

import numpy as np
import pytest

from mercer.data import TableError, as_blocks, open_source
from mercer.structures import Graphs
from mercer.testing import check_reader

# Four graphs; the third has no node and the last no edge. The first edge is listed three times, once in each direction.
GRAPHS = [
    ([(0, 1), (1, 2)], [5, 6, 5], [1, 2]),
    ([(0, 1)], [7, 7], [3]),
    ([], [], []),
    ([], [8], []),
]
FILES = {
    "A": "1, 2\n2, 1\n1, 2\n2, 3\n4, 5\n",
    "graph_indicator": "1\n1\n1\n2\n2\n4\n",
    "graph_labels": "1\n-1\n1\n1\n",
    "node_labels": "5\n6\n5\n7\n7\n8\n",
    "edge_labels": "1\n1\n1\n2\n3\n",
}
ATTRIBUTES = "0.5, 1\n1, 2\n0, 0\n3, 4\n1e-3, 0\n2, 2\n"


def folder(path, pack=None, **changed):
    path.mkdir(exist_ok=True)
    for kind, text in (FILES | changed).items():
        if text is not None:
            name = path / f"TINY_{kind}.txt{'' if pack is None else '.gz'}"
            name.write_bytes(text.encode() if pack is None else pack(text.encode()))
    return path


@pytest.mark.parametrize("pack", [None, gzip.compress])
def test_the_laws_of_a_source(tmp_path, pack):
    path = folder(tmp_path / "tiny", pack)
    y = np.array([1, -1, 1, 1])
    check_reader(lambda: path, Graphs(GRAPHS), y)


def test_attributes_of_nodes_and_targets_of_graphs(tmp_path):
    path = folder(tmp_path / "tiny", node_attributes=ATTRIBUTES, graph_attributes="0.5,2\n1,3\n2,4\n3,5\n")
    [block] = as_blocks(path, target="attribute1").labelled()
    assert block.y.tolist() == [2.0, 3.0, 4.0, 5.0]
    np.testing.assert_array_equal(block.X.attributes, np.loadtxt(ATTRIBUTES.splitlines(), delimiter=","))
    [unlabelled] = as_blocks(
        folder(tmp_path / "plain", graph_labels=None, node_labels=None, edge_labels=None)
    ).labelled()
    assert unlabelled.y is None
    assert (len(unlabelled.X), unlabelled.X.edge_labels) == (4, None)
    assert unlabelled.X.labels.tolist() == [0] * 6


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_files_are_read_in_step_however_they_are_cut(tmp_path, monkeypatch, lines):
    monkeypatch.setattr("mercer.data.sources.tu._CHUNK_LINES", lines)
    check_reader(lambda: folder(tmp_path / "tiny"), Graphs(GRAPHS), np.array([1, -1, 1, 1]))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"A": "4, 5\n1, 2\n2, 3\n", "edge_labels": None}, "an edge of node 1 comes after edges of later graphs"),
        ({"A": "1, 4\n", "edge_labels": None}, r"in graphs 0 to 0: .*edges\[0\]"),
        ({"A": "1, 2\nx, 3\n"}, r"TINY_A.txt line 2: b'x, 3\\n' is no row of numbers"),
        ({"node_labels": "5\n6\n"}, "TINY_node_labels.txt: the file ends after line 2"),
        ({"edge_labels": "1\n1\n2\n2\n3\n"}, "one label for each edge"),
        ({"graph_labels": "1\n"}, "there are 1 labels and more graphs"),
        (
            {"graph_indicator": "1\n2\n1\n2\n2\n4\n", "A": "4, 5\n", "edge_labels": None},
            "must count graphs from 0 and not decrease",
        ),
    ],
)
def test_faults_are_named(tmp_path, changed, words):
    path = folder(tmp_path / "tiny", **changed)
    with pytest.raises(TableError, match=words):
        list(as_blocks(path, block_rows=1))


def test_folders_that_are_none(tmp_path):
    (tmp_path / "X_A.txt").write_text("1, 2\n")
    with pytest.raises(TableError, match=r"X_graph_indicator\.txt is missing"):
        as_blocks(tmp_path)
    (tmp_path / "Y_A.txt").write_text("1, 2\n")
    with pytest.raises(TableError, match=r"must hold one file NAME_A\.txt of edges, and it holds 2"):
        open_source(tmp_path)
