"""Formulas of tensors become the nodes of a graph."""

import numpy as np
import pytest

pytest.importorskip("onnx")
from mercer.export.graph import Graph


def test_a_formula_adds_its_nodes_in_order():
    graph = Graph()
    X = graph.input("X", 3)
    found = 1.0 - (X @ np.ones((3, 2)) + 0.5).square()
    assert [node.op_type for node in graph.nodes] == ["MatMul", "Add", "Mul", "Sub"]
    assert found.dtype == np.float32


def test_equal_constants_are_held_once():
    graph = Graph()
    X = graph.input("X", 3)
    _ = X * np.ones(3) + np.ones(3)
    assert len(graph.constants) == 1


def test_constants_have_the_precision_of_the_tensor_next_to_them():
    graph = Graph(np.float32)
    X = graph.input("X", 3).cast(np.float64)
    assert (X * 0.1).dtype == np.float64
    assert [constant.data_type for constant in graph.constants] == [11]


def test_powers_are_by_repeated_squaring():
    graph = Graph()
    graph.input("X", 1).power(9)
    assert [node.op_type for node in graph.nodes] == ["Mul"] * 4
