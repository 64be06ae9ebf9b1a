"""Kernel values as the loops take them."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, Laplacian, Linear, Polynomial
from mercer.kernels import FunctionKernel
from mercer.learners.budget.kernel_values import KernelValues

X, Y = np.random.RandomState(0).rand(7, 3), np.random.RandomState(1).rand(5, 3)
KERNELS = [Gaussian(gamma=0.7), Laplacian(gamma=0.7), Polynomial(2, coef0=1.0), FunctionKernel(lambda A, B: A @ B.T)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_values_are_the_kernel_s(kernel):
    values = KernelValues(kernel)
    np.testing.assert_allclose(values.values(X, Y), kernel(X, Y), rtol=1e-12)
    np.testing.assert_allclose(values.norms(X), np.diag(kernel(X)), rtol=1e-12)
    assert values.between(X, Y[:0]).shape == (7, 0)
    if not isinstance(kernel, FunctionKernel):
        A, B = sparse.csr_array(X), sparse.csr_array(Y)
        np.testing.assert_allclose(values.values(A, B), kernel(X, Y), rtol=1e-10)
        assert values.between(A, B[:0]).shape == (7, 0)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_own_values_are_a_triangle(kernel, as_rows):
    if isinstance(kernel, FunctionKernel) and as_rows is not np.asarray:
        pytest.skip("this function is one of arrays")
    rows, values = np.random.RandomState(0).rand(70, 3), KernelValues(kernel)
    own = np.full((70, 70), np.nan)
    values.write_own(as_rows(rows), own)
    expected = values.between(as_rows(rows), as_rows(rows))
    np.testing.assert_allclose(own[np.tril_indices(70)], expected[np.tril_indices(70)], rtol=1e-10, atol=1e-14)


def test_far_rows_have_finite_exponents():
    far = np.array([[1e200]])
    assert KernelValues(Gaussian(gamma=1.0)).values(far, -far)[0, 0] == 0
    assert np.isfinite(KernelValues(Gaussian(gamma=1.0)).between(far, -far)).all()


def test_values_that_overflow_are_said():
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="overflows"):
        KernelValues(Linear()).values(np.array([[1e200]]), np.array([[1e200]]))
