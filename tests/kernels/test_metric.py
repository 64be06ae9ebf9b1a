"""The kernel of linearly transformed rows: laws, values, resolution, text, files, and bad input."""

import numpy as np
import pytest
from scipy import sparse

from mercer import (
    Gaussian,
    Laplacian,
    LocalKernelRidge,
    Matern,
    Metric,
    Nystroem,
    Polynomial,
    ScaledColumns,
    parse_kernel,
)
from mercer.storage import dumps, loads
from mercer.testing import check_kernel

T = np.random.RandomState(0).standard_normal((5, 3))


@pytest.mark.parametrize(
    "kernel",
    [
        Metric(Gaussian(gamma=0.3), T),
        Metric(Polynomial(2, coef0=1.0), T),
        Metric(ScaledColumns(Laplacian(gamma=0.3), [1, 2, 3]), T),
    ],
    ids=["gaussian", "polynomial", "nested"],
)
def test_the_laws(kernel):
    check_kernel(kernel)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_it_is_the_kernel_of_transformed_rows(rng, layout):
    X = rng.standard_normal((6, 5))
    for inner in (Gaussian(gamma=0.3), Laplacian(gamma=0.3), Matern(1.5, length_scale=1.0)):
        np.testing.assert_allclose(Metric(inner, T)(layout(X)), inner(X @ T), rtol=1e-12)
        np.testing.assert_allclose(
            Metric(inner, T).evaluator(X, np.float32)(layout(X[:2])), inner(X @ T)[:2], rtol=1e-4
        )


def test_a_diagonal_matrix_is_a_scale(rng):
    X = rng.standard_normal((6, 3))
    np.testing.assert_allclose(
        Metric(Gaussian(gamma=1.0), np.diag([1.0, 0.0, 2.0]))(X),
        ScaledColumns(Gaussian(gamma=1.0), [1, 0, 2])(X),
        rtol=1e-12,
    )


def test_bandwidths_are_found_on_the_transformed_rows(rng):
    X = rng.standard_normal((50, 5))
    assert Metric(Gaussian(gamma="scale"), T).resolve(X).kernel == Gaussian(gamma="scale").resolve(X @ T)


def test_it_is_a_value():
    kernel, again = Metric(Gaussian(gamma=0.3), T), Metric(Gaussian(gamma=0.3), T.copy())
    assert kernel == again
    assert hash(kernel) == hash(again)
    assert kernel != Metric(Gaussian(gamma=0.3), 2 * T)
    assert kernel != Metric(Gaussian(gamma=0.4), T)
    assert kernel != Gaussian(gamma=0.3)
    assert parse_kernel(repr(kernel)) == kernel
    assert loads(dumps(kernel)) == kernel
    given = T.copy()
    kept = Metric(Gaussian(gamma=0.3), given)
    given[:] = 0
    assert kept == kernel
    with pytest.raises(ValueError, match="read-only"):
        kernel.matrix[0] = 0


def test_maps_and_learners_take_it(rng):
    X = rng.standard_normal((60, 5))
    kernel = Metric(Gaussian(gamma=0.3), T)
    Z = Nystroem(kernel, n_components=60, landmarks=np.arange(60)).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, kernel(X), atol=1e-6)
    one = LocalKernelRidge(kernel, alpha=0.1, leaf_rows=20, random_state=0).fit(X, X[:, 0]).predict(X)
    other = LocalKernelRidge(Gaussian(gamma=0.3), alpha=0.1, leaf_rows=20, random_state=0).fit(X @ T, X[:, 0])
    np.testing.assert_allclose(one, other.predict(X @ T), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Metric(Gaussian(), [1.0, 2.0]), r"Metric: matrix must be a two-dimensional array .* got \(2,\)"),
        (lambda: Metric(Gaussian(), [[np.nan]]), "Metric: matrix must be a two-dimensional array of finite numbers"),
        (lambda: Metric(Gaussian(), "abc"), "Metric: matrix must be a two-dimensional array"),
        (lambda: Metric("rbf", T), "Metric: kernel must be a kernel, got 'rbf'"),
        (lambda: Metric(Gaussian(gamma=1.0), T)(np.eye(3)), "one row for each column of X, got 5 rows and 3 columns"),
    ],
)
def test_bad_input_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()
