"""ONNX Runtime runs what ``to_onnx`` writes, on data sets that scikit-learn brings along."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.preprocessing import StandardScaler


@pytest.fixture(scope="session")
def run():
    """Return the function (model, inputs, dtype) -> outputs by name; inputs are X, or columns by name."""
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from mercer.export import to_onnx

    def outputs(model, inputs, dtype="float32"):
        made = to_onnx(model, dtype=dtype)
        session = runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
        if not isinstance(inputs, dict):
            inputs = {"X": np.ascontiguousarray(inputs, dtype=dtype)}
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, inputs), strict=True))

    return outputs


@pytest.fixture(scope="session")
def digits():
    """600 images of 64 pixels between 0 and 1, and the digits."""
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]


@pytest.fixture(scope="session")
def cancer():
    """569 rows of 30 standardised columns, and two classes as text."""
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), np.where(y > 0, "benign", "malignant")


@pytest.fixture(scope="session")
def diabetes():
    """442 rows of 10 standardised columns, and a number."""
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X), (y - y.mean()) / y.std()


@pytest.fixture(scope="session")
def close():
    """Return the function that compares to 1e-5 of the largest entry, float64 to 1e-7.

    In float64 the limit is not rounding: where ONNX Runtime fuses a factor with a product, it keeps it in float32.
    """

    def compare(found, expected, dtype="float32"):
        assert found.shape == expected.shape
        size = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(found, expected, rtol=0, atol=size * (1e-5 if dtype == "float32" else 1e-7))

    return compare
