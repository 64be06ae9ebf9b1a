"""Circular convolutions by Fourier matrices are those of the definition."""

import numpy as np
import pytest

from mercer.export.convolution import hash_matrix


def test_hash_matrix_has_one_signed_entry_per_row():
    matrix = hash_matrix(np.array([2, 0, 2]), np.array([1, -1, -1]), 4)
    np.testing.assert_array_equal(matrix, [[0, 0, 1, 0], [-1, 0, 0, 0], [0, 0, -1, 0]])


@pytest.mark.parametrize("width", [1, 2, 5, 8])
@pytest.mark.parametrize("n_factors", [1, 2, 3])
def test_convolution_is_that_of_the_definition(rng, width, n_factors):
    runtime = pytest.importorskip("onnxruntime")
    helper = pytest.importorskip("onnx").helper
    from mercer.export.convolution import Factor, convolution
    from mercer.export.graph import IR_VERSION, OPSET, Graph

    X = rng.randn(6, 3)
    matrices, shifts = rng.randn(n_factors, 3, width), rng.randn(n_factors, width)
    graph = Graph(np.float64)
    rows = graph.input("X", 3)
    parts = zip(matrices, shifts, strict=True)
    found = convolution([Factor(rows, matrix, shift) for matrix, shift in parts], width)
    outputs = [helper.make_tensor_value_info(found.name, 11, None)]
    proto = helper.make_graph(graph.nodes, "convolution", graph.inputs, outputs, graph.constants)
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    result = runtime.InferenceSession(model.SerializeToString()).run(None, {"X": X})[0]
    expected = X @ matrices[0] + shifts[0]
    for matrix, shift in zip(matrices[1:], shifts[1:], strict=True):
        other = X @ matrix + shift
        rolled = [np.roll(other[:, ::-1], t + 1, axis=1) for t in range(width)]
        expected = np.stack([np.sum(expected * part, axis=1) for part in rolled], axis=1)
    np.testing.assert_allclose(result, expected, atol=1e-12 * np.abs(expected).max())
