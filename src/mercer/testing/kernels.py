"""The laws of a kernel."""

import pickle

import numpy as np
from scipy import sparse
from sklearn.base import clone

import mercer
from mercer._typing import Array, Rows
from mercer.config import changed_config
from mercer.kernels import Kernel
from mercer.testing.samples import rounding, sample_rows


def check_kernel(kernel: Kernel, X: Rows | None = None, *, positive_definite: bool = True) -> None:
    """Check the laws of a kernel: symmetry, positive definiteness, diagonal, types, algebra, value semantics."""
    X = sample_rows(12) if X is None else np.asarray(X, dtype=np.float64)
    K = kernel(X)
    size = np.abs(K).max()
    tolerance = rounding(np.float64, 100) * size
    assert K.shape == (len(X), len(X))
    np.testing.assert_allclose(K, K.T, atol=tolerance, err_msg="not symmetric")
    np.testing.assert_allclose(kernel.diag(X), np.diag(K), atol=tolerance, err_msg="diag differs from the Gram matrix")
    if positive_definite:
        assert np.linalg.eigvalsh(K).min() >= -len(X) * tolerance, "not positive semi-definite"
    _check_types(kernel, X, K)
    _check_algebra(kernel, X, K, tolerance)
    _check_value(kernel)


def _check_types(kernel: Kernel, X: Array, K: Array) -> None:
    np.testing.assert_allclose(kernel(X[:3], X), K[:3], rtol=rounding(np.float64, 100), atol=1e-14 * np.abs(K).max())
    np.testing.assert_allclose(kernel(sparse.csr_array(X)), K, rtol=1e-9, err_msg="CSR differs from dense")
    single = kernel(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(
        single, K, rtol=1e-4, atol=1e-5 * np.abs(K).max(), err_msg="float32 differs from float64"
    )
    with changed_config(threads=1):
        np.testing.assert_array_equal(kernel(X), K, err_msg="the number of threads changes the result")


def _check_algebra(kernel: Kernel, X: Array, K: Array, tolerance: float) -> None:
    other = mercer.Linear()
    L = other(X)
    scale = tolerance * max(1.0, np.abs(L).max())
    np.testing.assert_allclose((kernel + other)(X), K + L, atol=scale)
    np.testing.assert_allclose((kernel * other)(X), K * L, atol=scale)
    np.testing.assert_allclose((2.5 * kernel)(X), 2.5 * K, atol=3 * scale)
    assert 2.0 * (3.0 * kernel) == 6.0 * kernel
    assert (kernel + other) + kernel == kernel + (other + kernel)
    assert (kernel * other) * kernel == kernel * (other * kernel)


def _check_value(kernel: Kernel) -> None:
    again = pickle.loads(pickle.dumps(kernel)) if "<" not in repr(kernel) else kernel
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert clone(kernel) is kernel
    assert kernel.with_params(**kernel.get_params(deep=False)) == kernel
    if "<" not in repr(kernel):  # a user's function does not print as an expression
        public = {name: getattr(mercer.kernels, name) for name in mercer.kernels.__all__}
        names = {name: getattr(mercer, name) for name in dir(mercer)} | public | {type(kernel).__name__: type(kernel)}
        assert eval(repr(kernel), names) == kernel  # noqa: S307
