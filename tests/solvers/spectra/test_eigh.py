"""Largest eigenpairs: direct and by products, as NumPy's; signs, deficient ranks, iteration limits."""

import numpy as np
import pytest

from mercer.solvers import block_krylov, largest_eigenpairs
from mercer.solvers.spectra import eigh as room


def _gram(rng, width, rank=None):
    Q = np.linalg.qr(rng.standard_normal((width, width)))[0]
    values = 0.9 ** np.arange(width)
    values[rank or width :] = 0
    return (Q * values) @ Q.T, values, Q


@pytest.mark.parametrize("direct", [True, False])
def test_pairs_are_the_matrix_s(rng, direct, monkeypatch):
    monkeypatch.setattr(room, "_DIRECT_WIDTH", 1000 if direct else 10)
    gram, values, Q = _gram(rng, 120)
    solution = largest_eigenpairs(gram, 5)
    assert solution.details["solver"] == ("eigh" if direct else "block Krylov")
    np.testing.assert_allclose(solution.details["eigenvalues"], values[:5], atol=1e-12)
    # an eigenvector is wrong by at most the residual (1e-9 of the largest value) over the gap
    np.testing.assert_allclose(np.abs(np.sum(solution.value * Q[:, :5], axis=0)), 1, atol=1e-9)
    largest = np.abs(solution.value).argmax(axis=0)
    assert (solution.value[largest, np.arange(5)] > 0).all()


def test_products_of_a_matrix_of_few_ranks_end_early(rng):
    gram, values, _ = _gram(rng, 60, rank=3)
    solution = block_krylov(lambda V: gram @ V, 60, 8)
    assert solution.success
    assert solution.iterations <= 2
    np.testing.assert_allclose(solution.details["eigenvalues"], values[:8], atol=1e-12)
    np.testing.assert_allclose(solution.value.T @ solution.value, np.eye(8), atol=1e-10)


@pytest.mark.parametrize("width", [1, 3])
def test_all_pairs_of_a_small_matrix(rng, width):
    gram, values, _ = _gram(rng, width)
    for solution in (largest_eigenpairs(gram, width), block_krylov(lambda V: gram @ V, width, width)):
        np.testing.assert_allclose(solution.details["eigenvalues"], values, atol=1e-12)


def test_a_matrix_of_zeros_has_no_value():
    solution = block_krylov(lambda V: 0 * V, 9, 2)
    assert solution.success
    np.testing.assert_array_equal(solution.details["eigenvalues"], 0)


def test_too_few_products_say_so(rng):
    gram, _, _ = _gram(rng, 300)
    solution = block_krylov(lambda V: gram @ V, 300, 2, max_iter=2)
    assert solution.status == "iteration limit"
    assert "2 products left a residual of" in solution.advice
    assert solution.history[1] < solution.history[0]
