"""The Gram matrix of the landmarks: what is refused, its precision, and the jackknife."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian
from mercer.features.nystroem.candidates import Landmarks
from mercer.features.nystroem.gram import check_spectrum, gram_matrix, gram_of_landmarks, jackknife_variance, precision
from mercer.kernels import FunctionKernel, PrecomputedKernel
from mercer.testing import sample_rows

KERNEL = Gaussian(gamma=1.0)


def test_a_given_gram_matrix_must_be_square_and_symmetric():
    K = KERNEL(sample_rows(4))
    np.testing.assert_array_equal(gram_matrix(sparse.csr_array(K)), K)
    with pytest.raises(ValueError, match=r"fit takes the square Gram matrix .* got shape \(4, 3\)"):
        gram_matrix(K[:, :3])
    K[0, 1] += 0.25
    with pytest.raises(ValueError, match=r"is not symmetric: K and its transpose differ by 0.25"):
        gram_matrix(K)


def test_the_precision_is_that_of_the_kernel_values():
    assert precision(KERNEL, sample_rows().astype(np.float32)) == np.float32
    assert precision(KERNEL, np.array(["a"], dtype=object)) == np.float64
    assert precision(PrecomputedKernel(np.eye(2, dtype=np.float32)), np.arange(2)) == np.float32


def test_the_gram_matrix_is_scaled_as_drawn_and_refused_if_not_symmetric():
    points, scale = sample_rows(3), np.array([1.0, 2.0, 3.0])
    found = gram_of_landmarks(KERNEL, Landmarks(points, scale=scale), np.dtype(np.float64))
    np.testing.assert_allclose(found, np.outer(scale, scale) * KERNEL(points), rtol=1e-15)
    skew = FunctionKernel(lambda A, B: A[:, :1] - B[:, :1].T + 5)
    with pytest.raises(ValueError, match=r"is not symmetric: k\(x, y\) and k\(y, x\) differ by"):
        gram_of_landmarks(skew, Landmarks(points), np.dtype(np.float64))


def test_a_spectrum_must_be_positive_up_to_rounding():
    check_spectrum(KERNEL, np.array([-1e-9, 1.0]), np.dtype(np.float64))
    with pytest.raises(ValueError, match=r"has the eigenvalue -0.001 \(the largest is 1\)"):
        check_spectrum(KERNEL, np.array([-1e-3, 1.0]), np.dtype(np.float64))
    with pytest.raises(ValueError, match=r"has no positive eigenvalue on the landmarks \(the largest is 0\)"):
        check_spectrum(KERNEL, np.array([-1.0, 0.0]), np.dtype(np.float64))


def test_the_jackknife_leaves_out_each_landmark_in_turn():
    X, I = sample_rows(5), sample_rows(6, seed=1)  # noqa: E741
    C, W = KERNEL(X, I), KERNEL(I)
    root = np.linalg.inv(np.linalg.cholesky(W)).T
    left_out = []
    for i in range(6):
        kept = np.delete(np.arange(6), i)
        left_out.append(C[:, kept] @ np.linalg.inv(W[np.ix_(kept, kept)]) @ C[:, kept].T)
    expected = 5 * np.var(left_out, axis=0)
    np.testing.assert_allclose(jackknife_variance(root, C, C), expected, atol=1e-10)
