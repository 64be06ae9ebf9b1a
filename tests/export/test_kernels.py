"""Kernel values with fixed rows: every kernel by its own formula."""

import numpy as np
import pytest

from mercer import (
    ArcCosine,
    Cauchy,
    Chi2,
    Columns,
    Composed,
    Exponential,
    ExponentialChi2,
    ExponentialPower,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    Laplacian,
    Linear,
    Matern,
    Metric,
    Normalized,
    Polynomial,
    RationalQuadratic,
    SameCategory,
    ScaledColumns,
    Sigmoid,
)
from mercer.kernels import LowOrder, VovkInfinite, VovkPolynomial

KERNELS = [
    ArcCosine(0),
    ArcCosine(1),
    ArcCosine(2),
    Cauchy(length_scale=1.5),
    Chi2(),
    Columns(Gaussian(gamma=1.0), [2, 0]),
    Composed(Exponential(gamma=1.0), Gaussian(gamma=0.5)),
    Exponential(gamma=0.5),
    ExponentialChi2(sigma=0.7),
    ExponentialPower(1.3, length_scale=0.8),
    Gaussian(gamma=2.0),
    Hellinger(),
    Intersection(),
    JensenShannon(),
    Laplacian(gamma=0.7),
    Linear() + 0.5 * Gaussian(gamma=1.0),
    Linear() * Laplacian(gamma=1.0),
    LowOrder(Gaussian(gamma=1.0), order=2),
    LowOrder(Laplacian(gamma=1.0), order=1),
    Matern(0.5, length_scale=1.0),
    Matern(1.5, length_scale=1.0),
    Matern(2.5, length_scale=1.0),
    Metric(Matern(1.5, length_scale=1.0), [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.5, 0.0]]),
    Normalized(Polynomial(3, coef0=1.0)),
    Polynomial(3, gamma=0.5, coef0=1.0),
    RationalQuadratic(0.7, length_scale=1.0),
    SameCategory(offset=0.5),
    ScaledColumns(Gaussian(gamma=1.0), [1.0, 0.0, 2.0, 1.0]),
    Sigmoid(gamma=0.3, coef0=0.1),
    0.25 * VovkInfinite(),
    VovkPolynomial(4),
]


def evaluated(kernel, X, Y, *, gathered):
    """Return k(X, Y) by ONNX Runtime; ``gathered``: each row meets the rows of its own group, here all the same."""
    runtime = pytest.importorskip("onnxruntime")
    helper = pytest.importorskip("onnx").helper
    from mercer.export.graph import IR_VERSION, OPSET, Graph
    from mercer.export.kernels import FixedPairs, GatheredPairs, kernel_values

    graph = Graph(np.float64)
    rows = graph.input("X", X.shape[1])
    if gathered:
        number = (rows.columns(0, 1).flat() * 0.0).cast(np.int64) + 1
        pairs = GatheredPairs(rows, np.stack([Y[::-1], Y]), number)
    else:
        pairs = FixedPairs(rows, Y)
    values = kernel_values(kernel, pairs)
    outputs = [helper.make_tensor_value_info(values.name, 11, None)]
    proto = helper.make_graph(graph.nodes, "values", graph.inputs, outputs, graph.constants)
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    return runtime.InferenceSession(model.SerializeToString()).run(None, {"X": X})[0]


@pytest.mark.parametrize("gathered", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_values_are_those_of_the_kernel(rng, kernel, gathered):
    X, Y = rng.rand(9, 4) / 3, rng.rand(5, 4) / 3
    X[3], X[4] = Y[1], 0.0
    Y[2, :3] = 0.0
    np.testing.assert_allclose(evaluated(kernel, X, Y, gathered=gathered), kernel(X, Y), atol=1e-7)


@pytest.mark.parametrize("kernel", [Matern(0.7, length_scale=1.0), Matern(60.0, length_scale=1.0)])
def test_a_bessel_function_is_named_as_missing(rng, kernel):
    with pytest.raises(ValueError, match=r"no Bessel function K_nu. Take nu=0.5, 1.5 or 2.5"):
        evaluated(kernel, rng.rand(2, 2), rng.rand(2, 2), gathered=False)
