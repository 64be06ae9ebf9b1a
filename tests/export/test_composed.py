"""Maps made of maps: what mercer composes, ONNX composes."""

import numpy as np
import pytest

from mercer import ArcCosine, Columns, Gaussian, Linear, Normalized, Polynomial, ScaledColumns, feature_map
from mercer.features import HomogeneousFeatures
from mercer.kernels import NeuralTangent

KERNELS = {
    "sum": Linear() + 0.5 * Polynomial(2, gamma=0.2),
    "product": Gaussian(gamma=0.05) * Linear(),
    "normalized": Normalized(Polynomial(2, gamma=0.1, coef0=0.5)),
    "normalized of a product": Normalized(Linear() * ArcCosine(1)),
    "normalized sum": Normalized(0.3 * Linear() + ScaledColumns(Polynomial(2), [0.1] * 30)),
    "scaled columns": ScaledColumns(Gaussian(gamma=0.1), np.linspace(0, 1, 30)),
    "columns": Columns(Gaussian(gamma=0.1), [3, 1, 7]) + Columns(Linear(), [0]),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_features_are_those_of_the_map(run, close, cancer, name, dtype):
    X = cancer[0][:200]
    made = feature_map(KERNELS[name], 120, random_state=0).fit(X)
    close(run(made, X, dtype)["features"], made.transform(X), dtype)


def test_a_map_as_wide_as_an_error_needs(run, close, cancer):
    X = cancer[0][:200]
    made = feature_map(Gaussian(gamma=0.05), "auto", error=0.2, random_state=0).fit(X)
    close(run(made, X, "float64")["features"], made.transform(X), "float64")


def test_a_row_of_zeros_has_no_direction(run):
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    made = feature_map(Normalized(Linear()), 2, random_state=0).fit(X)
    np.testing.assert_allclose(run(made, X)["features"], [[0, 0], [0.6, 0.8]], atol=1e-7)


@pytest.mark.parametrize("kernel", [NeuralTangent(2), ArcCosine(1, depth=2)], ids=repr)
def test_homogeneous_kernels_and_a_row_of_zeros(run, close, cancer, kernel):
    X = cancer[0][:200].copy()
    X[3] = 0.0
    made = HomogeneousFeatures(kernel, n_components=60, random_state=0).fit(X)
    for dtype in ("float32", "float64"):
        close(run(made, X, dtype)["features"], made.transform(X), dtype)
