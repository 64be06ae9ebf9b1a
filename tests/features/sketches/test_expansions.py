"""Expansions of kernels around an anchor: their degrees sum to the kernel, in both layouts."""

import numpy as np
import pytest
from scipy import sparse

from mercer import Exponential, Gaussian, Polynomial, VovkPolynomial
from mercer.features.sketches.expansions import (
    exponential_expansion,
    gaussian_expansion,
    series_expansion,
    split_expansion,
)
from mercer.features.sketches.variances import PairMoments
from mercer.testing import sample_rows


@pytest.mark.parametrize(
    ("kernel", "expand"),
    [
        (Gaussian(gamma=0.8), gaussian_expansion),
        (Exponential(gamma=0.8), exponential_expansion),
        (VovkPolynomial(5), lambda k, X: series_expansion("test", k, X.shape[1])),
        (Polynomial(4, gamma=0.7, coef0=0.5), split_expansion),
        (Polynomial(3), split_expansion),
    ],
    ids=lambda value: type(value).__name__,  # the text of a function holds its address
)
def test_an_expansion_sums_to_its_kernel(kernel, expand):
    X = sample_rows(10) + 0.2
    expansion = expand(kernel, X)
    V, G = expansion.rows(X)
    total = sum(np.outer(G[:, k], G[:, k]) * (V @ V.T) ** k for k in range(expansion.last_degree + 1))
    np.testing.assert_allclose(total, kernel(X), rtol=1e-9)
    a, H = expansion.sparse_rows(sparse.csr_array(X))
    np.testing.assert_allclose(H, G, rtol=1e-9)
    assert a.shape == (10,)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_moments_are_those_of_the_rows_v(layout):
    X = sample_rows(6) * (np.abs(sample_rows(6)) > 0.4)
    expansion = gaussian_expansion(Gaussian(gamma=0.8), X)
    V, G = expansion.rows(X)
    pairs, weights = expansion.moments(layout(X))
    expected = PairMoments.of(V, V)
    for name in ("t", "N", "s"):
        np.testing.assert_allclose(getattr(pairs, name), getattr(expected, name), atol=1e-12)
    np.testing.assert_allclose(weights, G, rtol=1e-9)
    np.testing.assert_allclose(expansion.squares(layout(X)), np.square(V).sum(axis=1), atol=1e-12)


def test_what_lies_beyond_the_last_degree_is_the_tail_on_the_longest_row():
    kernel, X = Exponential(gamma=1.0), np.array([[0.5, 0.5]])
    series = series_expansion("test", VovkPolynomial(3), 2)
    assert series.beyond(VovkPolynomial(5), X) == pytest.approx(0.5**3 + 0.5**4)
    assert 0 <= exponential_expansion(kernel, X).beyond(kernel, X) < 1e-15
