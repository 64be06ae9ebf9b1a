"""Columns of a graph: which blocks are taken, and which become inputs."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import LinearFeatures
from mercer.export import ExportError

pytest.importorskip("onnx")

from mercer.export.columns import Columns, TableInputs, width_of
from mercer.export.graph import Graph


def test_whole_blocks_are_taken_without_a_node():
    graph = Graph()
    X = Columns(graph, [(graph.input("X", 3), 3), (graph.input("Y", 2), 2)])
    assert X.take([0, 1, 2]).numbers().name == "X"
    assert X.width == 5
    assert not graph.nodes
    assert X.take([2, 4, 3]).width == 3
    assert [node.op_type for node in graph.nodes] == ["Gather", "Gather"]


def test_inputs_are_made_for_columns_that_are_taken():
    graph = Graph()
    X = TableInputs(graph, ["a", "b", "c"], {1})
    assert X.width == 3
    X.take([2]), X.take([2, 1])
    assert [one.name for one in graph.inputs] == ["c", "b"]
    assert X.column(1).dtype == object
    with pytest.raises(ExportError, match="the column 'b' of the pipeline is text"):
        X.numbers()


def test_no_column_is_refused_in_words():
    with pytest.raises(ExportError, match="no column is left"):
        Columns(Graph(), []).numbers()


def test_the_width_is_that_of_the_first_step():
    X = np.ones((5, 4))
    assert width_of(make_pipeline("passthrough", StandardScaler(), LinearFeatures()).fit(X)) == 4
