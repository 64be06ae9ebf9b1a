"""The factored Gram matrix of the landmarks: both inverse roots, dropped eigenvalues, reductions."""

import numpy as np
import pytest

from mercer import Gaussian
from mercer.features.nystroem.candidates import Landmarks
from mercer.features.nystroem.factor import Factor
from mercer.testing import sample_rows

KERNEL, FLOAT64 = Gaussian(gamma=1.0), np.dtype(np.float64)


@pytest.mark.parametrize("rotated", [True, False])
@pytest.mark.parametrize("scale", [None, np.array([1.0, 0.5, 2.0, 3.0])])
def test_both_inverse_roots_invert_the_gram_matrix(rotated, scale):
    points = sample_rows(4)
    factor = Factor.of(KERNEL, Landmarks(points, scale=scale), FLOAT64, rotated=rotated)
    for root in (factor.inverse_root, factor.projection):
        np.testing.assert_allclose(root @ root.T @ KERNEL(points), np.eye(4), atol=1e-9)
    assert np.all(np.diff(factor.eigenvalues) <= 0)
    np.testing.assert_allclose(np.tril(factor.inverse_root, -1), 0.0, atol=1e-15)
    assert (factor.projection is factor.inverse_root) == rotated


def test_eigenvalues_that_are_rounding_are_dropped():
    points = np.repeat(sample_rows(3), 2, axis=0)
    factor = Factor.of(KERNEL, Landmarks(points), FLOAT64, rotated=True)
    assert (factor.eigenvalues.shape, factor.inverse_root.shape) == ((3,), (6, 3))


def test_reductions_keep_the_leading_directions():
    X = sample_rows(30)
    factor = Factor.of(KERNEL, Landmarks(X[:6]), FLOAT64, rotated=False)
    assert factor.reduced(KERNEL, X, X[:6], None, by_pca=True) is factor.inverse_root
    assert factor.reduced(KERNEL, X, X[:6], 6, by_pca=True) is factor.inverse_root
    np.testing.assert_array_equal(factor.reduced(KERNEL, X, X[:6], 2, by_pca=False), factor.projection[:, :2])
    C = KERNEL(X, X[:6])
    full, best = C @ factor.projection, C @ factor.reduced(KERNEL, X, X[:6], 2, by_pca=True)
    left = np.linalg.svd(full, compute_uv=False)[2:]
    np.testing.assert_allclose(np.linalg.norm(full @ full.T - best @ best.T), np.linalg.norm(left**2), rtol=1e-8)
