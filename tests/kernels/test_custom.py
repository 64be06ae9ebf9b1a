"""Kernels that are given: a function of rows or objects, or the Gram matrix."""

import numpy as np
import pytest

from mercer.kernels import FunctionKernel, PrecomputedKernel
from mercer.testing import sample_rows


def common_letters(A, B):
    return [[len(set(a) & set(b)) for b in B] for a in A]


def test_a_function_of_any_objects():
    words = ["kernel", "tree", "", "graph", "machine"] * 8
    kernel = FunctionKernel(common_letters)
    K = kernel(words)
    np.testing.assert_array_equal(K, common_letters(words, words))
    np.testing.assert_array_equal(kernel.diag(words), np.diag(K))
    assert FunctionKernel(common_letters) == kernel


def test_objects_that_are_sequences_are_not_unpacked():
    seen = []

    def lengths(A, B):
        seen.append((A, B))
        return [[len(a) * len(b) for b in B] for a in A]

    graphs = [(1, 2), (3,), (4, 5)]
    np.testing.assert_array_equal(FunctionKernel(lengths)(graphs), np.outer([2, 1, 2], [2, 1, 2]))
    assert seen == [(graphs, graphs)]


def test_a_function_of_rows_gets_arrays():
    X = sample_rows()
    np.testing.assert_array_equal(FunctionKernel(lambda A, B: A @ B.T)(X), X @ X.T)


def dot_with_the_first(A, B):
    return A @ B[0]


def test_the_wrong_shape_is_refused_with_both_shapes():
    message = r"dot_with_the_first must return an array of shape \(len\(A\), len\(B\)\) = \(6, 2\), got \(6,\)"
    with pytest.raises(ValueError, match=message):
        FunctionKernel(dot_with_the_first)(sample_rows(), sample_rows(2))


def test_values_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="returned nan"):
        FunctionKernel(lambda A, B: np.full((len(A), len(B)), np.nan))(sample_rows())


def test_a_precomputed_matrix_is_indexed():
    K = np.arange(9.0).reshape(3, 3)
    kernel = PrecomputedKernel(K)
    np.testing.assert_array_equal(kernel.evaluate(np.array([2, 0]), np.array([1])), [[7.0], [1.0]])
    np.testing.assert_array_equal(kernel.evaluate_diag(np.array([0, 2])), [0.0, 8.0])
