"""Kernels of scaled and of selected columns."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Columns, Gaussian, Laplacian, Linear, Matern, Polynomial, ScaledColumns
from mercer.testing import check_kernel

WEIGHTS = (1.0, 2.0, 0.0, 0.5, 3.0)


@pytest.mark.parametrize(
    "kernel",
    [
        ScaledColumns(Gaussian(gamma=0.7), WEIGHTS),
        ScaledColumns(Polynomial(2), WEIGHTS),
        Columns(Matern(1.5, length_scale=1.0), [0, 3]),
    ],
    ids=repr,
)
def test_the_laws(kernel):
    check_kernel(kernel)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_scaling_the_kernel_is_scaling_the_data(rng, layout):
    X = rng.standard_normal((6, 5))
    for inner in (Gaussian(gamma=0.3), Laplacian(gamma=0.3), Polynomial(2, coef0=1.0)):
        np.testing.assert_allclose(ScaledColumns(inner, WEIGHTS)(layout(X)), inner(X * WEIGHTS), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_columns_are_selected_in_their_order(rng, layout):
    X = rng.standard_normal((6, 5))
    inner = ScaledColumns(Gaussian(gamma=0.3), [1.0, 3.0])
    np.testing.assert_allclose(Columns(inner, [4, 1])(layout(X)), inner(X[:, [4, 1]]), rtol=1e-12)


def test_numbers_become_tuples_of_floats_and_ints():
    assert ScaledColumns(Linear(), np.ones(2)) == ScaledColumns(Linear(), [1, 1])
    assert repr(Columns(Linear(), np.array([0, 2]))) == "Columns(Linear(), (0, 2))"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ScaledColumns(Gaussian(gamma=1.0), [1.0, 2.0])(np.eye(3)),
            r"ScaledColumns: weights must hold one number for each column, got 2 weights and 3 columns",
        ),
        (
            lambda: Columns(Gaussian(gamma=1.0), [0, 3])(np.eye(3)),
            r"Columns: columns must be below the number of columns of X, got 3 and 3 columns",
        ),
        (lambda: Columns(Linear(), [0, 0]), r"Columns: columns must differ from each other, got \(0, 0\)"),
        (lambda: Columns(Linear(), [-1]), r"Columns: columns\[0\] must be an integer >= 0, got -1"),
        (lambda: Columns(Linear(), []), r"Columns: columns must be a sequence of at least one number, got \[\]"),
        (lambda: ScaledColumns(Linear(), [np.nan]), r"ScaledColumns: weights\[0\] must be a finite number"),
        (
            lambda: ScaledColumns(Linear(), 2.0),
            r"ScaledColumns: weights must be a sequence of at least one number, got 2.0",
        ),
        (lambda: ScaledColumns("rbf", [1.0]), r"ScaledColumns: kernel must be a kernel, got 'rbf'"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
