"""Kernels of scaled and of selected columns."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Columns, Gaussian, Laplacian, Linear, Matern, Polynomial, ScaledColumns
from mercer.kernels.spectral import column_variances, frequencies, frequencies_at, grids, is_shift_invariant, n_uniforms
from mercer.testing import assert_mean_close, check_kernel

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


EXPRESSION = (
    ScaledColumns(Gaussian(gamma=0.5), [1.0, 0.0, 2.0])
    * Columns(Laplacian(gamma=0.7), [2])
    * Matern(1.5, length_scale=2.0)
)


def test_an_expression_draws_frequencies_of_its_own_kernel(rng):
    assert is_shift_invariant(EXPRESSION)
    assert not is_shift_invariant(EXPRESSION * Linear())
    shifts = rng.standard_normal((4, 3)) * 0.5
    expected = EXPRESSION(shifts, np.zeros((1, 3)))[:, 0]
    W = frequencies(EXPRESSION, rng, 20_000, 3)
    assert_mean_close(np.cos(shifts @ W).T, expected, detect=0.1)
    W = frequencies_at(EXPRESSION, rng.random_sample((20_000, n_uniforms(EXPRESSION, 3))), 3)
    assert_mean_close(np.cos(shifts @ W).T, expected, detect=0.1)


def test_the_mean_squares_of_an_expression(rng):
    kernel = ScaledColumns(Gaussian(gamma=0.5), [1.0, 0.0, 2.0]) * Columns(Gaussian(gamma=2.0), [2])
    np.testing.assert_allclose(column_variances(kernel, 3), [1.0, 0.0, 8.0])


def test_an_expression_draws_grids_of_its_own_kernel(rng):
    kernel = ScaledColumns(Laplacian(gamma=0.5), [1.0, 0.0, 2.0]) * Columns(Matern(0.3, length_scale=1.0), [1])
    drawn = grids(kernel, rng, 20_000, 3)
    assert drawn.columns.tolist() == [0, 2, 1]
    shift = np.array([0.3, 0.2, 0.4])
    share = np.prod(np.maximum(0, 1 - np.abs(shift[drawn.columns]) / drawn.pitches), axis=1)
    expected = kernel(shift[np.newaxis], np.zeros((1, 3)))[0]
    assert_mean_close(share[:, np.newaxis], expected, detect=0.1)
