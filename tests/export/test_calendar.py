"""Dates in ONNX against ``mercer.data.calendar``."""

import numpy as np
import pytest

from mercer.data.calendar import DATE_PARTS, calendar


def test_days_of_many_centuries_have_the_parts_of_the_calendar():
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from mercer.export.calendar import calendar_parts
    from mercer.export.graph import IR_VERSION, OPSET, Graph

    graph = Graph(np.float64)
    found = graph.concatenate(calendar_parts(graph.input("days", 1)))
    output = onnx.helper.make_tensor_value_info(found.name, onnx.TensorProto.DOUBLE, ["rows", len(DATE_PARTS)])
    proto = onnx.helper.make_graph(graph.nodes, "calendar", graph.inputs, [output], graph.constants)
    model = onnx.helper.make_model(proto, opset_imports=[onnx.helper.make_opsetid("", OPSET)])
    model.ir_version = IR_VERSION
    days = np.r_[np.arange(-400_000.0, 400_000.0, 97.3), np.arange(10_950.0, 12_420.0)]  # and each day of four years
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (parts,) = session.run(None, {"days": days[:, None]})
    np.testing.assert_allclose(parts, calendar(days), rtol=0, atol=1e-9)
