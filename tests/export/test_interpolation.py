"""Piecewise linear functions are those of NumPy."""

import numpy as np
import pytest


@pytest.mark.parametrize("n_knots", [1, 2, 3, 50])
def test_interpolation_is_that_of_numpy(rng, n_knots):
    runtime = pytest.importorskip("onnxruntime")
    helper = pytest.importorskip("onnx").helper
    from mercer.export.graph import IR_VERSION, OPSET, Graph
    from mercer.export.interpolation import interpolated

    knots, values = np.sort(rng.randn(n_knots)), rng.randn(n_knots)
    x = np.concatenate([rng.randn(200) * 2, knots])[:, None]
    graph = Graph(np.float64)
    found = interpolated(graph.input("X", 1), knots, values)
    outputs = [helper.make_tensor_value_info(found.name, 11, None)]
    proto = helper.make_graph(graph.nodes, "interpolation", graph.inputs, outputs, graph.constants)
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    result = runtime.InferenceSession(model.SerializeToString()).run(None, {"X": x})[0]
    np.testing.assert_allclose(result[:, 0], np.interp(x[:, 0], knots, values), atol=1e-12)
