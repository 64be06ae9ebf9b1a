"""Features of tiles of rows: the product of kernel values and a projection, in both precisions and layouts."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, Matern
from mercer.features.nystroem.landmark_features import landmark_features
from mercer.testing import rounding, sample_rows


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.3), Matern(1.5, length_scale=2.0)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("landmark_layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_features_are_kernel_values_times_the_projection(kernel, dtype, landmark_layout, layout):
    X, landmarks = sample_rows(9).astype(dtype), sample_rows(4, seed=1).astype(dtype)
    projection = np.triu(np.random.RandomState(0).standard_normal((4, 4)))
    write = landmark_features(kernel, landmark_layout(landmarks), projection, 1, np.dtype(dtype))
    out = np.full((9, 4), np.nan, dtype=dtype)
    write(layout(X), out)
    expected = kernel(X.astype(float), landmarks.astype(float)) @ projection
    np.testing.assert_allclose(out, expected, atol=rounding(dtype, 20))


def test_rows_far_from_the_landmarks_are_exact_in_float32():
    landmarks = np.array([[0.0], [1.0], [1000.0]], dtype=np.float32)
    X = np.array([[1000.25]], dtype=np.float32)
    out = np.empty((1, 3), dtype=np.float32)
    landmark_features(Gaussian(gamma=1.0), landmarks, np.eye(3), 3, np.dtype(np.float32))(X, out)
    np.testing.assert_allclose(out, [[0.0, 0.0, np.exp(-(0.25**2))]], rtol=1e-6)
